package pando.index.blink;

/** What checksums of nodes have in common: sums of words, each times an odd number of its own. */
public final class Checksums {
  private Checksums() {}

  /**
   * Returns odd numbers without a pattern, so that changes of several words do not make up for each
   * other.
   */
  public static long[] multipliers(int count) {
    long[] multipliers = new long[count];
    for (int i = 0; i < count; i++) {
      long z = (i + 0x632BE5ABL) * 0x9E3779B97F4A7C15L;
      multipliers[i] = ((z ^ (z >>> 29)) * 0xBF58476D1CE4E5B9L) | 1;
    }
    return multipliers;
  }
}
