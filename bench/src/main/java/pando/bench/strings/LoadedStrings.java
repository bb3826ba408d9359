package pando.bench.strings;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSource;
import pando.index.orca.OrcaOptions;

/**
 * An index of strings in a pool of its own, with local memory of a share of the data. The value of
 * each string is its place, as a number of 8 bytes.
 */
public final class LoadedStrings implements AutoCloseable {
  private static final int MEMORY_SERVERS = 4;

  /** Of the pool for a byte of data: blocks are not full, and have some slack. */
  private static final double POOL_FACTOR = 1.6;

  private static final long POOL_BYTES_MIN = 512L << 20;

  /** The cache of labels takes one of so many bytes of the data. */
  private static final int LABELS_PART = 256;

  private static final long LABELS_BYTES_MIN = 64 << 10;

  private final Fabric fabric;
  private final ByteIndex index;
  private final long dataBytes;
  private final long cacheBytes;

  private LoadedStrings(Fabric fabric, ByteIndex index, long dataBytes, long cacheBytes) {
    this.fabric = fabric;
    this.index = index;
    this.dataBytes = dataBytes;
    this.cacheBytes = cacheBytes;
  }

  /**
   * Loads an index.
   *
   * @param fill share of each block that is filled
   * @param cacheShare bytes of local memory as a share of the bytes of all keys and values; the
   *     directory and the cache of labels have what they need of it, or more
   * @param recordShare share of what is left that is for single records
   */
  public static LoadedStrings of(
      StringKeySet keys, double fill, double cacheShare, double recordShare) {
    long dataBytes = dataBytes(keys);
    Fabric fabric = openPool(dataBytes);
    try {
      long labelBytes = Math.max(dataBytes / LABELS_PART, LABELS_BYTES_MIN);
      ByteOptions options =
          ByteOptions.defaults()
              .withRecordShare(recordShare)
              .withCacheBytes(0)
              .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(labelBytes));
      long directoryBytes = load(fabric, options, keys, fill);
      long localBytes = (long) (dataBytes * cacheShare);
      long cacheBytes = Math.max(0, localBytes - directoryBytes - labelBytes);
      ByteIndex index = ByteIndex.open(fabric, options.withCacheBytes(cacheBytes));
      return new LoadedStrings(fabric, index, dataBytes, cacheBytes);
    } catch (Throwable e) {
      fabric.close();
      throw e;
    }
  }

  private static long dataBytes(StringKeySet keys) {
    long bytes = keys.count() * Long.BYTES;
    for (long place = 0; place < keys.count(); place++) {
      bytes += keys.key(place).length();
    }
    return bytes;
  }

  private static Fabric openPool(long dataBytes) {
    long poolBytes = (long) (dataBytes * POOL_FACTOR) + POOL_BYTES_MIN;
    return LocalFabric.open(
        PoolOptions.defaults()
            .withMemoryServers(MEMORY_SERVERS)
            .withBytesPerServer(poolBytes / MEMORY_SERVERS)
            .withHandlers(Systems.handlers()));
  }

  /** Makes an index and closes it; returns the bytes of its directory. */
  private static long load(Fabric fabric, ByteOptions options, StringKeySet keys, double fill) {
    try (ByteIndex index = ByteIndex.create(fabric, options)) {
      index.load(new Source(keys), fill);
      return index.directoryBytes();
    }
  }

  /** The entries to load. */
  private static final class Source implements ByteSource {
    private final StringKeySet keys;
    private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);
    private MemorySegment key = MemorySegment.NULL;
    private long place = -1;

    Source(StringKeySet keys) {
      this.keys = keys;
    }

    @Override
    public boolean next() {
      if (++place == keys.count()) {
        return false;
      }
      key = encoded(keys.key(place));
      value.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, place);
      return true;
    }

    @Override
    public MemorySegment key() {
      return key;
    }

    @Override
    public MemorySegment value() {
      return value;
    }
  }

  /** Returns the key of the index that a string is. */
  static MemorySegment encoded(String key) {
    return MemorySegment.ofArray(key.getBytes(ISO_8859_1));
  }

  /** Returns the index. */
  public ByteIndex index() {
    return index;
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

  @Override
  public void close() {
    try (fabric) {
      index.close();
    }
  }
}
