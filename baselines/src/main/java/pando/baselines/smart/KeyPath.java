package pando.baselines.smart;

/**
 * The eight bytes of a key as a path through the tree, the first byte in the highest bits of a
 * word. The sign bit is turned, so that paths as unsigned numbers have the order of their keys. A
 * prefix is a path whose bytes from some depth on are 0.
 */
final class KeyPath {
  /** Number of bytes of a whole path. */
  static final int BYTES = Long.BYTES;

  private KeyPath() {}

  /** Returns the path of a key. */
  static long of(long key) {
    return key ^ Long.MIN_VALUE;
  }

  /** Returns the key of a whole path. */
  static long key(long path) {
    return path ^ Long.MIN_VALUE;
  }

  /** Returns the byte, 0 to 255, that a node at a depth, 0 to 7, looks at. */
  static int byteAt(long path, int depth) {
    return (int) (path >>> (Long.SIZE - Byte.SIZE - Byte.SIZE * depth)) & 0xFF;
  }

  /** Returns the first bytes of a path, so many as the depth, 0 to 8; the others are 0. */
  static long prefix(long path, int depth) {
    return path & ~rest(depth);
  }

  /** Returns whether a path begins with a prefix of so many bytes. */
  static boolean startsWith(long path, long prefix, int depth) {
    return prefix(path, depth) == prefix;
  }

  /** Returns a prefix that is longer by a byte, and 0 behind it. */
  static long child(long prefix, int depth, int nextByte) {
    return prefix | ((long) nextByte << (Long.SIZE - Byte.SIZE - Byte.SIZE * depth));
  }

  /** Returns the greatest path with a prefix; the prefix itself is the least. */
  static long greatest(long prefix, int depth) {
    return prefix | rest(depth);
  }

  /** Returns how many bytes two paths have in common at their beginning, 0 to 8. */
  static int common(long one, long other) {
    return Long.numberOfLeadingZeros(one ^ other) / Byte.SIZE;
  }

  /** Mixes a word: each bit of the result depends on many of its bits. */
  static long mix(long word) {
    long z = (word ^ (word >>> 32)) * 0xBF58_476D_1CE4_E5B9L;
    return z ^ (z >>> 29);
  }

  private static long rest(int depth) {
    return depth == BYTES ? 0 : -1L >>> (Byte.SIZE * depth);
  }
}
