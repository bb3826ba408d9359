package pando.index.bytes;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.index.ServedOptions;
import pando.index.orca.OrcaOptions;
import pando.index.settings.Setting;
import pando.index.settings.Settings;

/** The settings of an index of byte strings. Immutable. */
public final class ByteOptions implements ServedOptions {
  /** The name of byte strings, where an index of words has that of its system. */
  public static final String SYSTEM = "byte-strings";

  /** Least size above which a block is split. */
  public static final int BLOCK_BYTES_MIN = 256;

  /** Greatest size above which a block is split. */
  public static final int BLOCK_BYTES_MAX = 64 << 10;

  /** Greatest number of changes of a block that wait. */
  public static final int DELTA_CHANGES_MAX = 255;

  /** A value in a block takes at most a quarter of the block's greatest size. */
  private static final int INLINE_PART = 4;

  /** The changes of a block that wait take at most a quarter of the block's greatest size. */
  private static final int DELTA_PART = 4;

  /**
   * Changes that wait take at most this share of the cache that is not for records. The more of
   * them, the fewer WRITEs; blocks are of use for neighbours and scans alone.
   */
  private static final double DELTA_SHARE = 0.9;

  private static final Setting CACHE_BYTES =
      Setting.size(
          "cache-bytes",
          "256MiB",
          0x1p40,
          "bytes of the cache of records and blocks of each compute server");
  private static final Setting RECORD_SHARE =
      Setting.number("record-share", "0.75", 0, 1)
          .meaning(
              "share of the cache for single records, which lookups use; the rest is for changes"
                  + " that wait and for whole blocks");
  private static final Setting BLOCK_BYTES =
      Setting.size(
          "block-bytes",
          "8000",
          BLOCK_BYTES_MAX,
          "size above which a block of records is split, from " + BLOCK_BYTES_MIN + " bytes on");
  private static final Setting INLINE_MAX =
      Setting.integer("inline-max", "64", Long.BYTES, BLOCK_BYTES_MAX / INLINE_PART)
          .meaning("greatest length of a value in its block, at most a quarter of block-bytes");
  private static final Setting DELTA_CHANGES =
      Setting.integer("delta-changes", "64", 0, DELTA_CHANGES_MAX)
          .meaning("changes of a block that wait in local memory before it is made anew");

  /** A setting of the labels, too: blocks and labels are written together. */
  private static final String WRITE_BACK_INTERVAL = "write-back-interval";

  private static final ByteOptions DEFAULTS =
      new ByteOptions(
          Settings.of(List.of(CACHE_BYTES, RECORD_SHARE, BLOCK_BYTES, INLINE_MAX, DELTA_CHANGES)),
          OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  private final Settings settings;
  private final OrcaOptions labels;

  // Operations ask for these.
  private final long cacheBytes;
  private final double recordShare;
  private final int blockBytes;
  private final int inlineMax;
  private final int deltaChanges;

  private ByteOptions(Settings settings, OrcaOptions labels) {
    this.settings = settings;
    this.labels = labels;
    this.cacheBytes = (long) settings.number(CACHE_BYTES);
    this.recordShare = settings.number(RECORD_SHARE);
    this.blockBytes = (int) settings.number(BLOCK_BYTES);
    this.inlineMax = (int) settings.number(INLINE_MAX);
    this.deltaChanges = (int) settings.number(DELTA_CHANGES);
    BLOCK_BYTES.checkAtLeast(blockBytes, BLOCK_BYTES_MIN);
    if (labels.computeServers() != 1) {
      throw new IllegalArgumentException(
          "the index of the blocks has one compute server: computeServers="
              + labels.computeServers());
    }
  }

  /**
   * Returns the defaults: 256 MiB of records and blocks, three quarters of it for records; blocks
   * of up to 8,000 bytes, values of up to 64 bytes in them; 64 changes of a block that wait; 1 MiB
   * for the cache of labels, which is larger in a large pool.
   */
  public static ByteOptions defaults() {
    return DEFAULTS;
  }

  /** Returns {@value #SYSTEM}. */
  @Override
  public String system() {
    return SYSTEM;
  }

  /**
   * Returns the bytes of the records and blocks that are cached, beside the directory of all blocks
   * and the cache of {@link #labels}.
   */
  @Override
  public long cacheBytes() {
    return cacheBytes;
  }

  /**
   * Returns the share of the cache that is for single records, which lookups of a key use, 0 to 1;
   * the rest is for changes that wait, and for whole blocks, which neighbours and scans use.
   */
  public double recordShare() {
    return recordShare;
  }

  /**
   * Returns the size above which a block is split, {@link #BLOCK_BYTES_MIN} to {@link
   * #BLOCK_BYTES_MAX}.
   */
  public int blockBytes() {
    return blockBytes;
  }

  /**
   * Returns the greatest length of a value that is in its block, 8 to a quarter of {@link
   * #blockBytes}; a longer one has a blob of its own.
   */
  public int inlineMax() {
    return inlineMax;
  }

  /**
   * Returns how many changes of a block wait in local memory at the most before a new block is made
   * with them, 0 to {@link #DELTA_CHANGES_MAX}; with 0 none waits.
   */
  public int deltaChanges() {
    return deltaChanges;
  }

  /** Returns the settings of the index that has the words of all blocks; one compute server. */
  public OrcaOptions labels() {
    return labels;
  }

  /** Returns the bytes of the cache that are for single records. */
  long recordBytes() {
    return (long) (cacheBytes * recordShare);
  }

  /** Returns how many bytes of the cache all changes that wait may take. */
  long deltaBytes() {
    return (long) ((cacheBytes - recordBytes()) * DELTA_SHARE);
  }

  /** Returns how many bytes the changes of one block that wait may take. */
  int deltaSizeMax() {
    return blockBytes / DELTA_PART;
  }

  @Override
  public ByteOptions with(String name, String value) {
    return name.equals(WRITE_BACK_INTERVAL)
        ? withLabels(labels.with(name, value))
        : new ByteOptions(settings.with(name, value), labels);
  }

  private ByteOptions with(Setting setting, Number value) {
    return with(setting.name(), value.toString());
  }

  @Override
  public ByteOptions withCacheBytes(long bytes) {
    return with(CACHE_BYTES, bytes);
  }

  /** Returns these options with another {@link #recordShare}. */
  public ByteOptions withRecordShare(double share) {
    return with(RECORD_SHARE, share);
  }

  /** Returns these options with another size of blocks, and another limit of values in them. */
  public ByteOptions withBlockBytes(int bytes, int newInlineMax) {
    return with(BLOCK_BYTES, bytes).with(INLINE_MAX, newInlineMax);
  }

  /** Returns these options with other {@link #deltaChanges}. */
  public ByteOptions withDeltaChanges(int changes) {
    return with(DELTA_CHANGES, changes);
  }

  /** Returns these options with other {@link #labels}. */
  public ByteOptions withLabels(OrcaOptions newLabels) {
    return new ByteOptions(settings, newLabels);
  }

  @Override
  public void check() {
    if (inlineMax > blockBytes / INLINE_PART) {
      throw new IllegalArgumentException(
          "values in a block take a quarter of it at the most: inline-max=%s, block-bytes=%s"
              .formatted(inlineMax, blockBytes));
    }
    labels.check();
  }

  @Override
  public Map<String, String> documentation() {
    Map<String, String> documentation = new LinkedHashMap<>(settings.documentation());
    String interval = labels.documentation().get(WRITE_BACK_INTERVAL);
    if (interval != null) {
      documentation.put(WRITE_BACK_INTERVAL, interval);
    }
    return documentation;
  }

  @Override
  public boolean hasMovablePartitions() {
    return true;
  }

  @Override
  public boolean isLogged() {
    return true;
  }

  @Override
  public ByteIndex createAt(Fabric fabric, int number) {
    return ByteIndex.createAt(fabric, this, number);
  }

  @Override
  public ByteIndex joinAt(Fabric fabric, int number) {
    return ByteIndex.joinAt(fabric, this, number);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ByteOptions options
        && settings.equals(options.settings)
        && labels.equals(options.labels);
  }

  @Override
  public int hashCode() {
    return 31 * settings.hashCode() + labels.hashCode();
  }

  /** Returns every setting as {@code name=value}. */
  @Override
  public String toString() {
    return SYSTEM + " " + settings;
  }
}
