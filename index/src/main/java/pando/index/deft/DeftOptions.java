package pando.index.deft;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/** The settings of DEFT, each technique of which can be switched by itself. Immutable. */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class DeftOptions extends SystemOptions<DeftOptions> {
  /** Sessions that a compute server can have: so tickets never add up to 2^16. */
  public static final int SESSIONS_MAX = 511;

  /** Copies that a cache must hold. */
  private static final int COPIES_MIN = 16;

  /** Copies that a cache can hold: what finds them is in arrays of several times as many places. */
  private static final int COPIES_MAX = 1 << 28;

  private static final Setting VALIDATION =
      Setting.choice(
          "validation",
          Validation.AUTO.toString(),
          Validation.names(),
          "how a torn READ is told: " + String.join(", ", Validation.names()));
  private static final Setting SX_LOCKS =
      Setting.flag("sx-locks", "on", "fair shared-exclusive locks, else exclusive ones by CAS");
  private static final Setting HASH_LEAVES =
      Setting.flag("hash-leaves", "on", "leaves of buckets, else sorted and read as a whole");
  private static final Setting SEGMENTS =
      Setting.flag("segments", "on", "inner nodes are read by segments, else as a whole");
  private static final Setting CACHING =
      Setting.flag("caching", "on", "cache inner nodes, else read them from the root on each time");
  private static final Setting MERGE_SHARE =
      Setting.number("merge-share", "0.2", 0, 0.5, "fill below which nodes merge");
  private static final Setting MERGED_SHARE =
      Setting.number("merged-share", "0.5", 0.3, 1, "fill that a merge may make");
  private static final Setting LOCK_WAIT_MILLIS =
      Setting.integer("lock-wait-millis", "5000", 1, 1_000_000, "how long to wait for a lock");

  private static final DeftOptions DEFAULTS =
      new DeftOptions(
          defaults(
              List.of(
                  VALIDATION,
                  SX_LOCKS,
                  HASH_LEAVES,
                  SEGMENTS,
                  CACHING,
                  MERGE_SHARE,
                  MERGED_SHARE,
                  LOCK_WAIT_MILLIS)));

  /** DEFT. */
  public static final IndexSystem DEFT =
      new IndexSystem(
              "DEFT",
              "a B-link tree read by parts of nodes; shared locks (EuroSys 2025)",
              DEFAULTS,
              DEFAULTS.withNodes(448, 8))
          .withVariation(SEGMENTS.name(), "on", "off")
          .withVariation(MERGE_SHARE.name(), "0.2", "0.5");

  private DeftOptions(Settings settings) {
    super("deft", settings);
    checkCacheBytes(cacheBytesMin());
    if (cacheBytes() / copyBytes() > COPIES_MAX) {
      throw new IllegalArgumentException(
          "more segments than a cache can hold: cache-bytes="
              + cacheBytes()
              + ", segments="
              + cacheBytes() / copyBytes()
              + ", greatest="
              + COPIES_MAX);
    }
  }

  /** Returns DEFT with every technique. */
  public static DeftOptions defaults() {
    return DEFAULTS;
  }

  @Override
  protected DeftOptions withSettings(Settings changed) {
    return new DeftOptions(changed);
  }

  /** Returns the least that a cache must have. */
  long cacheBytesMin() {
    return COPIES_MIN * copyBytes();
  }

  /** Returns how many copies of segments a cache holds. */
  int copies() {
    return (int) (cacheBytes() / copyBytes());
  }

  /** Returns the children of a segment. */
  int copyChildren() {
    return new InnerLayout(nodeBytes(), segments()).segmentChildren();
  }

  /** Returns the bytes that a copy of a segment takes. */
  private long copyBytes() {
    return new InnerLayout(nodeBytes(), segments()).segmentBytes();
  }

  /** Returns how a reader tells what is torn. */
  public Validation validation() {
    return Validation.of(Validation.names().get((int) settings().number(VALIDATION)));
  }

  /** Tells whether locks are fair, and shared by those who change single entries. */
  public boolean sxLocks() {
    return settings().isOn(SX_LOCKS);
  }

  /** Tells whether leaves consist of buckets. */
  public boolean hashLeaves() {
    return settings().isOn(HASH_LEAVES);
  }

  /** Tells whether inner nodes are read by segments. */
  public boolean segments() {
    return settings().isOn(SEGMENTS);
  }

  /** Tells whether inner nodes are cached. */
  public boolean caching() {
    return settings().isOn(CACHING);
  }

  /** Returns the share of its capacity below which a node looks for a neighbour to merge with. */
  public double mergeShare() {
    return settings().number(MERGE_SHARE);
  }

  /** Returns the share that two neighbours may hold after becoming one. */
  public double mergedShare() {
    return settings().number(MERGED_SHARE);
  }

  /** Returns how long to wait for a lock that somebody holds, in nanoseconds. */
  public long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Every compute server serves every key. */
  @Override
  public boolean isPartitioned() {
    return false;
  }

  @Override
  public DeftIndex create(Fabric fabric, int first, int count) {
    return DeftIndex.create(fabric, this, first, count);
  }

  @Override
  public DeftIndex join(Fabric fabric, int first, int count) {
    return DeftIndex.join(fabric, this, first, count);
  }

  @Override
  public Tree walk(Fabric fabric) {
    return DeftWalk.of(fabric, this);
  }
}
