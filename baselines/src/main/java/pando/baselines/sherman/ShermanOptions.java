package pando.baselines.sherman;

import java.util.List;
import pando.baselines.lock.LockOptions;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of the B-link tree of Sherman's paper: {@link #sherman()}, {@link #fg()} and {@link
 * #partitionedSherman()} are the systems. Switching a technique off or on makes an ablation of one
 * of them, which keeps its name. Immutable.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class ShermanOptions extends SystemOptions<ShermanOptions> {
  /** Maximum number of sessions of a compute server: a lock has 9 bits for the session. */
  public static final int SESSIONS_MAX = 511;

  /** Minimum number of nodes that a cache holds. */
  static final int FRAMES_MIN = 4;

  /**
   * Maximum number of nodes that a cache holds: its fence index needs arrays several times as long.
   */
  static final int FRAMES_MAX = 1 << 28;

  /**
   * Processor time of an operation, in nanoseconds, that fits the papers' figures: it searches
   * Sherman's index cache and a leaf.
   */
  private static final int OPERATION_NANOS = 2_500;

  private static final Setting VALIDATION =
      Setting.choice(
          "validation",
          ShermanValidation.AUTO,
          "how readers detect torn READs; auto is lines where the fabric lands 64 bytes "
              + "as one, else checksum; original does not detect all, and runs in the simulator "
              + "alone");
  private static final Setting ON_CHIP_LOCKS =
      Setting.flag(
          "on-chip-locks",
          "on",
          "keep locks in the memory server's network card, else in the nodes");
  private static final Setting LOCAL_LOCKS =
      Setting.flag(
          "local-locks",
          "on",
          "queue for a lock at the compute server before asking the memory server");
  private static final Setting COMBINE =
      Setting.flag("combine", "on", "post the WRITE of a node and its unlock in one list");
  private static final Setting ENTRY_WRITES =
      Setting.flag("entry-writes", "on", "WRITE single entries, else whole nodes");
  private static final Setting PARTITIONED =
      Setting.flag("partitioned", "off", "let one compute server alone serve a key, as in DEX");
  private static final Setting MERGE_SHARE = mergeShare("0.3", 0.5);
  private static final Setting MERGED_SHARE = mergedShare("0.8", 0.5);

  private static final ShermanOptions DEFAULTS =
      new ShermanOptions(
          "sherman",
          defaults(
              List.of(
                  VALIDATION,
                  ON_CHIP_LOCKS,
                  LOCAL_LOCKS,
                  HANDOVERS,
                  COMBINE,
                  ENTRY_WRITES,
                  PARTITIONED,
                  MERGE_SHARE,
                  MERGED_SHARE,
                  LOCK_WAIT_MILLIS)));

  /** Sherman. */
  public static final IndexSystem SHERMAN =
      system(
          "Sherman", "a B-link tree; caches of inner nodes, queued locks (SIGMOD 2022)", sherman());

  /** P-Sherman. */
  public static final IndexSystem P_SHERMAN =
      system(
          "P-Sherman", "Sherman in partitions, each of one compute server", partitionedSherman());

  /** FG+. */
  public static final IndexSystem FG =
      system("FG+", "Sherman's baseline: its tree and caches, spin locks, whole nodes", fg());

  private ShermanOptions(String system, Settings settings) {
    super(system, settings);
  }

  @Override
  public long cacheBytesMin() {
    return new BLinkLayout(nodeBytes()).offset(FRAMES_MIN);
  }

  @Override
  protected void checkTogether() {
    if (cacheBytes() / nodeBytes() > FRAMES_MAX) {
      throw new IllegalArgumentException(
          "more nodes than a cache can hold: cache-bytes=%s, node-bytes=%s, nodes=%s, greatest=%s"
              .formatted(cacheBytes(), nodeBytes(), cacheBytes() / nodeBytes(), FRAMES_MAX));
    }
    if (localLocks() && !onChipLocks()) {
      throw new IllegalArgumentException(
          "local locks stand in front of on-chip locks: local-locks=on, on-chip-locks=off");
    }
    if (isPartitioned() && !localLocks()) {
      throw new IllegalArgumentException(
          "partitions are locked locally: partitioned=on, local-locks=off");
    }
  }

  private static IndexSystem system(String title, String description, ShermanOptions options) {
    return new IndexSystem(title, description, options, options.withNodes(192, 8))
        .withVariation(HANDOVERS.name(), "4", "1")
        .withVariation(MERGE_SHARE.name(), "0.3", "0.5")
        .withOperationNanos(OPERATION_NANOS)
        .withFastWarmUp();
  }

  /** Returns the options of Sherman, with the paper's constants. */
  public static ShermanOptions sherman() {
    return DEFAULTS;
  }

  /**
   * Returns the options of FG+ (Sherman section 5.1): the same tree and cache, spin locks by CAS in
   * the nodes, whole nodes written, each WRITE posted by itself.
   */
  public static ShermanOptions fg() {
    Settings settings =
        DEFAULTS
            .settings()
            .with("local-locks", "off")
            .with("on-chip-locks", "off")
            .with("combine", "off")
            .with("entry-writes", "off");
    return new ShermanOptions("fg", settings);
  }

  /** Returns the options of P-Sherman (DEX section 8): Sherman with logical partitions. */
  public static ShermanOptions partitionedSherman() {
    return new ShermanOptions("p-sherman", DEFAULTS.settings().with("partitioned", "on"));
  }

  /**
   * Returns the options of a system.
   *
   * @param system {@code sherman}, {@code p-sherman} or {@code fg}
   */
  public static ShermanOptions of(String system) {
    return switch (system) {
      case "sherman" -> sherman();
      case "p-sherman" -> partitionedSherman();
      case "fg" -> fg();
      default -> throw new IllegalArgumentException("no such system: name=" + system);
    };
  }

  @Override
  protected ShermanOptions withSettings(Settings changed) {
    return new ShermanOptions(system(), changed);
  }

  /** Returns how readers detect torn nodes. */
  public ShermanValidation validation() {
    return settings().choice(VALIDATION, ShermanValidation.class);
  }

  /** Returns whether locks are in the memory servers' on-chip regions. */
  public boolean onChipLocks() {
    return settings().isOn(ON_CHIP_LOCKS);
  }

  /** Returns whether a compute server's sessions queue locally for a lock. */
  public boolean localLocks() {
    return settings().isOn(LOCAL_LOCKS);
  }

  /** Returns the maximum number of local hand-overs of a lock in a row. */
  public int handovers() {
    return (int) settings().number(HANDOVERS);
  }

  /** Returns whether the WRITEs of a change and its unlock are posted in one list. */
  public boolean combine() {
    return settings().isOn(COMBINE);
  }

  /** Returns whether a change of an entry WRITEs the entry only; else the whole node. */
  public boolean entryWrites() {
    return settings().isOn(ENTRY_WRITES);
  }

  /** Returns whether each key belongs to one compute server. */
  @Override
  public boolean isPartitioned() {
    return settings().isOn(PARTITIONED);
  }

  /** Returns the maximum fill of a node that a merge makes, as a share of its capacity. */
  public double mergedShare() {
    return settings().number(MERGED_SHARE);
  }

  /** Returns the longest wait for a lock that another session holds, in nanoseconds. */
  public long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Returns the lock options that a validation needs. */
  LockOptions locks(ShermanValidation resolved) {
    return new LockOptions(
        onChipLocks(),
        localLocks(),
        resolved.countsInLocks(),
        combine(),
        handovers(),
        lockWaitNanos(),
        BLinkLayout.LOCK);
  }

  /** Returns these options with another {@link #validation()}. */
  public ShermanOptions withValidation(ShermanValidation value) {
    return with(VALIDATION.name(), value.toString());
  }

  /** Returns these options with {@link #onChipLocks()} on or off. */
  public ShermanOptions withOnChipLocks(boolean on) {
    return with(ON_CHIP_LOCKS, on);
  }

  /** Returns these options with {@link #localLocks()} on or off. */
  public ShermanOptions withLocalLocks(boolean on) {
    return with(LOCAL_LOCKS, on);
  }

  /** Returns these options with {@link #combine()} on or off. */
  public ShermanOptions withCombine(boolean on) {
    return with(COMBINE, on);
  }

  /** Returns these options with {@link #entryWrites()} on or off. */
  public ShermanOptions withEntryWrites(boolean on) {
    return with(ENTRY_WRITES, on);
  }

  /** Returns these options with {@link #isPartitioned()} on or off. */
  public ShermanOptions withPartitioned(boolean on) {
    return with(PARTITIONED, on);
  }

  @Override
  public ShermanIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new ShermanIndex(fabric, this, first, count));
  }

  @Override
  public ShermanIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new ShermanIndex(fabric, this, first, count));
  }

  /** {@inheritDoc} Those of P-Sherman are. */
  @Override
  public boolean hasMovablePartitions() {
    return isPartitioned();
  }

  @Override
  public ShermanIndex createAt(Fabric fabric, int number) {
    checkMovable();
    return HostedIndex.made(new ShermanIndex(fabric, this, number));
  }

  @Override
  public ShermanIndex joinAt(Fabric fabric, int number) {
    checkMovable();
    return HostedIndex.joined(new ShermanIndex(fabric, this, number));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return ShermanWalk.of(fabric, this, entries);
  }
}
