package pando.index.orca;

import pando.fabric.Fabric;
import pando.index.IndexSystem;
import pando.index.Tree;
import pando.index.host.HostedIndex;
import pando.index.host.Overlay;
import pando.index.settings.Settings;

/** The settings of ORCA. Immutable. */
@SuppressWarnings("exports") // The base is the module's own; what it makes public is this class's.
public final class OrcaOptions extends OrcaSettings<OrcaOptions> {
  private static final OrcaOptions DEFAULTS =
      new OrcaOptions(initial()).withNodeBytes(LEAF_BYTES_MAX);

  /** ORCA. */
  public static final IndexSystem ORCA =
      new IndexSystem(
              "ORCA",
              "ownership, a cache of single records, leaves published out of place",
              DEFAULTS,
              DEFAULTS.with(PAGE_CHILDREN.name(), "4").withWriteBackNanos(0).withNodes(512, 31))
          .withVariation(MERGE_SHARE.name(), "0.5", "0.25")
          .withVariation(DELTA_CHANGES.name(), "2", "255")
          .withVariation(TWIN.name(), "on", "off")
          .withVariation(SHARES_MOVE.name(), "on", "off")
          .withVariation(MERGERS.name(), "2", "0")
          .withVariation(IMAGE_SHARE.name(), "0", "0.34")
          .withVariation(CACHE.name(), "records", "segments");

  private OrcaOptions(Settings settings) {
    super(settings);
  }

  /** Returns the defaults. */
  public static OrcaOptions defaults() {
    return DEFAULTS;
  }

  @Override
  protected OrcaOptions withSettings(Settings changed) {
    return new OrcaOptions(changed);
  }

  /** Returns these options with {@link #neighbours()} on or off. */
  public OrcaOptions withNeighbours(boolean on) {
    return with(NEIGHBOURS, on);
  }

  /** Returns these options with {@link #twin()} on or off. */
  public OrcaOptions withTwin(boolean on) {
    return with(TWIN, on);
  }

  /** Returns these options with {@link #filters()} on or off. */
  public OrcaOptions withFilters(boolean on) {
    return with(FILTERS, on);
  }

  /** Returns these options with {@link #sharesMove()} on or off. */
  public OrcaOptions withSharesMove(boolean on) {
    return with(SHARES_MOVE, on);
  }

  /** Returns these options with another greatest age of changes in local memory. */
  public OrcaOptions withWriteBackNanos(long nanos) {
    return with(WRITE_BACK_INTERVAL, (double) nanos);
  }

  @Override
  public OrcaIndex create(Fabric fabric, int first, int count) {
    return HostedIndex.made(new OrcaIndex(fabric, this, first, count));
  }

  @Override
  public OrcaIndex join(Fabric fabric, int first, int count) {
    return HostedIndex.joined(new OrcaIndex(fabric, this, first, count));
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
  public OrcaIndex createAt(Fabric fabric, int number) {
    return OrcaIndex.createAt(fabric, this, number, Overlay.NONE);
  }

  @Override
  public OrcaIndex joinAt(Fabric fabric, int number) {
    return OrcaIndex.joinAt(fabric, this, number, Overlay.NONE);
  }

  @Override
  public Tree walk(Fabric fabric, boolean entries) {
    return OrcaWalk.of(fabric, this, entries);
  }
}
