package pando.baselines.rolex;

/**
 * Lines that predict the position of a key, each in one word.
 *
 * <pre>
 *  63                     32 31                      0
 * +-------------------------+-------------------------+
 * | slope (float)           | intercept (float)       |
 * +-------------------------+-------------------------+
 * </pre>
 *
 * <p>A line starts at a key, its low, which stands elsewhere. The nearer that is to the keys, the
 * less of a position is lost in the intercept's 24 bits. Arithmetic alone: no word throws; a line
 * from the pool is {@linkplain #isSound looked at} before its positions are followed.
 */
final class Line {
  /** The line that is 0 everywhere. */
  static final long ZERO = 0;

  private static final int SLOPE_SHIFT = 32;
  private static final long INTERCEPT_MASK = 0xFFFF_FFFFL;

  private Line() {}

  /**
   * Returns a line, its parts rounded to floats.
   *
   * @param slope positions by key, at least 0; else, and where it or the intercept is beyond
   *     floats, the line is not sound
   * @param intercept the position of the low
   */
  static long of(double slope, double intercept) {
    return ((long) Float.floatToRawIntBits((float) slope) << SLOPE_SHIFT)
        | (Float.floatToRawIntBits((float) intercept) & INTERCEPT_MASK);
  }

  /**
   * Returns whether a line has finite parts and does not fall. Then every position is finite, and
   * that of a greater key is no less.
   */
  static boolean isSound(long line) {
    float slope = slope(line);
    return slope >= 0 && Float.isFinite(slope) && Float.isFinite(intercept(line));
  }

  /**
   * Returns the position of a key.
   *
   * @param low where the line starts, at most the key: one below counts as far above
   */
  static double at(long line, long low, long key) {
    return at(line, distance(low, key));
  }

  /** Returns the position of the key at a {@linkplain #distance distance} from the low. */
  static double at(long line, double distance) {
    return intercept(line) + slope(line) * distance;
  }

  /** Returns how far a key, at least low, is from it, from 0 to 2^64; rounded to nearest. */
  static double distance(long low, long key) {
    long distance = key - low;
    // A cast takes bit 63 for a sign. Halved, the lowest bit only separates a tie from what is
    // above.
    return distance >= 0 ? distance : ((distance >>> 1) | (distance & 1)) * 2.0;
  }

  private static float slope(long line) {
    return Float.intBitsToFloat((int) (line >>> SLOPE_SHIFT));
  }

  private static float intercept(long line) {
    return Float.intBitsToFloat((int) line);
  }
}
