package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.Function;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.local.LocalPool;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/**
 * Two compute servers with a fabric and an index each, as if they were in two processes, which
 * share byte strings.
 */
public final class StringProcesses implements AutoCloseable {
  /** Number of the first compute server. */
  public static final int FIRST = 5;

  /** Number of the second one. */
  public static final int SECOND = 3;

  private static final int ATTEMPTS_MAX = 100_000;

  final DexOptions options;
  final LocalPool pool;
  final DexIndex[] indexes = new DexIndex[2];
  final DexStrings[] strings = new DexStrings[2];
  private int epoch = 1;

  /** Starts both, each with half of the keys. */
  public StringProcesses(DexOptions options) {
    this.options = options;
    this.pool = LocalPool.start(Pools.options(64 << 20).withMemoryServers(2));
    indexes[0] = options.createAt(attach(FIRST), FIRST);
    strings[0] = DexStrings.over(indexes[0]);
    join();
  }

  private Fabric attach(int number) {
    return pool.attach(new ComputeServer(number, epoch), epoch);
  }

  /** Starts the second compute server, and gives it half of the keys. */
  void join() {
    indexes[1] = options.joinAt(attach(SECOND), SECOND);
    strings[1] = DexStrings.over(indexes[1]);
    if (!indexes[0].partitions().orElseThrow().addComputeServer(FIRST, SECOND)) {
      throw new AssertionError("not given");
    }
    indexes[1].partitions().orElseThrow().refreshPartitions();
  }

  /** Has the second compute server lost, with what is in its cache alone; the first takes over. */
  void loseSecond() {
    epoch++;
    indexes[0].fabric().fence(SECOND, epoch);
    indexes[0].partitions().orElseThrow().takeOver(SECOND, FIRST);
  }

  /** Moves the boundary between the two by the process that gives keys away. */
  public void move(SplittableRandom random) {
    Partitioning ranges = indexes[0].partitioning();
    if (ranges.servers() == 2) {
      int upper = ranges.ownerOfRange(1);
      long low = random.nextLong();
      boolean upperGives = low > ranges.lowOfRange(1);
      int giver = upperGives == (upper == FIRST) ? 0 : 1;
      indexes[giver].partitions().orElseThrow().moveBoundary(upper, low);
      indexes[1 - giver].partitions().orElseThrow().refreshPartitions();
    }
  }

  /** Returns the byte strings of one of the two, 0 or 1. */
  public ByteStrings strings(int process) {
    return strings[process];
  }

  /** Has an operation done by the process that serves a key. */
  <T> T served(ByteSession[] sessions, byte[] key, Function<ByteSession, T> operation) {
    long place = ByteStrings.partitionKey(MemorySegment.ofArray(key));
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      int owner = strings[attempt % 2].partitioning().ownerOfKey(place);
      try {
        return operation.apply(sessions[owner == FIRST ? 0 : 1]);
      } catch (NotServedHereException e) {
        Thread.onSpinWait();
      }
    }
    throw new StalledException("nobody serves the key");
  }

  ByteSession[] sessions() {
    return new ByteSession[] {strings[0].session(), strings[1].session()};
  }

  @Override
  public void close() {
    pool.close();
  }
}
