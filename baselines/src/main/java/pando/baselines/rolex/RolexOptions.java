package pando.baselines.rolex;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/**
 * The settings of a learned index: {@link #rolex()} and {@link #xstoreD()} are the systems;
 * changing a setting makes an ablation of one of them, which keeps its name. Immutable.
 */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class RolexOptions extends SystemOptions<RolexOptions> {
  /**
   * Maximum number of sessions of a compute server: as many as a lock can name, less 64 retrainers.
   */
  public static final int SESSIONS_MAX = 447;

  private static final long CACHE_BYTES_MIN = 1 << 10;

  private static final Setting EPSILON =
      Setting.integer("epsilon", "16", 1, 1_000)
          .meaning("greatest error of a model's prediction, in entries");
  private static final Setting DELTA =
      Setting.integer("delta", "16", 2, RolexLeafLayout.DELTA_MAX).meaning("entries of a leaf");
  private static final Setting LEAVES_MAX =
      Setting.integer("leaves-max", "63", 1, RunLayout.LEAVES_MAX)
          .meaning("greatest number of leaves of a model");
  private static final Setting RETRAINING =
      Setting.flag(
          "retraining", "on", "replace models that have many synonym leaves, else those pile up");
  private static final Setting RETRAINERS =
      Setting.integer("retrainers", "2", 1, 64)
          .meaning("background tasks of each compute server that retrain models");
  private static final Setting RETRAIN_FILL =
      Setting.number("retrain-fill", "0.7", 0.1, 1)
          .meaning("share of each leaf that retraining fills");
  private static final Setting SYNONYM_SHARE =
      Setting.number("synonym-share", "0.25", 0, 10)
          .meaning("synonym leaves to a leaf at which a model is retrained");
  private static final Setting MERGE_SHARE =
      mergeShare("0.25", 0.5, "fill below which a model is retrained together with a neighbour");

  private static final String ONE_SIDED = "one-sided";
  private static final String CALL = "call";

  private static final Setting WRITES =
      Setting.choice(
          "writes",
          ONE_SIDED,
          List.of(ONE_SIDED, CALL),
          "what changes leaves: sessions by one-sided verbs, or memory servers, asked by CALL");

  private static final RolexOptions DEFAULTS =
      new RolexOptions(
          "rolex",
          defaults(
              List.of(
                  EPSILON,
                  DELTA,
                  LEAVES_MAX,
                  WRITES,
                  RETRAINING,
                  RETRAINERS,
                  RETRAIN_FILL,
                  SYNONYM_SHARE,
                  MERGE_SHARE,
                  HANDOVERS,
                  LOCK_WAIT_MILLIS)));

  /** ROLEX. */
  public static final IndexSystem ROLEX =
      system("ROLEX", "learned models in place of inner nodes (FAST 2023)", rolex());

  /** XStore-D. */
  public static final IndexSystem XSTORE_D =
      system("XStore-D", "ROLEX's baseline: memory servers change leaves, by CALL", xstoreD())
          .withHandlers(() -> List.of(new RolexWrites()));

  private RolexOptions(String system, Settings settings) {
    super(system, settings);
  }

  @Override
  public long cacheBytesMin() {
    return CACHE_BYTES_MIN;
  }

  @Override
  protected void checkTogether() {
    PageLayout pages = new PageLayout(nodeBytes());
    assert pages.capacity() >= PageLayout.CAPACITY_MIN;
  }

  private static IndexSystem system(String title, String description, RolexOptions options) {
    RolexOptions tiny =
        options
            .with(DELTA.name(), "4")
            .with(EPSILON.name(), "4")
            .with(LEAVES_MAX.name(), "6")
            .withNodes(384, 8);
    return new IndexSystem(title, description, options, tiny)
        .withVariation(SYNONYM_SHARE.name(), "0", "0.5")
        .withVariation(MERGE_SHARE.name(), "0.25", "0.5")
        .withFastWarmUp();
  }

  /** Returns the options of ROLEX. docs/systems.md lists the differences from its paper. */
  public static RolexOptions rolex() {
    return DEFAULTS;
  }

  /**
   * Returns XStore-D (ROLEX, evaluation): XStore's learned cache over disaggregated memory. Reads
   * as ROLEX does, and has memory servers write.
   */
  public static RolexOptions xstoreD() {
    return new RolexOptions("xstore-d", DEFAULTS.settings().with(WRITES.name(), CALL));
  }

  /** Returns ROLEX, as {@link #rolex}. */
  public static RolexOptions defaults() {
    return rolex();
  }

  @Override
  protected RolexOptions withSettings(Settings changed) {
    return new RolexOptions(system(), changed);
  }

  /** Returns how far a prediction can be wrong, in entries. */
  public int epsilon() {
    return (int) settings().number(EPSILON);
  }

  /** Returns the entries of a leaf. */
  public int delta() {
    return (int) settings().number(DELTA);
  }

  /** Returns the maximum number of leaves of a model. */
  public int leavesMax() {
    return (int) settings().number(LEAVES_MAX);
  }

  /**
   * Returns whether memory servers change leaves, by CALL; else sessions do, by one-sided verbs.
   */
  public boolean writesByCall() {
    return settings().number(WRITES) != 0;
  }

  /** Returns whether models are retrained. */
  public boolean retraining() {
    return settings().isOn(RETRAINING);
  }

  /** Returns how many tasks of a compute server retrain. */
  public int retrainers() {
    return (int) settings().number(RETRAINERS);
  }

  /** Returns the share of each leaf that retraining fills. */
  public double retrainFill() {
    return settings().number(RETRAIN_FILL);
  }

  /** Returns how many synonym leaves to a leaf make a model due. */
  public double synonymShare() {
    return settings().number(SYNONYM_SHARE);
  }

  /** Returns the maximum number of local hand-overs of a lock in a row. */
  public int handovers() {
    return (int) settings().number(HANDOVERS);
  }

  /** Returns the longest wait for a lock that another session holds, in nanoseconds. */
  public long lockWaitNanos() {
    return ((long) settings().number(LOCK_WAIT_MILLIS)) * 1_000_000;
  }

  /** Returns these options with {@link #writesByCall()} on or off. */
  public RolexOptions withWritesByCall(boolean on) {
    return with(WRITES, on);
  }

  /** Returns these options with {@link #retraining()} on or off. */
  public RolexOptions withRetraining(boolean on) {
    return with(RETRAINING, on);
  }

  /** Every compute server serves every key. */
  @Override
  public boolean isPartitioned() {
    return false;
  }

  @Override
  public RolexIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new RolexIndex(fabric, this, first, count));
  }

  @Override
  public RolexIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new RolexIndex(fabric, this, first, count));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return RolexWalk.of(fabric, this, entries);
  }
}
