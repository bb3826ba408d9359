package pando.bench.simulate;

/** Counts the starts and ends of operations, in the order in which they really happen. */
final class TrialClock {
  private long ticks;

  long tick() {
    return ++ticks;
  }
}
