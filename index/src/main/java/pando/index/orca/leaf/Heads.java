package pando.index.orca.leaf;

/**
 * The small numbers by which the segment of a key is found.
 *
 * <p>The number q of a key is its distance from the leaf's low fence without the lowest {@code
 * shift} bits. Distances are unsigned, so a leaf may cover all keys. The head of a segment is the
 * least q of its keys; as leaves are cut only where q changes, a key belongs to the last segment
 * whose head is not above its q.
 *
 * <p>Heads have a width of 1, 2 or 8 bytes. The shift is the least with which the q of the high
 * fence fits that width. So a wide range of keys has 128 to 256 different q of one byte, and with
 * heads of 8 bytes each key has its own.
 */
public final class Heads {
  private Heads() {}

  /** Returns whether heads can have this width. */
  static boolean isWidth(int width) {
    return width == Byte.BYTES || width == Short.BYTES || width == Long.BYTES;
  }

  /**
   * Returns the shift of a leaf's heads.
   *
   * @param low low fence
   * @param high high fence, not below {@code low}
   * @param width bytes of a head: 1, 2 or 8
   */
  public static int shift(long low, long high, int width) {
    if (low > high || !isWidth(width)) {
      throw new IllegalArgumentException(
          "no such heads: low=" + low + ", high=" + high + ", width=" + width);
    }
    int rangeBits = Long.SIZE - Long.numberOfLeadingZeros(high - low);
    return Math.max(0, rangeBits - width * Byte.SIZE);
  }

  /** Returns the q of a key that is not below the low fence; unsigned. */
  public static long q(long key, long low, int shift) {
    return (key - low) >>> shift;
  }
}
