package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.memory.KeyOrder;

/** Changes of a block in the order of their keys. Immutable. */
final class SortedChanges implements OrderedRecords {
  private static final int NUMBER_MASK = 0xffff;

  private final MemorySegment log;
  private final int prefixBytes;
  private final int[] places;

  /**
   * Sorts the changes of a block.
   *
   * @param prefixBytes that all keys of the block have in common
   */
  SortedChanges(BlockDelta delta, int prefixBytes) {
    this.log = delta.memory();
    this.prefixBytes = prefixBytes;
    this.places = sorted(delta);
  }

  /**
   * Returns the places of the changes. They are sorted by the first bytes of their keys and their
   * numbers first, in one array of numbers; the rest of the keys rarely matters.
   */
  private int[] sorted(BlockDelta delta) {
    long[] order = new long[delta.count()];
    for (int i = 0; i < order.length; i++) {
      int record = delta.record(i);
      long head = KeyOrder.head(log, suffix(record), suffixBytes(record)) ^ Long.MIN_VALUE;
      order[i] = (head & ~NUMBER_MASK) | i;
    }
    Arrays.sort(order);
    int[] sorted = new int[order.length];
    int alike = 0;
    for (int i = 0; i < order.length; i++) {
      boolean sameHead = i > 0 && (order[i] ^ order[i - 1]) >>> Short.SIZE == 0;
      alike = sameHead ? alike : i;
      insert(sorted, alike, i, delta.record((int) order[i] & NUMBER_MASK));
    }
    return sorted;
  }

  /** Puts a change among the last ones of so many, which begin like it. */
  private void insert(int[] sorted, int alike, int count, int record) {
    int at = count;
    while (at > alike && compareKeys(sorted[at - 1], record) > 0) {
      at--;
    }
    System.arraycopy(sorted, at, sorted, at + 1, count - at);
    sorted[at] = record;
  }

  private int compareKeys(int record, int other) {
    return KeyOrder.compare(
        log, suffix(record), suffixBytes(record), log, suffix(other), suffixBytes(other));
  }

  /** Returns where a key goes on behind what all keys of the block have in common. */
  private long suffix(int record) {
    return BlockSegment.suffix(record) + prefixBytes;
  }

  private long suffixBytes(int record) {
    return BlockSegment.suffixBytes(log, record) - (long) prefixBytes;
  }

  @Override
  public int count() {
    return places.length;
  }

  @Override
  public MemorySegment memory(int i) {
    return log;
  }

  @Override
  public int record(int i) {
    return places[i];
  }

  @Override
  public MemorySegment key(int i) {
    return log.asSlice(BlockSegment.suffix(places[i]), BlockSegment.suffixBytes(log, places[i]));
  }

  @Override
  public int compare(int i, MemorySegment key) {
    return KeyOrder.compare(
        log,
        suffix(places[i]),
        suffixBytes(places[i]),
        key,
        prefixBytes,
        key.byteSize() - prefixBytes);
  }

  /** Returns whether a change is that its key is not there. */
  boolean isRemoved(int i) {
    return BlockDelta.isRemoved(log, places[i]);
  }

  /**
   * Returns what {@link Block#find} returns of the keys of all changes in a block.
   *
   * @param block whose range has all keys
   */
  int[] findIn(Block block) {
    int[] found = new int[count()];
    int below = 0;
    for (int i = 0; i < found.length; i++) {
      found[i] = block.findBehind(key(i), below);
      below = OrderedRecords.upTo(found[i]);
    }
    return found;
  }
}
