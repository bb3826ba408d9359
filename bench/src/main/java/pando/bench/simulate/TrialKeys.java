package pando.bench.simulate;

import java.util.random.RandomGenerator;

/** A few hundred keys over the whole key space; a few of them are drawn most of the time. */
final class TrialKeys {
  static final int COUNT = 1_500;
  private static final int HOT = 12;
  private static final long STRIDE = Long.MAX_VALUE / COUNT * 2;

  long key(int number) {
    return (number - COUNT / 2) * STRIDE;
  }

  /** Draws a key to read or change. */
  long draw(RandomGenerator random) {
    if (random.nextInt(3) > 0) {
      return key(random.nextInt(COUNT));
    }
    // Some are neighbours, some are far from each other.
    int hot = random.nextInt(HOT);
    return key(hot < HOT / 2 ? COUNT / 2 + hot : hot * (COUNT / HOT));
  }

  /** Draws a key that may be between others. */
  long any(RandomGenerator random) {
    return key(random.nextInt(COUNT)) + random.nextInt(-1, 2);
  }
}
