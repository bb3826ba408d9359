package pando.index.orca;

import java.util.List;
import pando.index.orca.delta.Deltas;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.RecordCache;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of ORCA as its parts read them. Immutable.
 *
 * @param <O> the options, which also make indexes
 */
abstract class OrcaSettings<O extends OrcaSettings<O>> extends SystemOptions<O> {
  /** Maximum number of sessions of a compute server. */
  public static final int SESSIONS_MAX = 4096;

  static final int PAGE_CHILDREN_MAX = 60;

  private static final int LEAF_BYTES_MIN = LeafLayout.bytes(LeafLayout.SEGMENTS_MIN);
  static final int LEAF_BYTES_MAX = LeafLayout.bytes(LeafLayout.SEGMENTS_MAX);

  static final Setting LEAF_SHARE =
      Setting.number("leaf-share", "0.92", 0.1, 1)
          .meaning("share of a leaf's slots above which a merge splits it");
  static final Setting PAGE_CHILDREN =
      Setting.integer("page-children", "60", 4, PAGE_CHILDREN_MAX)
          .meaning("greatest number of children of a page");
  static final Setting MERGE_SHARE =
      mergeShare(
          "0.5", 0.6, "fill below which a merge of removals takes a neighbouring leaf along");
  static final Setting CACHE =
      Setting.choice(
          "cache",
          CacheUnit.RECORDS,
          "what is cached of what a lookup READs: its record, its segment, or its leaf, which it"
              + " READs as a whole");
  static final Setting DELTA_SHARE =
      Setting.number("delta-share", "0.2", 0.01, 0.9)
          .meaning(
              "share of the cache, less the directory, that deltas have from the first change on");
  static final Setting SHARES_MOVE =
      Setting.flag(
          "shares-move",
          "on",
          "move memory between records, deltas and images to where it saves more");
  static final Setting IMAGE_SHARE =
      Setting.number("image-share", "0", 0, 0.8)
          .meaning(
              "share of the cache, less the directory, that images of segments and filters have at"
                  + " the start");
  static final Setting FILTERS =
      Setting.flag(
          "filters", "on", "keep filters of leaves, which find absent keys, with the images");
  static final Setting DELTA_CHANGES =
      Setting.integer("delta-changes", "255", 1, Deltas.RECORDS_MAX)
          .meaning("changes of a leaf that its delta holds before it is merged");
  static final Setting MERGERS =
      Setting.integer("mergers", "4", 0, 64)
          .meaning(
              "background tasks of each compute server that merge; 0: sessions merge themselves");
  static final Setting NEIGHBOURS =
      Setting.flag(
          "neighbours", "on", "fill free room of the cache with the other records of a segment");
  static final Setting TWIN =
      Setting.flag("twin", "on", "let a record go to the twin of its bucket where that has room");

  static final Setting COUNTS =
      Setting.integer("counts", Integer.toString(RecordCache.COUNT_BITS), 0, RecordCache.COUNT_BITS)
          .meaning("bits of a cached record's count of hits; 0: the oldest of a bucket goes");

  OrcaSettings(Settings settings) {
    super("orca", settings);
  }

  /** Returns the settings where nothing is given, but for the size of leaves. */
  static Settings initial() {
    return defaults(
        List.of(
            LEAF_SHARE,
            PAGE_CHILDREN,
            MERGE_SHARE,
            CACHE,
            DELTA_SHARE,
            SHARES_MOVE,
            IMAGE_SHARE,
            FILTERS,
            DELTA_CHANGES,
            MERGERS,
            NEIGHBOURS,
            TWIN,
            COUNTS,
            WRITE_BACK_INTERVAL,
            LOCK_WAIT_MILLIS));
  }

  @Override
  public long cacheBytesMin() {
    return CacheParts.BYTES_MIN;
  }

  /**
   * Checks that a directory leaves the caches of a compute server their least.
   *
   * @param bytes what the directory takes
   * @throws DirectoryTooLargeException if it does not
   */
  void checkDirectory(long bytes) {
    long needed = CacheParts.bytesBeside(bytes);
    if (cacheBytes() < needed) {
      throw new DirectoryTooLargeException(cacheBytes(), bytes, needed);
    }
  }

  @Override
  protected void checkTogether() {
    if (nodeBytes() < LEAF_BYTES_MIN
        || nodeBytes() > LEAF_BYTES_MAX
        || nodeBytes() % LeafLayout.SEGMENT_BYTES != 0) {
      throw new IllegalArgumentException(
          "no such leaves: node-bytes="
              + nodeBytes()
              + ", least="
              + LEAF_BYTES_MIN
              + ", greatest="
              + LEAF_BYTES_MAX
              + ", multiple of "
              + LeafLayout.SEGMENT_BYTES);
    }
  }

  /** Returns the greatest number of segments of a leaf. */
  public int segmentsMax() {
    return nodeBytes() / LeafLayout.SEGMENT_BYTES - 1;
  }

  /** Returns the number of records above which a merge splits a leaf. */
  public int recordsMax() {
    return Math.max(4, (int) (segmentsMax() * LeafLayout.SLOTS * settings().number(LEAF_SHARE)));
  }

  /** Returns the greatest number of children of a directory page. */
  public int pageChildren() {
    return (int) settings().number(PAGE_CHILDREN);
  }

  /** Returns what is cached of what a lookup READs. */
  public CacheUnit cacheUnit() {
    return settings().choice(CACHE, CacheUnit.class);
  }

  /** Returns how many of some parts, at least 2, deltas have at the start: at least 1. */
  int deltaParts(int parts) {
    long wanted = Math.round(parts * settings().number(DELTA_SHARE));
    return (int) Math.clamp(wanted, 1, parts - 1L);
  }

  /** Returns how many of some parts images have at the start; records have at least one. */
  int imageParts(int parts) {
    long wanted = Math.round(parts * settings().number(IMAGE_SHARE));
    return (int) Math.min(wanted, parts - 1L - deltaParts(parts));
  }

  /** Returns whether memory moves between records, deltas and images. */
  public boolean sharesMove() {
    return settings().isOn(SHARES_MOVE);
  }

  /**
   * Returns whether there are filters of leaves: images of single segments have no room for them.
   */
  public boolean filters() {
    return settings().isOn(FILTERS) && cacheUnit() != CacheUnit.SEGMENTS;
  }

  /** Returns the greatest number of changes of a leaf's delta. */
  public int deltaChanges() {
    return (int) settings().number(DELTA_CHANGES);
  }

  /** Returns the number of background tasks of each compute server that merge. */
  public int mergers() {
    return (int) settings().number(MERGERS);
  }

  /** Returns whether free room of the cache is filled with the other records of a segment. */
  public boolean neighbours() {
    return settings().isOn(NEIGHBOURS);
  }

  /** Returns whether a record may go to the twin of its bucket. */
  public boolean twin() {
    return settings().isOn(TWIN);
  }

  /** Returns the bits of a cached record's count of hits, 0 to 2. */
  public int countBits() {
    return (int) settings().number(COUNTS);
  }

  /**
   * Returns the greatest age of a change that is in local memory alone, in nanoseconds; 0, or where
   * the pool ends with the process: it waits without limit.
   */
  public long writeBackNanos() {
    return (long) settings().number(WRITE_BACK_INTERVAL);
  }

  /** Returns the longest wait for a latch or a claim of another session, in nanoseconds. */
  long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Each key is served by one compute server. */
  @Override
  public boolean isPartitioned() {
    return true;
  }
}
