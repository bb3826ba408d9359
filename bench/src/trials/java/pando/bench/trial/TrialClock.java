package pando.bench.trial;

/** A clock that counts the starts and ends of operations, in the order in which they happen. */
final class TrialClock {
  private long ticks;

  long tick() {
    return ++ticks;
  }
}
