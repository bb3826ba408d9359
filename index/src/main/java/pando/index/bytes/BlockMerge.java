package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Makes another block of a block and its changes. */
final class BlockMerge {
  private final Block block;
  private final SortedChanges changes;

  /** Of the changes, in bytes. */
  private final int size;

  /** Of each change, what {@link Block#find} returns for its key. */
  private final int[] found;

  /** Of each change, the word of the blob that it replaces, 0 if there is none. */
  private final long[] replaced;

  /**
   * Looks each change up.
   *
   * @param block whose range has the keys of all changes
   */
  BlockMerge(Block block, BlockDelta delta) {
    this.block = block;
    this.changes = new SortedChanges(delta, block.prefixBytes());
    this.size = delta.size();
    this.found = changes.findIn(block);
    this.replaced = new long[found.length];
    for (int i = 0; i < found.length; i++) {
      replaced[i] = found[i] >= 0 && block.hasBlob(found[i]) ? block.word(found[i]) : 0;
    }
  }

  /**
   * Returns a copy of the block with the changes, {@code null} if one of them is more than a value
   * of the same length: so records and segments are where they were.
   */
  @Nullable Block patched() {
    for (int i = 0; i < found.length; i++) {
      if (!isPatch(i)) {
        return null;
      }
    }
    Block copy = block.copy();
    for (int i = 0; i < found.length; i++) {
      copy.stored(found[i]).copyFrom(changes.stored(i));
    }
    return copy;
  }

  private boolean isPatch(int i) {
    return found[i] >= 0
        && !changes.isRemoved(i)
        && block.valueLength(found[i]) == changes.valueLength(i);
  }

  /** Returns a block of the records and the changes. */
  Block merged() {
    if (found.length == 0) {
      return block;
    }
    @Nullable MemorySegment high = block.hasHigh() ? block.high() : null;
    long guess = block.bytes().byteSize() + BlockSegment.BYTES_MAX + size;
    BlockWriter writer = new BlockWriter(block.low(), high, guess);
    int next = 0;
    for (int i = 0; i < found.length; i++) {
      writer.addAll(block, next, OrderedRecords.below(found[i]));
      next = OrderedRecords.upTo(found[i]);
      if (!changes.isRemoved(i)) {
        writer.add(changes, i);
      }
    }
    writer.addAll(block, next, block.count());
    return writer.finish();
  }

  /** Returns whether all changes are behind the records of the block. */
  boolean ascends() {
    return found[0] == -1 - block.count();
  }

  /**
   * Frees the values of the block that the changes have replaced. The block may be gone by now.
   *
   * @param by the block that has the changes
   */
  void freeReplaced(BlockEntry by, Superseded superseded) {
    for (int i = 0; i < replaced.length; i++) {
      if (replaced[i] != 0) {
        superseded.free(by, ByteKeyHash.of(changes.key(i)), replaced[i]);
      }
    }
  }
}
