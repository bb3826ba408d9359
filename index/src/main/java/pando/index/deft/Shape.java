package pando.index.deft;

/**
 * How the entries of an inner node are divided: into four parts, two, or one, found by computation
 * (DEFT section 4.2). A key is in the quarter {@code (key - low) >>> shift}, and in the last one
 * where that is beyond it; a half is two quarters. The shift is chosen for the keys that are there,
 * so that clustered ones, and fences 2^64 apart, are divided as well.
 *
 * <p>A number from 0 to {@value #MAX}: 0 for one part, 1 + shift for four, 64 + shift for two.
 */
final class Shape {
  static final int WHOLE = 0;
  static final int QUARTERS = 4;
  static final int HALVES = 2;
  static final int SHIFT_MAX = 62;
  static final int MAX = 126;

  private static final int FOUR = 1;
  private static final int TWO = FOUR + SHIFT_MAX + 1;

  private Shape() {}

  /** Returns the shape of so many parts, which is {@link #WHOLE} for one. */
  static int of(int parts, int shift) {
    return parts == 1 ? WHOLE : shift + (parts == QUARTERS ? FOUR : TWO);
  }

  /** Returns the number of parts: 1, 2 or 4. */
  static int parts(int shape) {
    return shape == WHOLE ? 1 : shape < TWO ? QUARTERS : HALVES;
  }

  private static int shift(int shape) {
    return shape < TWO ? shape - FOUR : shape - TWO;
  }

  /** Returns the part in which a key is, of a node that covers it. */
  static int partOf(int shape, long low, long key) {
    return shape == WHOLE ? 0 : quarter(low, key, shift(shape)) * parts(shape) / QUARTERS;
  }

  private static int quarter(long low, long key, int shift) {
    long quarter = (key - low) >>> shift;
    return Long.compareUnsigned(quarter, QUARTERS) < 0 ? (int) quarter : QUARTERS - 1;
  }

  /** Returns the greatest key of a part, of a node that covers none above {@code high}. */
  static long highOfPart(int shape, long low, long high, int part) {
    int parts = parts(shape);
    if (part == parts - 1) {
      return high;
    }
    long next = ((part + 1L) * (QUARTERS / parts)) << shift(shape);
    return Long.compareUnsigned(next, high - low) > 0 ? high : low + next - 1;
  }

  /** Returns the least key of a part, of a node that covers keys there. */
  static long lowOfPart(int shape, long low, int part) {
    return part == 0 ? low : low + (((long) part * (QUARTERS / parts(shape))) << shift(shape));
  }
}
