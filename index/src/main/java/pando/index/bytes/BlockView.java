package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The records of a block and the changes that wait for it, in the order of the keys. Immutable. */
final class BlockView {
  private final Block block;
  private final BlockDelta delta;

  /** Of each change, what {@link Block#find} returns for its key. */
  private final int[] replaced;

  /**
   * Of each record, its number in the block, or {@code -1 - i} where it is change i; {@code null}
   * if no change waits.
   */
  private final int @Nullable [] order;

  BlockView(Block block, BlockDelta delta) {
    this.block = block;
    this.delta = delta;
    this.replaced = new int[delta.count()];
    for (int i = 0; i < replaced.length; i++) {
      replaced[i] = block.find(delta.key(i));
    }
    this.order = delta.count() == 0 ? null : order();
  }

  private int[] order() {
    int[] order = new int[block.count() + delta.count()];
    int count = 0;
    int next = 0;
    for (int i = 0; i < delta.count(); i++) {
      int found = replaced[i];
      int below = found < 0 ? -1 - found : found;
      while (next < below) {
        order[count++] = next++;
      }
      next = found < 0 ? below : below + 1;
      if (!delta.isRemoved(i)) {
        order[count++] = -1 - i;
      }
    }
    while (next < block.count()) {
      order[count++] = next++;
    }
    return Arrays.copyOf(order, count);
  }

  Block block() {
    return block;
  }

  BlockDelta delta() {
    return delta;
  }

  /**
   * Returns the number of the block's record that a change replaces, or {@code -1 - i} if there is
   * none, with {@code i} the number of the block's records below.
   */
  int replaced(int change) {
    return replaced[change];
  }

  /** Returns the number of records. */
  int count() {
    return order == null ? block.count() : order.length;
  }

  /** Returns the number of a record in its block or, as {@code -1 - i}, among the changes. */
  private int place(int i) {
    return order == null ? i : order[i];
  }

  /** Returns whether a record is that of the block. */
  boolean isOfBlock(int i) {
    return place(i) >= 0;
  }

  /** Returns the number of the record of the block. */
  int numberInBlock(int i) {
    return place(i);
  }

  /**
   * Returns the number of the record of a key, or {@code -1 - i} if there is none, with {@code i}
   * the number of records below the key.
   *
   * @param key in the range
   */
  int find(MemorySegment key) {
    if (order == null) {
      return block.find(key);
    }
    int from = 0;
    int to = order.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      int place = order[middle];
      int compared = place < 0 ? delta.compare(-1 - place, key) : block.compare(place, key);
      if (compared == 0) {
        return middle;
      }
      if (compared < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return -1 - from;
  }

  /** Returns a key, in memory that does not change. */
  MemorySegment key(int i) {
    int place = place(i);
    return place < 0 ? delta.key(-1 - place) : block.key(place);
  }

  /** Returns whether a record has the word of a blob in place of its value. */
  boolean hasBlob(int i) {
    int place = place(i);
    return place < 0 ? delta.hasBlob(-1 - place) : block.hasBlob(place);
  }

  /** Returns the word of a record's blob. */
  long word(int i) {
    int place = place(i);
    return place < 0 ? delta.word(-1 - place) : block.word(place);
  }

  /** Returns what is stored as a record's value: the value, or the word of a blob. */
  MemorySegment stored(int i) {
    int place = place(i);
    return place < 0 ? delta.stored(-1 - place) : block.stored(place);
  }

  /** Returns the first key of the range. */
  MemorySegment low() {
    return block.low();
  }

  /** Returns whether the range has an end. */
  boolean hasHigh() {
    return block.hasHigh();
  }

  /** Returns the first key behind the range, which {@link #hasHigh has an end}. */
  MemorySegment high() {
    return block.high();
  }
}
