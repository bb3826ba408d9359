package pando.journal;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.memory.KeyOrder;

/**
 * Sorts the records of a segment by key. Of records with the same key the last one counts.
 *
 * <p>What is sorted are numbers of records, beside 8 bytes of each one's key, its <em>head</em>, by
 * radix and in place: all that a run of records has in common is skipped, then the run is split by
 * the first byte that differs. A run whose heads are equal gets the next 8 bytes as heads; once all
 * its keys are at their end, their lengths; and if these are equal, too, it is one key. Runs of few
 * records are sorted by insertion. A record is no object and takes 22 bytes, and no byte of a key
 * is looked at more than twice.
 */
final class SegmentSorter {
  private static final int CAPACITY = 1_024;

  /** Runs of at most so many records are sorted by insertion. */
  private static final int FEW = 24;

  private static final int DIGITS = 1 << Byte.SIZE;

  /** In place of the depth of a run: its heads are the lengths of the keys. */
  private static final int LENGTHS = -1;

  /** In place of a record's number: a later one has the same key. */
  private static final int SUPERSEDED = -1;

  private final MemorySegment memory;
  private int count;
  private int[] keyAt = new int[CAPACITY];
  private char[] keyBytes = new char[CAPACITY];
  private int[] valueBytes = new int[CAPACITY];

  private long[] heads = {};
  private int[] order = {};
  private boolean isSorted;

  /** Runs that are still to be sorted: first place, end, depth of their heads. */
  private int[] runs = new int[3 * DIGITS];

  private int runsUsed;
  private final int[] ends = new int[DIGITS];

  /**
   * Creates a sorter without records.
   *
   * @param memory the records' memory, less than 2 GiB. It stays as it is while this is used
   */
  SegmentSorter(MemorySegment memory) {
    if (memory.byteSize() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a segment of %d bytes".formatted(memory.byteSize()));
    }
    this.memory = memory;
  }

  /** Returns whether there are no records. */
  boolean isEmpty() {
    return count == 0;
  }

  /**
   * Adds a change that comes after all before.
   *
   * @param keyAt place of its key, with the value right behind
   * @param keyBytes at most 65,535
   * @param valueBytes -1 if the key was removed
   */
  void add(long keyAt, int keyBytes, int valueBytes) {
    if (isSorted) {
      throw new IllegalStateException("the records are sorted already");
    }
    if (count == this.keyAt.length) {
      int more = count + count / 2;
      this.keyAt = Arrays.copyOf(this.keyAt, more);
      this.keyBytes = Arrays.copyOf(this.keyBytes, more);
      this.valueBytes = Arrays.copyOf(this.valueBytes, more);
    }
    this.keyAt[count] = Math.toIntExact(keyAt);
    this.keyBytes[count] = (char) keyBytes;
    this.valueBytes[count] = valueBytes;
    count++;
  }

  /** Returns a stream of the last record of each key. From now on nothing can be added. */
  EntryStream sorted() {
    if (!isSorted) {
      sort();
      isSorted = true;
    }
    return new LastRecords();
  }

  private void sort() {
    order = new int[count];
    heads = new long[count];
    for (int i = 0; i < count; i++) {
      order[i] = i;
    }
    fillHeads(0, count, 0);
    push(0, count, 0);
    while (runsUsed > 0) {
      runsUsed -= 3;
      sortRun(runs[runsUsed], runs[runsUsed + 1], runs[runsUsed + 2]);
    }
    heads = new long[0];
  }

  /** Has a run sorted later, or now if it is short. */
  private void push(int from, int to, int depth) {
    if (to - from <= FEW) {
      insertAll(from, to, depth);
      return;
    }
    if (runsUsed == runs.length) {
      runs = Arrays.copyOf(runs, 2 * runsUsed);
    }
    runs[runsUsed] = from;
    runs[runsUsed + 1] = to;
    runs[runsUsed + 2] = depth;
    runsUsed += 3;
  }

  private void sortRun(int from, int to, int depth) {
    long differences = 0;
    for (int i = from + 1; i < to; i++) {
      differences |= heads[i] ^ heads[from];
    }
    if (differences != 0) {
      int shift = (Long.SIZE - 1 - Long.numberOfLeadingZeros(differences)) & -Byte.SIZE;
      split(from, to, depth, shift);
    } else if (depth == LENGTHS) {
      keepLast(from, to);
    } else {
      push(from, to, fillHeads(from, to, depth + Long.BYTES));
    }
  }

  /**
   * Has the keys' bytes from a depth on as heads; or their lengths, if no key goes that far.
   *
   * @return the depth of the heads
   */
  private int fillHeads(int from, int to, int depth) {
    boolean isEnd = true;
    for (int i = from; i < to; i++) {
      int record = order[i];
      int left = keyBytes[record] - depth;
      isEnd &= left <= 0;
      heads[i] = left <= 0 ? 0 : KeyOrder.head(memory, (long) keyAt[record] + depth, left);
    }
    if (!isEnd) {
      return depth;
    }
    for (int i = from; i < to; i++) {
      heads[i] = keyBytes[order[i]];
    }
    return LENGTHS;
  }

  /** Splits a run by a digit of the heads, in place: each record goes where its digit belongs. */
  private void split(int from, int to, int depth, int shift) {
    int[] nextPlaces = new int[DIGITS];
    for (int i = from; i < to; i++) {
      nextPlaces[digit(heads[i], shift)]++;
    }
    int end = from;
    for (int digit = 0; digit < DIGITS; digit++) {
      int begin = end;
      end += nextPlaces[digit];
      nextPlaces[digit] = begin;
      ends[digit] = end;
    }
    for (int digit = 0; digit < DIGITS; digit++) {
      while (nextPlaces[digit] < ends[digit]) {
        int place = nextPlaces[digit];
        int itsDigit = digit(heads[place], shift);
        swap(place, nextPlaces[itsDigit]);
        nextPlaces[itsDigit]++;
      }
    }
    int begin = from;
    for (int digit = 0; digit < DIGITS; digit++) {
      push(begin, ends[digit], depth);
      begin = ends[digit];
    }
  }

  private static int digit(long head, int shift) {
    return (int) (head >>> shift) & (DIGITS - 1);
  }

  private void swap(int one, int other) {
    long head = heads[one];
    heads[one] = heads[other];
    heads[other] = head;
    int record = order[one];
    order[one] = order[other];
    order[other] = record;
  }

  /** Of records with one key keeps the last. */
  private void keepLast(int from, int to) {
    int last = SUPERSEDED;
    for (int i = from; i < to; i++) {
      last = Math.max(last, order[i]);
      order[i] = SUPERSEDED;
    }
    order[from] = last;
  }

  /** Sorts a short run: by its heads, then each part with equal heads by what follows. */
  private void insertAll(int from, int to, int depth) {
    for (int i = from + 1; i < to; i++) {
      long head = heads[i];
      int record = order[i];
      int place = i;
      while (place > from && Long.compareUnsigned(head, heads[place - 1]) < 0) {
        heads[place] = heads[place - 1];
        order[place] = order[place - 1];
        place--;
      }
      heads[place] = head;
      order[place] = record;
    }
    int begin = from;
    for (int i = from + 1; i <= to; i++) {
      if (i == to || heads[i] != heads[begin]) {
        insertEqual(begin, i, depth);
        begin = i;
      }
    }
  }

  /** Sorts a short run whose heads are equal. */
  private void insertEqual(int from, int to, int depth) {
    if (to - from < 2) {
      return;
    }
    if (depth == LENGTHS) {
      keepLast(from, to);
    } else {
      insertAll(from, to, fillHeads(from, to, depth + Long.BYTES));
    }
  }

  private final class LastRecords implements EntryStream {
    private int next;
    private int record;

    @Override
    public boolean next() {
      while (next < count) {
        record = order[next];
        next++;
        if (record != SUPERSEDED) {
          return true;
        }
      }
      return false;
    }

    @Override
    public MemorySegment key() {
      return memory.asSlice(keyAt[record], keyBytes[record]);
    }

    @Override
    public boolean isRemoved() {
      return valueBytes[record] == SortedFileFormat.REMOVED;
    }

    @Override
    public MemorySegment value() {
      return memory.asSlice((long) keyAt[record] + keyBytes[record], valueBytes[record]);
    }

    @Override
    public void close() {
      // The memory is not the sorter's own.
    }
  }
}
