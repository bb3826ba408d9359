package pando.index.orca;

import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.LongAdder;
import pando.index.orca.delta.Deltas;

/** The deltas as a holder of parts. */
final class DeltaParts implements PartHolder {
  /** A READ and a WRITE of a leaf, and three round trips. */
  private static final double MERGE_NANOS = 640 + 3 * TRIP_NANOS;

  /** Attempts to merge all blocks of a part away while sessions go on. */
  private static final int PASSES = 8;

  private final Deltas deltas;
  private final Merges merges;
  private final LongAdder forced;
  private double gain;

  /**
   * Creates the holder.
   *
   * @param forced counts merges for want of memory
   */
  DeltaParts(OrcaContext context, LongAdder forced) {
    this.deltas = context.server.deltas;
    this.merges = new Merges(context);
    this.forced = forced;
  }

  @Override
  public int parts() {
    return deltas.parts().length;
  }

  @Override
  public int partsMin() {
    return 1;
  }

  /** A delta that is twice as large is merged half as often. */
  @Override
  public void measure() {
    gain = forced.sumThenReset() * MERGE_NANOS / parts();
  }

  @Override
  public double gain() {
    return gain;
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
