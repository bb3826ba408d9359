package pando.index.blob;

/**
 * The sizes that blobs have in the pool: multiples of 64 bytes up to 512, and from there four sizes
 * between a power of two and the next. A blob takes the least that is enough, so of a longer one at
 * most a fifth is slack.
 */
final class BlobClasses {
  /** Number of a class has so many bits. */
  static final int BITS = 6;

  /** Greatest size in any pool. */
  static final int BYTES_MAX = 1 << 20;

  private static final int STEP_BYTES = 64;

  /** Up to this power of two, sizes are all multiples of the step. */
  private static final int LINEAR_SHIFT = 9;

  private static final int LINEAR = (1 << LINEAR_SHIFT) / STEP_BYTES;

  /** A chunk of the pool has room for so many blobs of the greatest size. */
  private static final int OF_CHUNK = 8;

  private final int count;

  /**
   * Creates the classes of a pool.
   *
   * @param chunkBytes size of the pool's chunks, at least 512
   */
  BlobClasses(int chunkBytes) {
    int greatest = Math.min(BYTES_MAX, chunkBytes / OF_CHUNK);
    int classes = 0;
    while (classes < 1 << BITS && sizeOf(classes) <= greatest) {
      classes++;
    }
    this.count = classes;
  }

  /** Returns the number of classes. */
  int count() {
    return count;
  }

  /** Returns the size of a class in bytes. */
  int bytes(int number) {
    return sizeOf(number);
  }

  /** Returns the greatest size in bytes. */
  int bytesMax() {
    return sizeOf(count - 1);
  }

  /**
   * Returns the class for so many bytes.
   *
   * @param bytes 1 to {@link #bytesMax}
   */
  int of(int bytes) {
    int last = bytes - 1;
    if (last < 1 << LINEAR_SHIFT) {
      return last / STEP_BYTES;
    }
    int shift = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(last);
    int quarter = (last >>> (shift - 2)) & 3;
    return LINEAR + 4 * (shift - LINEAR_SHIFT) + quarter;
  }

  private static int sizeOf(int number) {
    if (number < LINEAR) {
      return (number + 1) * STEP_BYTES;
    }
    int shift = LINEAR_SHIFT + (number - LINEAR) / 4;
    int quarter = (number - LINEAR) % 4;
    return (5 + quarter) << (shift - 2);
  }
}
