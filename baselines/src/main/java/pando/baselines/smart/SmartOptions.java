package pando.baselines.smart;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of the radix tree of SMART's paper: {@link #smart()} and {@link #partitionedSmart()}
 * are the systems. Immutable.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class SmartOptions extends SystemOptions<SmartOptions> {
  /** Maximum number of sessions of a compute server: an owner has 9 bits for the session. */
  public static final int SESSIONS_MAX = 511;

  /** Greatest number of queues of a cache. */
  private static final int FIFO_PARTS_MAX = 1 << 10;

  /** Processor time of an operation, in nanoseconds, as for Sherman: it searches its cache. */
  private static final int OPERATION_NANOS = 2_500;

  /** Bytes of a leaf, and of its share of inner nodes where these have few children. */
  private static final int RECORD_BYTES_MAX = 160;

  private static final int WHOLE_RECORD_BYTES_MAX = 800;

  private static final Setting PARTITIONED =
      Setting.flag("partitioned", "off", "let one compute server alone serve a key, as in DEX");
  private static final Setting RESERVE =
      Setting.choice(
          "reserve",
          Reserve.STEPS,
          "what an inner node takes of the pool: whole is room for 256 slots, as published; steps"
              + " is 64, 192 or 2,112 bytes");
  private static final Setting CHECK =
      Setting.choice(
          "check",
          CopyCheck.LIFE,
          "how an old copy is found to be right: life, by a live leaf with the wanted key; reverse,"
              + " by the leaf's reverse pointer, as published, which loses keys and runs in the"
              + " simulator alone");
  private static final Setting DELEGATION =
      Setting.flag(
          "delegation", "on", "let sessions of a compute server that read a key share one READ");
  private static final Setting COMBINING =
      Setting.flag(
          "combining", "on", "let sessions of a compute server that write a key share one WRITE");
  private static final Setting FIFO_PARTS =
      Setting.integer("fifo-parts", "64", 1, FIFO_PARTS_MAX)
          .meaning("greatest number of queues of the cache; 1 is the central one, as published");
  private static final Setting PINNED_DEPTH =
      Setting.integer("pinned-depth", "1", 0, 2)
          .meaning(
              "nodes whose paths have fewer bytes than this stay in the cache: 1 is the root alone,"
                  + " 0 none");
  private static final Setting MERGE_SHARE =
      mergeShare("0.3", 0.5, "share of a node's slots in use below which a removal shrinks it");

  private static final SmartOptions DEFAULTS =
      new SmartOptions(
          "smart",
          defaults(
              List.of(
                  PARTITIONED,
                  RESERVE,
                  CHECK,
                  DELEGATION,
                  COMBINING,
                  FIFO_PARTS,
                  PINNED_DEPTH,
                  MERGE_SHARE,
                  LOCK_WAIT_MILLIS)));

  /** SMART. */
  public static final IndexSystem SMART =
      system("SMART", "an adaptive radix tree; caches of inner nodes (OSDI 2023)", smart());

  /** P-SMART. */
  public static final IndexSystem P_SMART =
      system("P-SMART", "SMART in partitions, each of one compute server", partitionedSmart());

  private SmartOptions(String system, Settings settings) {
    super(system, settings);
  }

  private static IndexSystem system(String title, String description, SmartOptions options) {
    // Nodes have sizes of their own: what is set is checked where a process joins, and no more.
    SmartOptions tiny = options.withNodeBytes(256).withCacheBytes(options.cacheBytesMin());
    return new IndexSystem(title, description, options, tiny)
        .withVariation(RESERVE.name(), Reserve.STEPS.toString(), Reserve.WHOLE.toString())
        .withVariation(MERGE_SHARE.name(), "0.3", "0.5")
        .withOperationNanos(OPERATION_NANOS)
        .withFastWarmUp();
  }

  /** Returns the options of SMART. */
  public static SmartOptions smart() {
    return DEFAULTS;
  }

  /** Returns the options of P-SMART (DEX section 8): SMART with logical partitions. */
  public static SmartOptions partitionedSmart() {
    return new SmartOptions("p-smart", DEFAULTS.settings().with("partitioned", "on"));
  }

  @Override
  public long cacheBytesMin() {
    return PathCache.bytesMin(pinnedDepth());
  }

  @Override
  public int recordBytesMax() {
    return reserve() == Reserve.WHOLE ? WHOLE_RECORD_BYTES_MAX : RECORD_BYTES_MAX;
  }

  @Override
  protected void checkTogether() {
    // Each setting has its own limits.
  }

  @Override
  protected SmartOptions withSettings(Settings changed) {
    return new SmartOptions(system(), changed);
  }

  /** Returns whether each key belongs to one compute server. */
  @Override
  public boolean isPartitioned() {
    return settings().isOn(PARTITIONED);
  }

  /** Returns how much of the pool an inner node takes. */
  Reserve reserve() {
    return settings().choice(RESERVE, Reserve.class);
  }

  /** Returns how an operation finds out whether an old copy is still right. */
  public CopyCheck copyCheck() {
    return settings().choice(CHECK, CopyCheck.class);
  }

  /** Returns whether sessions of a compute server that read a key share one READ. */
  public boolean delegation() {
    return settings().isOn(DELEGATION);
  }

  /** Returns whether sessions of a compute server that write a key share one WRITE. */
  public boolean combining() {
    return settings().isOn(COMBINING);
  }

  /** Returns the greatest number of queues of a cache. */
  public int fifoParts() {
    return (int) settings().number(FIFO_PARTS);
  }

  /** Returns a number of bytes: nodes whose paths have fewer stay in the cache. */
  public int pinnedDepth() {
    return (int) settings().number(PINNED_DEPTH);
  }

  /** Returns the longest wait for a leaf that another session has locked, in nanoseconds. */
  public long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Returns these options with {@link #isPartitioned()} on or off. */
  public SmartOptions withPartitioned(boolean on) {
    return with(PARTITIONED, on);
  }

  /** Returns these options with {@link #delegation()} on or off. */
  public SmartOptions withDelegation(boolean on) {
    return with(DELEGATION, on);
  }

  /** Returns these options with {@link #combining()} on or off. */
  public SmartOptions withCombining(boolean on) {
    return with(COMBINING, on);
  }

  @Override
  public SmartIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new SmartIndex(fabric, this, first, count));
  }

  @Override
  public SmartIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new SmartIndex(fabric, this, first, count));
  }

  /** {@inheritDoc} Those of P-SMART are. */
  @Override
  public boolean hasMovablePartitions() {
    return isPartitioned();
  }

  @Override
  public SmartIndex createAt(Fabric fabric, int number) {
    checkMovable();
    return HostedIndex.made(new SmartIndex(fabric, this, number));
  }

  @Override
  public SmartIndex joinAt(Fabric fabric, int number) {
    checkMovable();
    return HostedIndex.joined(new SmartIndex(fabric, this, number));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return SmartWalk.of(fabric, this, entries);
  }
}
