package pando.index.bytes;

/**
 * Where a block is, in the pool and in the order of keys, and what has changed since. Immutable.
 */
final class BlockState {
  /** Version of no block. */
  private static final long NONE = -1;

  /** Of the blob that has the block; 0 if its range is with a neighbour, or is not known yet. */
  private final long word;

  /** Of the block; it never comes again, whereas a word may. */
  private final long version;

  private final byte[] outline;
  private final BlockDelta delta;

  /** Size of the block in bytes. */
  private final int bytes;

  private BlockState(long word, long version, byte[] outline, BlockDelta delta, int bytes) {
    this.word = word;
    this.version = version;
    this.outline = outline;
    this.delta = delta;
    this.bytes = bytes;
  }

  /** Returns the state of a block that is in a blob. */
  static BlockState of(long word, Block block, byte[] outline) {
    int bytes = (int) block.bytes().byteSize();
    return new BlockState(word, block.version(), outline, BlockDelta.NONE, bytes);
  }

  /** Returns the state of a block that is in no blob. */
  static BlockState gone(byte[] outline) {
    return new BlockState(0, NONE, outline, BlockDelta.NONE, 0);
  }

  /** Returns this state with other changes that wait. */
  BlockState with(BlockDelta changes) {
    return new BlockState(word, version, outline, changes, bytes);
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

  /** Returns the changes that are not in the block. */
  BlockDelta delta() {
    return delta;
  }

  int bytes() {
    return bytes;
  }

  /** Returns whether neither the block nor a change that waits is another one. */
  boolean isSameAs(BlockState other) {
    return version == other.version && delta.equals(other.delta);
  }
}
