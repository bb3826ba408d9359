package pando.index.bytes;

import pando.index.orca.OrcaOptions;

/**
 * The settings of an index of byte strings. Immutable.
 *
 * @param cacheBytes bytes of the records and blocks that are cached, beside the directory of all
 *     blocks and the cache of {@code labels}
 * @param recordShare share of these bytes that is for single records, which lookups of a key use, 0
 *     to 1; the rest is for changes that wait, and for whole blocks, which neighbours and scans use
 * @param blockBytes size above which a block is split, {@link #BLOCK_BYTES_MIN} to {@link
 *     #BLOCK_BYTES_MAX}
 * @param inlineMax greatest length of a value that is in its block, 8 to a quarter of {@code
 *     blockBytes}; a longer one has a blob of its own
 * @param deltaChanges changes of a block that wait in local memory at the most before a new block
 *     is made with them, 0 to {@link #DELTA_CHANGES_MAX}; with 0 none waits
 * @param labels of the index that has the words of all blocks; one compute server
 */
public record ByteOptions(
    long cacheBytes,
    double recordShare,
    int blockBytes,
    int inlineMax,
    int deltaChanges,
    OrcaOptions labels) {
  /** Least size above which a block is split. */
  public static final int BLOCK_BYTES_MIN = 256;

  /** Greatest size above which a block is split. */
  public static final int BLOCK_BYTES_MAX = 64 << 10;

  /** Greatest number of changes of a block that wait. */
  public static final int DELTA_CHANGES_MAX = 255;

  /** Changes of a block that wait take one of so many parts of its greatest size, at the most. */
  private static final int DELTA_PART = 4;

  /** Changes that wait take this share of the memory that is not for records, at the most. */
  private static final double DELTA_SHARE = 0.75;

  private static final ByteOptions DEFAULTS =
      new ByteOptions(
          256 << 20,
          0.75,
          8000,
          64,
          64,
          OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  /** Checks the ranges. */
  public ByteOptions {
    if (cacheBytes < 0
        || !(recordShare >= 0 && recordShare <= 1)
        || blockBytes < BLOCK_BYTES_MIN
        || blockBytes > BLOCK_BYTES_MAX
        || inlineMax < Long.BYTES
        || inlineMax > blockBytes / 4
        || deltaChanges < 0
        || deltaChanges > DELTA_CHANGES_MAX) {
      throw new IllegalArgumentException(
          "out of range: cacheBytes=%s, recordShare=%s, blockBytes=%s, inlineMax=%s, deltaChanges=%s"
              .formatted(cacheBytes, recordShare, blockBytes, inlineMax, deltaChanges));
    }
    if (labels.computeServers() != 1) {
      throw new IllegalArgumentException(
          "the index of the blocks has one compute server: computeServers="
              + labels.computeServers());
    }
    labels.check();
  }

  /**
   * Returns the defaults: 256 MiB of records and blocks, three quarters of it for records; blocks
   * of up to 8,000 bytes, values of up to 64 bytes in them; 64 changes of a block that wait; 1 MiB
   * for the cache of labels, which is larger in a large pool.
   */
  public static ByteOptions defaults() {
    return DEFAULTS;
  }

  /** Returns these options with another size of the cache. */
  public ByteOptions withCacheBytes(long bytes) {
    return new ByteOptions(bytes, recordShare, blockBytes, inlineMax, deltaChanges, labels);
  }

  /** Returns these options with another share of single records in the cache. */
  public ByteOptions withRecordShare(double share) {
    return new ByteOptions(cacheBytes, share, blockBytes, inlineMax, deltaChanges, labels);
  }

  /** Returns the bytes of the cache that are for single records. */
  long recordBytes() {
    return (long) (cacheBytes * recordShare);
  }

  /** Returns these options with another size of blocks, and another limit of values in them. */
  public ByteOptions withBlockBytes(int bytes, int newInlineMax) {
    return new ByteOptions(cacheBytes, recordShare, bytes, newInlineMax, deltaChanges, labels);
  }

  /** Returns these options with another number of changes of a block that wait at the most. */
  public ByteOptions withDeltaChanges(int changes) {
    return new ByteOptions(cacheBytes, recordShare, blockBytes, inlineMax, changes, labels);
  }

  /** Returns the bytes of the cache that changes which wait may take. */
  long deltaBytes() {
    return (long) ((cacheBytes - recordBytes()) * DELTA_SHARE);
  }

  /** Returns the bytes that changes of one block which wait may take. */
  int deltaSizeMax() {
    return blockBytes / DELTA_PART;
  }

  /** Returns these options with other settings of the index that has the words of all blocks. */
  public ByteOptions withLabels(OrcaOptions newLabels) {
    return new ByteOptions(cacheBytes, recordShare, blockBytes, inlineMax, deltaChanges, newLabels);
  }
}
