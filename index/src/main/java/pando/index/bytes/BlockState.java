package pando.index.bytes;

/** Where a block is, in the pool and in the order of keys. Immutable. */
final class BlockState {
  /** Version of no block. */
  private static final long NONE = -1;

  /** Of the blob that has the block; 0 if its range is with a neighbour, or is not known yet. */
  private final long word;

  /** Of the block; it never comes again, whereas a word may. */
  private final long version;

  private final byte[] outline;

  BlockState(long word, long version, byte[] outline) {
    this.word = word;
    this.version = version;
    this.outline = outline;
  }

  /** Returns the state of a block that is in no blob. */
  static BlockState gone(byte[] outline) {
    return new BlockState(0, NONE, outline);
  }

  long word() {
    return word;
  }

  long version() {
    return version;
  }

  /** Returns the block's outline, which must not be changed. */
  byte[] outline() {
    return outline;
  }

  /** Returns whether there is no block, now or yet. */
  boolean isGone() {
    return word == 0;
  }
}
