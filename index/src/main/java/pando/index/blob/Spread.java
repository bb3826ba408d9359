package pando.index.blob;

/** Spreads the bits of numbers, for sums and hashes. */
public final class Spread {
  static final long ODD = 0x9E3779B97F4A7C15L;
  static final long OTHER_ODD = 0xBF58476D1CE4E5B9L;

  private Spread() {}

  /**
   * Returns a number of which each bit depends on all bits of another one; no two have the same.
   */
  public static long of(long bits) {
    long spread = (bits ^ bits >>> 29) * OTHER_ODD;
    return (spread ^ spread >>> 32) * ODD;
  }
}
