package pando.bench.trial;

import java.util.random.RandomGenerator;

/** Some keys over the whole key space, of which a few are drawn often. */
final class TrialKeys {
  private static final int HOT = 12;

  private final int count;
  private final long stride;

  TrialKeys(int count) {
    this.count = count;
    this.stride = Long.MAX_VALUE / count * 2;
  }

  int count() {
    return count;
  }

  long key(int number) {
    return (number - count / 2) * stride;
  }

  /** Draws a key to read or change. */
  long draw(RandomGenerator random) {
    if (random.nextInt(3) > 0) {
      return key(random.nextInt(count));
    }
    // Some are neighbours, some are far from each other.
    int hot = random.nextInt(HOT);
    return key(hot < HOT / 2 ? count / 2 + hot : hot * (count / HOT));
  }

  /** Draws a key that may be between others. */
  long any(RandomGenerator random) {
    return key(random.nextInt(count)) + random.nextInt(-1, 2);
  }
}
