package pando.index.bytes;

import java.lang.foreign.MemorySegment;

/** Records in the order of their keys, each in memory as in a {@link BlockSegment}. */
interface OrderedRecords {
  /** Returns the number of records. */
  int count();

  /** Returns the memory that a record is in. */
  MemorySegment memory(int i);

  /** Returns where a record is in its memory. */
  int record(int i);

  /** Returns the key of a record, in memory that does not change. */
  MemorySegment key(int i);

  /** Compares the key of a record with another one. */
  int compare(int i, MemorySegment key);

  /**
   * Returns the number of the record of a key, or {@code -1 - i} if there is none, with {@code i}
   * the number of records below the key.
   */
  default int find(MemorySegment key) {
    return find(key, 0, count());
  }

  /** Returns the number of records below a key, from what {@link #find} returned. */
  static int below(int found) {
    return found < 0 ? -1 - found : found;
  }

  /** Returns the number of records up to a key, from what {@link #find} returned. */
  static int upTo(int found) {
    return found < 0 ? -1 - found : found + 1;
  }

  /**
   * Returns what {@link #find(MemorySegment)} does, by a search that begins where a key before was
   * found: near it, in steps that double.
   *
   * @param below number of records that are known to be below the key
   */
  default int findBehind(MemorySegment key, int below) {
    int from = below;
    int to = below;
    for (int step = 1; to < count() && compare(to, key) < 0; step *= 2) {
      from = to + 1;
      to += step;
    }
    return find(key, from, Math.min(to + 1, count()));
  }

  private int find(MemorySegment key, int first, int last) {
    int from = first;
    int to = last;
    while (from < to) {
      int middle = (from + to) >>> 1;
      int compared = compare(middle, key);
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

  /** Returns what a record has as the length of its value. */
  default int valueLength(int i) {
    return BlockSegment.valueLength(memory(i), record(i));
  }

  /** Returns whether a record has the word of a blob in place of its value. */
  default boolean hasBlob(int i) {
    return BlockSegment.hasBlob(memory(i), record(i));
  }

  /** Returns the word of a record's blob. */
  default long word(int i) {
    return memory(i).get(Block.LONG, BlockSegment.stored(memory(i), record(i)));
  }

  /** Returns what is stored as a record's value: the value, or the word of a blob. */
  default MemorySegment stored(int i) {
    MemorySegment in = memory(i);
    return in.asSlice(BlockSegment.stored(in, record(i)), BlockSegment.storedBytes(in, record(i)));
  }
}
