package pando.baselines.emt;

import java.util.List;
import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.pool.Arguments;
import pando.index.settings.Setting;
import pando.index.settings.Settings;
import pando.index.settings.SystemOptions;

/** The settings of EMT-D. Immutable. */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class EmtOptions extends SystemOptions<EmtOptions> {
  /** Maximum number of sessions of a compute server. */
  public static final int SESSIONS_MAX = 4096;

  private static final Setting ROWS =
      Setting.integer("rows", "250", 1, EmtMessage.ROWS_MAX)
          .meaning("greatest number of entries that a CALL of a scan returns");
  private static final Setting KEPT_NODES =
      Setting.integer("kept-nodes", "64", 1, EmtMessage.NODES_MAX / 2)
          .meaning("free nodes that a tree is given at a time, and keeps of those that it frees");

  private static final EmtOptions DEFAULTS =
      new EmtOptions(
          "emt-d", defaults(List.of(ROWS, KEPT_NODES)).with("node-bytes", "320"));

  /** EMT-D. */
  public static final IndexSystem EMT_D =
      new IndexSystem(
              "EMT-D",
              "ROLEX's two-sided peer: a tree in each memory server, every operation by CALL",
              DEFAULTS,
              DEFAULTS
                  .withNodes(EmtNode.BYTES_MIN, 8)
                  .with(KEPT_NODES.name(), "8")
                  .with(ROWS.name(), "7"))
          .withVariation(KEPT_NODES.name(), "1", "16")
          .withHandlers(() -> List.of(new EmtHandler()))
          .withFastWarmUp();

  private EmtOptions(String system, Settings settings) {
    super(system, settings);
  }

  /** Returns the options of EMT-D. docs/systems.md lists the differences from its paper. */
  public static EmtOptions defaults() {
    return DEFAULTS;
  }

  @Override
  protected EmtOptions withSettings(Settings changed) {
    return new EmtOptions(system(), changed);
  }

  /** There is no cache. */
  @Override
  public long cacheBytesMin() {
    return 1;
  }

  @Override
  protected void checkTogether() {
    Arguments.checkNodeBytes(nodeBytes(), EmtNode.BYTES_MIN, EmtNode.BYTES_MAX);
  }

  /** Returns the greatest number of entries that a CALL of a scan returns. */
  public int rows() {
    return (int) settings().number(ROWS);
  }

  /** Returns how many free nodes a tree is given at a time, and keeps. */
  public int keptNodes() {
    return (int) settings().number(KEPT_NODES);
  }

  /** Every compute server serves every key. */
  @Override
  public boolean isPartitioned() {
    return false;
  }

  @Override
  public EmtIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new EmtIndex(fabric, this, first, count));
  }

  @Override
  public EmtIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new EmtIndex(fabric, this, first, count));
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return EmtWalk.of(fabric, this, entries);
  }
}
