package pando.index.dex;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.dex.node.NodeLayout;
import pando.index.host.HostedIndex;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of a DEX index, with the paper's constants as defaults where it gives them.
 * Immutable. {@link #documentation()} lists every setting by the name that {@link #with(String,
 * String)} takes.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class DexOptions extends SystemOptions<DexOptions> {
  /** Minimum number of frames of a cache; with fewer, a path of the tree might not fit. */
  public static final int FRAMES_MIN = 64;

  private static final int KEY_SHIFT = 8;
  private static final Setting KEY_BYTES =
      Setting.integer("key-bytes", "8", Long.BYTES, NodeLayout.KEY_BYTES_MAX)
          .meaning(
              "bytes of a key, a multiple of 8; a number is written one behind the other until"
                  + " the length is reached");
  private static final Setting SUBTREE_LEVEL =
      Setting.integer("subtree-level", "2", 0, NodeLayout.LEVELS_MAX - 1)
          .meaning("level up to which a subtree stays on one memory server, M in the paper");
  private static final Setting COOLING_SHARE =
      Setting.number("cooling-share", "0.1", 0.001, 0.5)
          .meaning("share of the cached nodes that are candidates for eviction");
  private static final Setting SAMPLES =
      Setting.integer("samples", "2", 1, 64)
          .meaning("nodes that become candidates for eviction at a time");
  private static final Setting ADMISSION =
      Setting.number("admission", "0.1", 0, 1)
          .meaning("probability that a missed leaf is admitted to the cache, P_A in the paper");
  private static final Setting CACHING =
      Setting.flag("caching", "on", "cache leaves; off: inner nodes alone");
  private static final Setting OFFLOADING =
      Setting.flag(
          "offloading", "on", "let memory servers finish operations below nodes that were missed");
  private static final Setting OFFLOAD_WINDOW =
      Setting.integer("offload-window", "50", 1, 10_000)
          .meaning("latencies in each moving average by which offloading is decided");
  private static final Setting CONTRARY =
      Setting.number("contrary", "0.01", 0, 1)
          .meaning(
              "probability of taking the choice that looks slower, so that both averages stay"
                  + " current");
  private static final Setting SEARCH_NANOS =
      Setting.integer("search-nanos", "40", 0, 1_000_000)
          .meaning("estimated time to search a cached node, in ns, to decide about offloading");
  private static final Setting PATH_COST =
      Setting.number("path-cost", "1.2", 0.01, 1_000)
          .meaning(
              "estimated cost of the cache besides its READs, a factor, to decide about"
                  + " offloading");
  private static final Setting MERGE_SHARE = mergeShare("0.7", 0.9);
  private static final Setting MERGED_SHARE = mergedShare("0.9", 0.1);
  private static final Setting SESSIONS_MAX =
      Setting.integer("sessions-max", "256", 1, 4_096)
          .meaning("sessions that one compute server can have open");

  private static final DexOptions DEFAULTS =
      new DexOptions(
          defaults(
              List.of(
                  KEY_BYTES,
                  SUBTREE_LEVEL,
                  COOLING_SHARE,
                  SAMPLES,
                  ADMISSION,
                  CACHING,
                  OFFLOADING,
                  OFFLOAD_WINDOW,
                  CONTRARY,
                  SEARCH_NANOS,
                  PATH_COST,
                  MERGE_SHARE,
                  MERGED_SHARE,
                  WRITE_BACK_INTERVAL,
                  SESSIONS_MAX)));

  /** DEX. */
  public static final IndexSystem DEX =
      new IndexSystem(
              "DEX",
              "a B+-tree in partitions, each cached by one compute server (VLDB 2024)",
              DEFAULTS,
              DEFAULTS.with(WRITE_BACK_INTERVAL.name(), "0").withNodes(192, FRAMES_MIN))
          .withVariation(CONTRARY.name(), "0.01", "0.3")
          .withVariation(ADMISSION.name(), "0.1", "0.7")
          .withHandlers(() -> List.of(new DexOffload()));

  private DexOptions(Settings settings) {
    super("dex", settings);
  }

  /** As {@link pando.index.orca.OrcaOptions#writeBackNanos}. */
  public long writeBackNanos() {
    return (long) settings().number(WRITE_BACK_INTERVAL);
  }

  @Override
  public boolean isLogged() {
    return keyBytes() == Long.BYTES;
  }

  @Override
  public long cacheBytesMin() {
    return layout().offset(FRAMES_MIN);
  }

  @Override
  protected void checkTogether() {
    if (mergeShare() >= mergedShare()) {
      throw new IllegalArgumentException(
          "merge-share must be below merged-share: merge-share=%s, merged-share=%s"
              .formatted(mergeShare(), mergedShare()));
    }
  }

  @Override
  public int keyBytes() {
    return (int) settings().number(KEY_BYTES);
  }

  /** Returns the layout of the nodes. */
  NodeLayout layout() {
    return NodeLayout.of(nodeBytes(), keyBytes());
  }

  /** Returns the number in the pool's catalogue of the system with keys of this length. */
  int systemNumber() {
    return DexIndex.SYSTEM + ((layout().keyWords() - 1) << KEY_SHIFT);
  }

  /** Returns the system's name with the length of keys, for messages. */
  String kind() {
    return keyBytes() == Long.BYTES ? system() : system() + ", keys of " + keyBytes() + " bytes";
  }

  /** Returns the paper's settings, and Pando's own defaults where the paper gives none. */
  public static DexOptions defaults() {
    return DEFAULTS;
  }

  @Override
  protected DexOptions withSettings(Settings changed) {
    return new DexOptions(changed);
  }

  @Override
  public boolean isPartitioned() {
    return true;
  }

  /**
   * Returns M of DEX section 3: a subtree rooted at or below this level stays on one memory server,
   * and only misses at or below it are offloaded.
   */
  public int subtreeLevel() {
    return (int) settings().number(SUBTREE_LEVEL);
  }

  /** Returns the share of the frames that are candidates for eviction. */
  public double coolingShare() {
    return settings().number(COOLING_SHARE);
  }

  /** Returns the number of nodes that are cooled at a time. */
  public int samples() {
    return (int) settings().number(SAMPLES);
  }

  /** Returns P_A of DEX section 5.4: the probability that a missed leaf is admitted. */
  public double admission() {
    return settings().number(ADMISSION);
  }

  /** Returns whether leaves are cached at all. */
  public boolean caching() {
    return settings().isOn(CACHING);
  }

  /** Returns whether operations may be offloaded. */
  public boolean offloading() {
    return settings().isOn(OFFLOADING);
  }

  /** Returns the number of latencies in each moving average. */
  public int offloadWindow() {
    return (int) settings().number(OFFLOAD_WINDOW);
  }

  /**
   * Returns the probability of taking the choice that looks slower, so that its average stays
   * current.
   */
  public double contrary() {
    return settings().number(CONTRARY);
  }

  /** Returns the time to search a cached node, in ns, in the estimate of a path of READs. */
  public int searchNanos() {
    return (int) settings().number(SEARCH_NANOS);
  }

  /** Returns the factor for what the cache costs besides the READs, in the same estimate. */
  public double pathCost() {
    return settings().number(PATH_COST);
  }

  /**
   * Returns the greatest share of its capacity that a node may have after a merge; above
   * merge-share.
   */
  public double mergedShare() {
    return settings().number(MERGED_SHARE);
  }

  /**
   * Returns how many sessions one compute server can have open. A session counts from its first
   * operation there.
   */
  public int sessionsMax() {
    return (int) settings().number(SESSIONS_MAX);
  }

  /** Returns these options with {@link #caching()} on or off. */
  public DexOptions withCaching(boolean on) {
    return with(CACHING, on);
  }

  /** Returns these options with {@link #offloading()} on or off. */
  public DexOptions withOffloading(boolean on) {
    return with(OFFLOADING, on);
  }

  @Override
  public DexIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new DexIndex(fabric, this, first, count));
  }

  @Override
  public DexIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new DexIndex(fabric, this, first, count));
  }

  @Override
  public boolean hasMovablePartitions() {
    return true;
  }

  @Override
  public DexIndex createAt(Fabric fabric, int number) {
    return HostedIndex.made(new DexIndex(fabric, this, number));
  }

  @Override
  public DexIndex joinAt(Fabric fabric, int number) {
    return HostedIndex.joined(new DexIndex(fabric, this, number));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return TreeWalk.of(fabric, this, entries);
  }
}
