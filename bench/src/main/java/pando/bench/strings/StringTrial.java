package pando.bench.strings;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import pando.bench.console.Progress;
import pando.bench.records.Mix;
import pando.bench.run.WrongResultException;
import pando.bench.workload.Distribution;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteSource;
import pando.index.orca.OrcaOptions;

/**
 * One thread's operations on strings, in an index and, in turns, in a {@link ConcurrentSkipListMap}
 * that has the same entries. Both are given the same strings; the index has to encode them.
 */
public final class StringTrial implements AutoCloseable {
  private static final int MEMORY_SERVERS = 4;
  private static final int TURN = 20_000;

  /** Of the pool for a byte of data: blocks are not full, and have some slack. */
  private static final double POOL_FACTOR = 1.6;

  private static final long POOL_BYTES_MIN = 512L << 20;

  /** The cache of labels takes one of so many bytes of the data. */
  private static final int LABELS_PART = 256;

  private static final long LABELS_BYTES_MIN = 1 << 20;

  private final StringKeys keys;
  private final Fabric fabric;
  private final ByteIndex index;
  private final ByteSession session;
  private final @Nullable ConcurrentSkipListMap<String, Long> peer;
  private final long dataBytes;
  private final long cacheBytes;
  private final Distribution.Draw draw;
  private final SplittableRandom random;
  private final String[] drawn = new String[TURN];
  private final long[] places = new long[TURN];
  private final boolean[] updates = new boolean[TURN];
  private final byte[] valueArray = new byte[Long.BYTES];
  private final MemorySegment valueBytes = MemorySegment.ofArray(valueArray);

  /**
   * Loads an index and a map.
   *
   * @param fill share of each block that is filled
   * @param cacheShare bytes of local memory, of which the directory takes its part, as a share of
   *     the bytes of all keys and values
   * @param recordShare share of what is left that is for single records
   * @param withPeer whether there is a map
   * @throws IllegalArgumentException if the memory is too little for the directory
   */
  public StringTrial(
      StringKeys keys,
      double fill,
      double cacheShare,
      double recordShare,
      double theta,
      long seed,
      boolean withPeer) {
    this.keys = keys;
    this.random = new SplittableRandom(seed);
    this.draw = Distribution.ZIPFIAN.over(keys.count(), theta);
    this.dataBytes = dataBytes(keys);
    long poolBytes = (long) (dataBytes * POOL_FACTOR) + POOL_BYTES_MIN;
    this.fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(MEMORY_SERVERS)
                .withBytesPerServer(poolBytes / MEMORY_SERVERS)
                .withHandlers(Systems.handlers()));
    long labelBytes = Math.max(dataBytes / LABELS_PART, LABELS_BYTES_MIN);
    ByteOptions options =
        ByteOptions.defaults()
            .withRecordShare(recordShare)
            .withCacheBytes(0)
            .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(labelBytes));
    long directoryBytes;
    try (ByteIndex loading = ByteIndex.create(fabric, options)) {
      loading.load(source(keys), fill);
      directoryBytes = loading.directoryBytes();
    }
    this.cacheBytes = (long) (dataBytes * cacheShare) - directoryBytes - labelBytes;
    if (cacheBytes < 0) {
      throw new IllegalArgumentException(
          "the cache is too small for the directory: cacheShare=%s, directoryBytes=%s, labels=%s"
              .formatted(cacheShare, directoryBytes, labelBytes));
    }
    this.index = ByteIndex.open(fabric, options.withCacheBytes(cacheBytes));
    this.session = index.session();
    this.peer = withPeer ? loaded(keys) : null;
  }

  private static long dataBytes(StringKeys keys) {
    long bytes = keys.count() * Long.BYTES;
    for (long place = 0; place < keys.count(); place++) {
      bytes += keys.key(place).length();
    }
    return bytes;
  }

  private static ByteSource source(StringKeys keys) {
    byte[] value = new byte[Long.BYTES];
    MemorySegment bytes = MemorySegment.ofArray(value);
    return new ByteSource() {
      private long place = -1;
      private MemorySegment key = bytes;

      @Override
      public boolean next() {
        if (++place == keys.count()) {
          return false;
        }
        key = MemorySegment.ofArray(keys.key(place).getBytes(ISO_8859_1));
        bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, place);
        return true;
      }

      @Override
      public MemorySegment key() {
        return key;
      }

      @Override
      public MemorySegment value() {
        return bytes;
      }
    };
  }

  /** Fills a map in the order of keys, so that neighbours are near each other. */
  private static ConcurrentSkipListMap<String, Long> loaded(StringKeys keys) {
    ConcurrentSkipListMap<String, Long> map = new ConcurrentSkipListMap<>();
    for (long place = 0; place < keys.count(); place++) {
      map.put(keys.key(place), place);
    }
    return map;
  }

  /** Returns the bytes of all keys and values. */
  public long dataBytes() {
    return dataBytes;
  }

  /** Returns the bytes of local memory that cache records and blocks. */
  public long cacheBytes() {
    return cacheBytes;
  }

  /** Returns the bytes of the pool that are not free. */
  public long poolBytes() {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  /** Returns the index. */
  public ByteIndex index() {
    return index;
  }

  /**
   * What some operations took.
   *
   * @param nanos in the index
   * @param peerNanos in the map, 0 if there is none
   * @param verbs of the index
   */
  public record Result(long operations, long nanos, long peerNanos, VerbCounters verbs) {
    /** Returns million operations a second. */
    public double mops() {
      return operations * 1e3 / nanos;
    }

    /** Returns million operations a second of the map. */
    public double peerMops() {
      return operations * 1e3 / peerNanos;
    }
  }

  /**
   * Runs operations, in turns of the index and of the map.
   *
   * @param updateShare share of the operations that replace a value, by the one that it has; the
   *     others are lookups
   */
  public Result run(String task, long operations, double updateShare) {
    VerbCounters before = index.verbs();
    long nanos = 0;
    long peerNanos = 0;
    long done = 0;
    try (Progress progress = Progress.of(task, operations)) {
      for (; done < operations; done += TURN) {
        draw(updateShare);
        long start = System.nanoTime();
        turn();
        nanos += System.nanoTime() - start;
        if (peer != null) {
          start = System.nanoTime();
          peerTurn(peer);
          peerNanos += System.nanoTime() - start;
        }
        progress.step(TURN);
      }
    }
    VerbCounters verbs = index.verbs();
    verbs.subtract(before);
    return new Result(done, nanos, peerNanos, verbs);
  }

  private void draw(double updateShare) {
    for (int i = 0; i < TURN; i++) {
      // ranks that follow each other are far apart in the order of keys
      long rank = draw.next(random);
      places[i] = Long.remainderUnsigned(Mix.mix(rank), keys.count());
      drawn[i] = keys.key(places[i]);
      updates[i] = random.nextDouble() < updateShare;
    }
  }

  private void turn() {
    for (int i = 0; i < TURN; i++) {
      MemorySegment key = MemorySegment.ofArray(drawn[i].getBytes(ISO_8859_1));
      if (updates[i]) {
        valueBytes.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, places[i]);
        check(session.update(key, valueBytes), places[i], places[i]);
      } else {
        boolean found = session.get(key);
        long value = found ? session.value().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) : -1;
        check(found, value, places[i]);
      }
    }
  }

  private void peerTurn(ConcurrentSkipListMap<String, Long> map) {
    for (int i = 0; i < TURN; i++) {
      if (updates[i]) {
        check(map.replace(drawn[i], places[i]) != null, places[i], places[i]);
      } else {
        Long value = map.get(drawn[i]);
        check(value != null, value == null ? -1 : value, places[i]);
      }
    }
  }

  private static void check(boolean found, long value, long expected) {
    if (!found || value != expected) {
      throw new WrongResultException(
          "wrong answer: found=%s, value=%s, expected=%s".formatted(found, value, expected));
    }
  }

  @Override
  public void close() {
    try (fabric;
        index) {
      session.close();
    }
  }
}
