package pando.bench.simulate;

/** Limits after which a run counts as stuck. */
final class Runs {
  /** A day of virtual time. */
  static final long NANOS_MAX = 86_400_000_000_000L;

  static final long EVENTS_MAX = Long.MAX_VALUE;

  private Runs() {}
}
