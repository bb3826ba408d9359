package pando.index;

import pando.fabric.VerbCounters;

/** What operations of an index cost. */
public final class Costs {
  private Costs() {}

  /** Runs something and returns the verbs that it took. */
  public static VerbCounters of(Metered index, Runnable operations) {
    VerbCounters before = index.verbs().copy();
    operations.run();
    VerbCounters verbs = index.verbs().copy();
    verbs.subtract(before);
    return verbs;
  }

  /** Returns verbs as text. */
  public static String text(VerbCounters verbs) {
    return "reads=%d, writes=%d, atomics=%d, calls=%d, trips=%d, in=%d, out=%d"
        .formatted(
            verbs.reads,
            verbs.writes,
            verbs.atomics,
            verbs.calls,
            verbs.roundTrips,
            verbs.bytesIn,
            verbs.bytesOut);
  }
}
