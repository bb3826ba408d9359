package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.local.LocalPool;
import pando.index.BoundKey;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Pools;

/**
 * Two compute servers with a fabric and an index each, as if they were in two processes, which
 * share byte strings.
 */
public final class ByteProcesses implements AutoCloseable {
  /** Number of the first compute server. */
  public static final int FIRST = 5;

  /** Number of the second one. */
  public static final int SECOND = 3;

  private static final int ATTEMPTS_MAX = 100_000;

  private final ByteOptions options;
  private final LocalPool pool;
  final ByteIndex[] indexes = new ByteIndex[2];
  private int epoch = 1;

  /** Starts the first one, which has all keys, and the second one, which has none. */
  public ByteProcesses(ByteOptions options) {
    this.options = options;
    this.pool = LocalPool.start(Pools.options(128 << 20).withMemoryServers(2));
    indexes[0] = ByteIndex.createAt(attach(FIRST), options, FIRST);
    join();
  }

  private Fabric attach(int number) {
    return pool.attach(new ComputeServer(number, epoch), epoch);
  }

  /** Starts the second compute server. */
  void join() {
    indexes[1] = ByteIndex.joinAt(attach(SECOND), options, SECOND);
  }

  /** Gives the second one the keys from one on, {@code null} for half of them; if it has none. */
  boolean divide(byte @Nullable [] key) {
    boolean given =
        key == null
            ? indexes[0].partitions().orElseThrow().addComputeServer(FIRST, SECOND)
            : indexes[0]
                .partitions()
                .orElseThrow()
                .split(FIRST, BoundKey.of(MemorySegment.ofArray(key)), SECOND);
    indexes[1].partitions().orElseThrow().refreshPartitions();
    return given;
  }

  /** Has the second compute server lost, with what is in its memory alone; the first takes over. */
  void loseSecond() {
    epoch++;
    indexes[0].fabric().fence(SECOND, epoch);
    indexes[0].partitions().orElseThrow().takeOver(SECOND, FIRST);
  }

  /** Moves the boundary between the two to a key, by the process that gives keys away. */
  void move(byte[] key) {
    Partitioning ranges = indexes[0].partitioning();
    if (ranges.servers() == 2 && key.length > 0) {
      MemorySegment low = MemorySegment.ofArray(key);
      int upper = ranges.ownerOfRange(1);
      int order = ByteIndex.compare(low, ranges.fenceOfRange(1));
      if (order == 0) {
        return;
      }
      boolean upperGives = order > 0;
      int giver = upperGives == (upper == FIRST) ? 0 : 1;
      indexes[giver].partitions().orElseThrow().moveBoundary(upper, BoundKey.of(low));
      indexes[1 - giver].partitions().orElseThrow().refreshPartitions();
    }
  }

  /** Changes the ranges in a way that is drawn. */
  void change(SplittableRandom random, int keyBytesMax) {
    byte[] key = ByteKeys.draw(random, keyBytesMax);
    int kind = random.nextInt(10);
    if (indexes[0].partitioning().servers() == 1) {
      divide(kind < 5 || key.length == 0 ? null : key);
    } else if (kind == 0) {
      removeSecond();
    } else {
      move(key);
    }
  }

  /** Takes all keys of the second one. */
  void removeSecond() {
    indexes[1].partitions().orElseThrow().removeComputeServer(SECOND);
    indexes[0].partitions().orElseThrow().refreshPartitions();
  }

  /** Returns the byte strings of one of the two, 0 or 1. */
  public ByteStrings strings(int process) {
    return indexes[process];
  }

  /** Has an operation done by the process that serves a key. */
  <T> T served(ByteSession[] sessions, byte[] key, Function<ByteSession, T> operation) {
    MemorySegment its = MemorySegment.ofArray(key);
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Partitioning table = indexes[attempt % 2].partitioning();
      int owner = table.ownerOfRange(KeyBounds.rangeOfKey(table, its));
      try {
        return operation.apply(sessions[owner == FIRST ? 0 : 1]);
      } catch (NotServedHereException _) {
        Thread.onSpinWait();
      }
    }
    throw new StalledException("nobody serves the key");
  }

  ByteSession[] sessions() {
    return new ByteSession[] {indexes[0].session(), indexes[1].session()};
  }

  @Override
  public void close() {
    pool.close();
  }
}
