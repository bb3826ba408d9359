package pando.baselines.deft;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of DEFT, each technique of which can be switched by itself. Immutable.
 *
 * <p>Choose {@link DeftValidation#CHECKSUM} if bits of the pool's memory can flip. The other
 * validations detect torn READs, but not a flipped bit in a value.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class DeftOptions extends SystemOptions<DeftOptions> {
  /**
   * Maximum number of sessions of a compute server. It keeps the number of open tickets of a lock
   * below 2^16.
   */
  public static final int SESSIONS_MAX = 511;

  /** Minimum number of segments that a cache holds. */
  private static final int COPIES_MIN = 16;

  /**
   * Maximum number of segments that a cache holds: its fence index needs arrays several times as
   * long.
   */
  private static final int COPIES_MAX = 1 << 28;

  private static final Setting VALIDATION =
      Setting.choice(
          "validation",
          DeftValidation.AUTO,
          "how readers detect torn READs; auto is opdv where the fabric lands 64 bytes as "
              + "one, as in the simulator, else versions, as on local and shm; checksum alone "
              + "detects flipped bits in values as well");
  private static final Setting SX_LOCKS =
      Setting.flag(
          "sx-locks",
          "on",
          "share the lock of a leaf among sessions that change single entries, fairly; "
              + "else exclusive spin locks");
  private static final Setting HASH_LEAVES =
      Setting.flag(
          "hash-leaves",
          "on",
          "leaves of buckets, of which a lookup READs one; else sorted and READ whole");
  private static final Setting SEGMENTS =
      Setting.flag("segments", "on", "READ and cache inner nodes by segments, else whole");
  private static final Setting CACHING =
      Setting.flag("caching", "on", "cache inner nodes, else READ them from the root on each time");
  private static final Setting MERGE_SHARE = mergeShare("0.2", 0.5);
  private static final Setting MERGED_SHARE = mergedShare("0.5", 0.3);

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
  }

  @Override
  public long cacheBytesMin() {
    return COPIES_MIN * copyBytes();
  }

  @Override
  protected void checkTogether() {
    if (cacheBytes() / copyBytes() > COPIES_MAX) {
      throw new IllegalArgumentException(
          "more segments than a cache can hold: cache-bytes=%s, segments=%s, greatest=%s"
              .formatted(cacheBytes(), cacheBytes() / copyBytes(), COPIES_MAX));
    }
  }

  /** Returns the options of DEFT with every technique on. */
  public static DeftOptions defaults() {
    return DEFAULTS;
  }

  @Override
  protected DeftOptions withSettings(Settings changed) {
    return new DeftOptions(changed);
  }

  /** Returns the number of segments that a cache holds. */
  int copies() {
    return (int) (cacheBytes() / copyBytes());
  }

  /** Returns the maximum number of children of a cached segment. */
  int copyChildren() {
    return new InnerLayout(nodeBytes(), segments()).segmentChildren();
  }

  /** Returns the bytes of a cached segment. */
  private long copyBytes() {
    return new InnerLayout(nodeBytes(), segments()).segmentBytes();
  }

  /**
   * Returns how readers detect torn READs. {@link DeftValidation#CHECKSUM} alone detects flipped
   * bits in values as well.
   */
  public DeftValidation validation() {
    return settings().choice(VALIDATION, DeftValidation.class);
  }

  /**
   * Returns whether locks are fair, and shared by sessions that change single entries; else they
   * are exclusive spin locks.
   */
  public boolean sxLocks() {
    return settings().isOn(SX_LOCKS);
  }

  /** Returns whether leaves consist of hash buckets; else they are sorted. */
  public boolean hashLeaves() {
    return settings().isOn(HASH_LEAVES);
  }

  /** Returns whether inner nodes are READ and cached by segments; else as a whole. */
  public boolean segments() {
    return settings().isOn(SEGMENTS);
  }

  /** Returns whether compute servers cache inner nodes. */
  public boolean caching() {
    return settings().isOn(CACHING);
  }

  /** Returns the maximum fill of a node that a merge makes, as a share of its capacity. */
  public double mergedShare() {
    return settings().number(MERGED_SHARE);
  }

  /** Returns the longest wait for a lock that another session holds, in nanoseconds. */
  public long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Returns these options with another {@link #validation()}. */
  public DeftOptions withValidation(DeftValidation value) {
    return with(VALIDATION.name(), value.toString());
  }

  /** Returns these options with {@link #sxLocks()} on or off. */
  public DeftOptions withSxLocks(boolean on) {
    return with(SX_LOCKS, on);
  }

  /** Returns these options with {@link #hashLeaves()} on or off. */
  public DeftOptions withHashLeaves(boolean on) {
    return with(HASH_LEAVES, on);
  }

  /** Returns these options with {@link #segments()} on or off. */
  public DeftOptions withSegments(boolean on) {
    return with(SEGMENTS, on);
  }

  /** Returns these options with {@link #caching()} on or off. */
  public DeftOptions withCaching(boolean on) {
    return with(CACHING, on);
  }

  /** Every compute server serves every key. */
  @Override
  public boolean isPartitioned() {
    return false;
  }

  @Override
  public DeftIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new DeftIndex(fabric, this, first, count));
  }

  @Override
  public DeftIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new DeftIndex(fabric, this, first, count));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return DeftWalk.of(fabric, this, entries);
  }
}
