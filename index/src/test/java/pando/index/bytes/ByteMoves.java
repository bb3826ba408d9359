package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import pando.fabric.ComputeServer;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.local.LocalPool;
import pando.index.BoundKey;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

/**
 * Some compute servers, each as if in a process of its own, which share byte strings; a test takes
 * the place of verbs of each. They are numbered from 0. For one thread, unless a fabric is made for
 * more.
 */
final class ByteMoves implements AutoCloseable {
  /** Where the partition table is. */
  private static final long TABLE = GlobalAddress.of(0, 256);

  private final ByteOptions options;
  private final LocalPool pool;
  final HookedFabric[] fabrics;
  final ByteIndex[] indexes;

  /** A session of each. */
  final ByteSession[] sessions;

  /** The least epoch of each that is not lost. */
  private final int[] leastEpochs;

  private int epoch = 1;

  /** Starts the first one, which has all keys, and the others, which have none. */
  ByteMoves(int processes, long bytesPerServer, ByteOptions options) {
    this.options = options;
    this.pool = LocalPool.start(Pools.options(bytesPerServer).withMemoryServers(2));
    this.fabrics = new HookedFabric[processes];
    this.indexes = new ByteIndex[processes];
    this.sessions = new ByteSession[processes];
    this.leastEpochs = new int[processes];
    Arrays.fill(leastEpochs, 1);
    attach(0);
    indexes[0] = ByteIndex.createAt(fabrics[0], options, 0);
    sessions[0] = indexes[0].session();
    for (int number = 1; number < processes; number++) {
      join(number);
    }
  }

  /** Returns options with small blocks, and small leaves of labels that are merged often. */
  static ByteOptions options(int cacheBytes) {
    return ByteOptions.defaults()
        .withBlockBytes(256, 16)
        .withCacheBytes(cacheBytes)
        .withLabels(
            OrcaOptions.defaults()
                .withNodeBytes(1024)
                .with("delta-changes", "2")
                .with("mergers", "0")
                .withComputeServers(1)
                .withCacheBytes(256 << 10));
  }

  /** Gives a compute server a fabric of its own. */
  void attach(int number) {
    ComputeServer name = new ComputeServer(number, epoch++);
    fabrics[number] =
        new HookedFabric(pool.attach(name, name.epoch())).withThreads().withTasksByHand();
    for (int other = 0; other < leastEpochs.length; other++) {
      if (other != number) {
        fabrics[number].fence(other, leastEpochs[other]);
      }
    }
  }

  /** Starts a compute server, again if it has been lost. */
  void join(int number) {
    attach(number);
    fabrics[number].fence(number, epoch - 1);
    open(number);
  }

  /** Opens the index for a compute server that has been attached. */
  void open(int number) {
    indexes[number] = ByteIndex.joinAt(fabrics[number], options, number);
    sessions[number] = indexes[number].session();
  }

  /** Has a compute server lost: all memory servers refuse it from now on, and the others know. */
  void lose(int lost) {
    leastEpochs[lost] = epoch;
    for (int number = 0; number < fabrics.length; number++) {
      if (number != lost) {
        fabrics[number].fence(lost, epoch);
      }
    }
  }

  /** Has a compute server end once the pool has another partition table. */
  void endBehindTable(int number) {
    boolean[] ended = {false};
    fabrics[number].hookEach(
        verbs ->
            ended[0]
                || (verbs.size() == 1
                    && verbs.kind(0) == VerbList.Kind.WRITE
                    && verbs.remote(0) == TABLE
                    && verbs.length(0) > Long.BYTES),
        posting -> {
          if (ended[0]) {
            throw Break.lost();
          }
          ended[0] = true;
          posting.post();
        });
  }

  /** Returns the newest table that any of them knows. */
  Partitioning table() {
    return Arrays.stream(indexes)
        .map(ByteIndex::partitioning)
        .max(Comparator.comparingLong(Partitioning::epoch))
        .orElseThrow();
  }

  /** Returns the compute server that has a key. */
  int owner(byte[] key) {
    Partitioning table = table();
    return table.ownerOfRange(KeyBounds.rangeOfKey(table, MemorySegment.ofArray(key)));
  }

  void refresh(int number) {
    indexes[number].partitions().orElseThrow().refreshPartitions();
  }

  /** Moves the boundary below a range, not the first, by the process that gives keys away. */
  void move(int range, byte[] key) {
    Partitioning table = table();
    MemorySegment low = MemorySegment.ofArray(key);
    int upper = table.ownerOfRange(range);
    int lower = table.ownerOfRange(range - 1);
    int giver = ByteIndex.compare(low, table.fenceOfRange(range)) < 0 ? lower : upper;
    indexes[giver].partitions().orElseThrow().moveBoundary(upper, BoundKey.of(low));
    refresh(giver == upper ? lower : upper);
  }

  /** Changes the ranges in a way that is drawn. */
  void change(SplittableRandom random, int keyBytesMax) {
    Partitioning table = table();
    byte[] key = ByteKeys.draw(random, keyBytesMax);
    MemorySegment its = MemorySegment.ofArray(key);
    int range = KeyBounds.rangeOfKey(table, its);
    int owner = table.ownerOfRange(range);
    int free = random.nextInt(indexes.length);
    int kind = random.nextInt(8);
    if (!table.hasServer(free)) {
      boolean splits = kind < 4 && ByteIndex.compare(its, table.fenceOfRange(range)) > 0;
      if (splits) {
        indexes[owner].partitions().orElseThrow().split(owner, BoundKey.of(its), free);
      } else {
        indexes[owner].partitions().orElseThrow().addComputeServer(owner, free);
      }
      refresh(free);
    } else if (table.servers() > 1 && kind == 0) {
      Partitioning after = table.withoutRange(table.rangeOfServer(free));
      int receiver = after.ownerOfRange(Math.max(0, table.rangeOfServer(free) - 1));
      indexes[free].partitions().orElseThrow().removeComputeServer(free);
      refresh(receiver);
    } else if (table.servers() > 1) {
      boolean isUpper = range > 0 && (range + 1 == table.servers() || random.nextBoolean());
      boolean isBound = ByteIndex.compare(its, table.fenceOfRange(range)) == 0;
      if (!isBound) {
        move(isUpper ? range : range + 1, key);
      }
    }
  }

  /** Returns all entries, each of which one process serves; the others refuse its key. */
  NavigableMap<byte[], byte[]> all() {
    NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    Partitioning table = table();
    for (int range = 0; range < table.servers(); range++) {
      MemorySegment low = table.fenceOfRange(range);
      MemorySegment high = KeyBounds.fenceBehind(table, range);
      long before = found.size();
      ByteSession session = sessions[table.ownerOfRange(range)];
      long visited =
          session.scan(
              low,
              high,
              Long.MAX_VALUE,
              (key, value) -> {
                assertThat(found.put(ByteKeys.bytes(key), KeyedValue.checked(key, value))).isNull();
                return true;
              });
      assertThat(found.size() - before).isEqualTo(visited);
      assertThat(session.scanDown(high, low, Long.MAX_VALUE, (key, value) -> true))
          .isEqualTo(visited);
      checkRefused(table, range);
    }
    return found;
  }

  private void checkRefused(Partitioning table, int range) {
    for (int number = 0; number < indexes.length; number++) {
      if (number != table.ownerOfRange(range) && !indexes[number].isClosed()) {
        try {
          sessions[number].get(table.fenceOfRange(range));
          throw new AssertionError("two serve a range: " + range + ", also " + number);
        } catch (NotServedHereException _) {
          // As it should be.
        }
      }
    }
  }

  /** Gives all keys to the compute server that has the first ones; returns its number. */
  int gather() {
    for (int number = 0; number < indexes.length; number++) {
      refresh(number);
    }
    for (Partitioning table = table(); table.servers() > 1; table = table()) {
      int range = table.servers() - 1;
      int last = table.ownerOfRange(range);
      indexes[last].partitions().orElseThrow().removeComputeServer(last);
      refresh(table.ownerOfRange(range - 1));
    }
    return table().ownerOfRange(0);
  }

  @Override
  public void close() {
    pool.close();
  }
}
