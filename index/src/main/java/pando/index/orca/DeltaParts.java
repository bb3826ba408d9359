package pando.index.orca;

import java.util.Arrays;
import java.util.Comparator;
import pando.index.orca.delta.Deltas;

/** The deltas as a holder of parts. */
final class DeltaParts extends MeasuredParts {
  /** Merges that count for the average of changes. */
  private static final int MEMORY = 64;

  /** Attempts to merge all blocks of a part away while sessions go on. */
  private static final int PASSES = 8;

  private final PoolCosts costs;
  private final Deltas deltas;
  private final OrcaMerges merges;
  private final CacheUse use;

  /** Changes of a leaf that is merged, for each part, on the average; 0 before the first one. */
  private double changesOfPart;

  /** Creates the holder. */
  DeltaParts(OrcaContext context, PoolCosts costs) {
    this.costs = costs;
    this.deltas = context.deltas;
    this.merges = new OrcaMerges(context);
    this.use = context.use;
  }

  @Override
  int parts() {
    return deltas.parts().length;
  }

  @Override
  int partsMin() {
    return 1;
  }

  /**
   * With twice as many parts a leaf has twice as many changes when it is merged. So merges are
   * reckoned from the changes that come: few windows have a merge where few keys are inserted.
   */
  @Override
  void measure() {
    int parts = parts();
    long merged = use.merges.sumThenReset();
    if (merged > 0) {
      double sample = (double) use.changesMerged.sumThenReset() / (double) merged / parts;
      double kept = changesOfPart == 0 ? 0 : Math.pow(1 - 1.0 / MEMORY, (double) merged);
      changesOfPart = kept * changesOfPart + (1 - kept) * sample;
    }
    long come = use.changes.sumThenReset();
    double expected = changesOfPart == 0 ? 0 : (double) come / (changesOfPart * parts);
    double saved = expected * costs.merge() / parts;
    note(saved, saved);
  }

  @Override
  public boolean has(int part) {
    return deltas.has(part);
  }

  /** Returns the emptiest one. */
  @Override
  public int next() {
    return Arrays.stream(deltas.parts())
        .boxed()
        .min(Comparator.comparingLong(deltas::bytesUsed))
        .orElseThrow();
  }

  /** Merges the leaves whose deltas are in the part. */
  @Override
  public void empty(int part) {
    deltas.retire(part);
    for (int pass = 0; pass < PASSES && deltas.bytesUsed(part) > 0; pass++) {
      merges.mergePart(part);
    }
  }

  @Override
  public boolean release(int part) {
    return deltas.bytesUsed(part) == 0;
  }

  @Override
  public void receive(int part) {
    deltas.add(part);
  }

  @Override
  public void takeBack(int part) {
    deltas.add(part);
  }
}
