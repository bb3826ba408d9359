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

  /**
   * Sizes of the block, with and without its fences, in units of 8 bytes: two bytes each, as a
   * directory has many of these objects.
   */
  private final char units;

  private final char usedUnits;

  private BlockState(
      long word, long version, byte[] outline, BlockDelta delta, char units, char usedUnits) {
    this.word = word;
    this.version = version;
    this.outline = outline;
    this.delta = delta;
    this.units = units;
    this.usedUnits = usedUnits;
  }

  /** Returns the state of a block that is in a blob. */
  static BlockState of(long word, Block block, byte[] outline) {
    return new BlockState(
        word,
        block.version(),
        outline,
        BlockDelta.NONE,
        units(block.bytes().byteSize()),
        units(block.usedBytes()));
  }

  private static char units(long bytes) {
    return (char) Math.ceilDiv(bytes, Block.UNIT_BYTES);
  }

  /** Returns the state of a block that is in no blob. */
  static BlockState gone(byte[] outline) {
    return new BlockState(0, NONE, outline, BlockDelta.NONE, (char) 0, (char) 0);
  }

  /** Returns this state with other changes that wait. */
  BlockState with(BlockDelta changes) {
    return new BlockState(word, version, outline, changes, units, usedUnits);
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

  /** Returns the size of the block in bytes. */
  int bytes() {
    return units * Block.UNIT_BYTES;
  }

  /** Returns the size of the block without its fences, in bytes, up to a multiple of 8. */
  int usedBytes() {
    return usedUnits * Block.UNIT_BYTES;
  }

  /** Returns whether neither the block nor a change that waits is another one. */
  boolean isSameAs(BlockState other) {
    return version == other.version && delta.equals(other.delta);
  }
}
