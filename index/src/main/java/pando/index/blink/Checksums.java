package pando.index.blink;

/**
 * Multipliers for checksums of nodes. A checksum is the sum of the words, each times an odd
 * multiplier of its own.
 */
public final class Checksums {
  private Checksums() {}

  /** Returns odd pseudo-random multipliers, so that changes of several words do not cancel out. */
  public static long[] multipliers(int count) {
    long[] multipliers = new long[count];
    for (int i = 0; i < count; i++) {
      long z = (i + 0x632BE5ABL) * 0x9E3779B97F4A7C15L;
      multipliers[i] = ((z ^ (z >>> 29)) * 0xBF58476D1CE4E5B9L) | 1;
    }
    return multipliers;
  }
}
