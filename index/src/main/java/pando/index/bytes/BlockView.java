package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The records of a block and the changes that wait for it, in the order of the keys. Immutable. */
final class BlockView implements OrderedRecords {
  private final Block block;
  private final SortedChanges changes;

  /**
   * Of each record, its number in the block, or {@code -1 - i} where it is change i; {@code null}
   * if no change waits.
   */
  private final int @Nullable [] order;

  BlockView(Block block, BlockDelta delta) {
    this.block = block;
    this.changes = new SortedChanges(delta, block.prefixBytes());
    this.order = delta.count() == 0 ? null : order(block, changes);
  }

  private static int[] order(Block block, SortedChanges changes) {
    int[] order = new int[block.count() + changes.count()];
    int[] found = changes.findIn(block);
    int count = 0;
    int next = 0;
    for (int i = 0; i < found.length; i++) {
      int below = OrderedRecords.below(found[i]);
      while (next < below) {
        order[count++] = next++;
      }
      next = OrderedRecords.upTo(found[i]);
      if (!changes.isRemoved(i)) {
        order[count++] = -1 - i;
      }
    }
    while (next < block.count()) {
      order[count++] = next++;
    }
    return Arrays.copyOf(order, count);
  }

  /** Returns the block without the changes. */
  Block block() {
    return block;
  }

  @Override
  public int count() {
    return order == null ? block.count() : order.length;
  }

  /** Returns the number of a record in its block or, as {@code -1 - i}, among the changes. */
  private int place(int i) {
    return order == null ? i : order[i];
  }

  /** Returns what has a record. */
  private OrderedRecords source(int place) {
    return place < 0 ? changes : block;
  }

  private static int number(int place) {
    return place < 0 ? -1 - place : place;
  }

  @Override
  public MemorySegment memory(int i) {
    int place = place(i);
    return source(place).memory(number(place));
  }

  @Override
  public int record(int i) {
    int place = place(i);
    return source(place).record(number(place));
  }

  @Override
  public MemorySegment key(int i) {
    int place = place(i);
    return source(place).key(number(place));
  }

  /** Compares the key of a record with another one, which is in the range. */
  @Override
  public int compare(int i, MemorySegment key) {
    int place = place(i);
    return source(place).compare(number(place), key);
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
