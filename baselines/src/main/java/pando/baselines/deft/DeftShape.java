package pando.baselines.deft;

/**
 * How the entries of an inner node are divided: into four parts, two, or one. The part of a key is
 * computed (DEFT section 4.2): the key is in quarter {@code (key - low) >>> shift}, at most the
 * last one; a half is two quarters. The shift is chosen for the node's keys, so that clustered keys
 * and fences 2^64 apart are divided well, too.
 *
 * <p>A shape is a number from 0 to {@value #MAX}: 0 for one part, 1 + shift for four, 64 + shift
 * for two.
 */
final class DeftShape {
  static final int WHOLE = 0;
  static final int QUARTERS = 4;
  static final int HALVES = 2;
  static final int SHIFT_MAX = 62;
  static final int MAX = 126;

  private static final int FOUR = 1;
  private static final int TWO = FOUR + SHIFT_MAX + 1;

  private DeftShape() {}

  /** Returns the shape with 1, 2 or 4 parts; for one part {@link #WHOLE}. */
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

  /** Returns the part of a key in a node that covers the key. */
  static int partOf(int shape, long low, long key) {
    return shape == WHOLE ? 0 : quarter(low, key, shift(shape)) * parts(shape) / QUARTERS;
  }

  private static int quarter(long low, long key, int shift) {
    long quarter = (key - low) >>> shift;
    return Long.compareUnsigned(quarter, QUARTERS) < 0 ? (int) quarter : QUARTERS - 1;
  }

  /** Returns the greatest key of a part of a node whose greatest key is {@code high}. */
  static long highOfPart(int shape, long low, long high, int part) {
    int parts = parts(shape);
    if (part == parts - 1) {
      return high;
    }
    long next = ((part + 1L) * (QUARTERS / parts)) << shift(shape);
    return Long.compareUnsigned(next, high - low) > 0 ? high : low + next - 1;
  }

  /** Returns the least key of a part of a node whose least key is {@code low}. */
  static long lowOfPart(int shape, long low, int part) {
    return part == 0 ? low : low + (((long) part * (QUARTERS / parts(shape))) << shift(shape));
  }
}
