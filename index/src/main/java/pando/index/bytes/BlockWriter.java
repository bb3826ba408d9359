package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;

/** Writes a new block, record by record in the order of their keys. */
final class BlockWriter {
  private static final int ENDS = 16;

  /** What a segment takes in an {@link Outline} beside the bytes of its separator. */
  private static final int SEPARATOR_BYTES = 3;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final MemorySegment low;
  private final @Nullable MemorySegment high;
  private final int prefixBytes;
  private byte[] array;
  private MemorySegment bytes;
  private int[] ends = new int[ENDS];
  private int segments;
  private int count;

  /** Where the last segment begins, and where its records end. */
  private int start;

  private int end;
  private int inSegment;

  /**
   * Begins a block.
   *
   * @param low the first key of its range
   * @param high the first key behind it, {@code null} if there is none
   * @param bytesExpected of the block, a guess
   */
  BlockWriter(MemorySegment low, @Nullable MemorySegment high, long bytesExpected) {
    this.low = low;
    this.high = high;
    this.prefixBytes = high == null ? 0 : KeyOrder.commonPrefix(low, high);
    this.array = new byte[Math.toIntExact(bytesExpected)];
    this.bytes = MemorySegment.ofArray(array);
  }

  /** Adds records of another block, whose keys are in this block's range. */
  void addAll(Block from, int first, int last) {
    boolean alike = from.prefixBytes() == prefixBytes;
    for (int i = first; i < last; ) {
      i = alike ? addRun(from, i, last) : addShortened(from, i);
    }
  }

  /** Adds records as {@link #addAll} does, in segments whose separators are short. */
  void addSegments(Block from, int first, int last) {
    int common = 0;
    for (int next = first; next < last; ) {
      int behind = segmentEnd(from, next, last, common);
      addAll(from, next, behind);
      endSegment();
      common = behind < last ? common(from, behind) : 0;
      next = behind;
    }
  }

  /**
   * Returns where to end a segment: behind the record with the fewest bytes of the next separator
   * for each byte of the segment, of those that fill half of it.
   *
   * @param commonBefore how much the first record has in common with the one before
   */
  private int segmentEnd(Block from, int first, int last, int commonBefore) {
    int shorter = prefixBytes - from.prefixBytes();
    int best = first + 1;
    long bestCost = Integer.MAX_VALUE;
    long bestSize = 1;
    int size = BlockSegment.HEADER_BYTES;
    int agrees = commonBefore + 1;
    for (int i = first; i < last; i++) {
      size += from.recordBytes(i) - shorter;
      if (size > BlockSegment.BYTES_MAX) {
        return best;
      }
      if (i + 1 < last) {
        int common = common(from, i + 1);
        agrees = Math.min(agrees, common);
        long cost = (long) SEPARATOR_BYTES + common + 1 - agrees;
        if (size < BlockSegment.BYTES_MAX / 2 || cost * bestSize <= bestCost * size) {
          best = i + 1;
          bestCost = cost;
          bestSize = size;
        }
      }
    }
    return last;
  }

  /** Returns how much the suffix of a record has in common with the one before. */
  private static int common(Block from, int i) {
    return KeyOrder.commonPrefix(from.suffixOf(i - 1), from.suffixOf(i));
  }

  /**
   * Adds records beside each other as they are, as far as they fit a segment, at least one.
   *
   * @return the number behind the last one
   */
  private int addRun(Block from, int first, int last) {
    MemorySegment source = from.memory(first);
    long record = from.record(first);
    int size = BlockSegment.recordBytes(source, record);
    beginRecord(size);
    int i = first + 1;
    while (i < last && from.record(i) == record + size) {
      int more = BlockSegment.recordBytes(source, from.record(i));
      if (end + size + more - start > BlockSegment.BYTES_MAX) {
        break;
      }
      size += more;
      i++;
    }
    ensure(end + size + Block.UNIT_BYTES);
    MemorySegment.copy(source, record, bytes, end, size);
    end += size;
    inSegment += i - first;
    count += i - first;
    return i;
  }

  /** Adds a record of a block with another prefix; returns the number behind. */
  private int addShortened(Block from, int i) {
    int more = from.prefixBytes() - prefixBytes;
    if (more > 0) {
      add(from, i, from.low().asSlice(prefixBytes, more), 0);
    } else {
      add(from, i, NOTHING, -more);
    }
    return i + 1;
  }

  /** Adds a change, whose key is in this block's range. */
  void add(SortedChanges from, int i) {
    add(from, i, NOTHING, prefixBytes);
  }

  /**
   * Adds a record.
   *
   * @param start what its key here has before what it has there
   * @param cut how many bytes that it has there it does not have here
   */
  private void add(OrderedRecords from, int i, MemorySegment start, int cut) {
    MemorySegment source = from.memory(i);
    long record = from.record(i);
    int kept = BlockSegment.suffixBytes(source, record) - cut;
    int storedBytes = BlockSegment.storedBytes(source, record);
    int more = (int) start.byteSize();
    int at = begin(more + kept, storedBytes, BlockSegment.hasBlob(source, record));
    MemorySegment.copy(start, 0, bytes, at, more);
    // suffix and value are beside each other
    MemorySegment.copy(
        source, BlockSegment.suffix(record) + cut, bytes, at + more, kept + storedBytes);
  }

  /** Adds a record. */
  void add(MemorySegment key, MemorySegment stored, boolean blob) {
    int suffixBytes = (int) key.byteSize() - prefixBytes;
    int storedBytes = (int) stored.byteSize();
    int at = begin(suffixBytes, storedBytes, blob);
    MemorySegment.copy(key, prefixBytes, bytes, at, suffixBytes);
    MemorySegment.copy(stored, 0, bytes, at + suffixBytes, storedBytes);
  }

  /** Begins a record; returns where its suffix goes. */
  private int begin(int suffixBytes, int storedBytes, boolean blob) {
    int recordBytes = BlockSegment.LENGTHS_BYTES + suffixBytes + storedBytes;
    beginRecord(recordBytes);
    ensure(end + recordBytes + Block.UNIT_BYTES);
    bytes.set(Block.SHORT, end, (short) suffixBytes);
    bytes.set(Block.SHORT, end + 2L, (short) (blob ? BlockSegment.BLOB : storedBytes));
    int at = end + BlockSegment.LENGTHS_BYTES;
    end += recordBytes;
    inSegment++;
    count++;
    return at;
  }

  /** Begins a segment if a record needs one. */
  private void beginRecord(int recordBytes) {
    if (inSegment > 0 && end + recordBytes - start > BlockSegment.BYTES_MAX) {
      endSegment();
    }
    if (inSegment == 0) {
      end = start + BlockSegment.HEADER_BYTES;
    }
  }

  private void ensure(long size) {
    if (size > array.length) {
      array = Arrays.copyOf(array, Math.toIntExact(size + size / 2));
      bytes = MemorySegment.ofArray(array);
    }
  }

  private void endSegment() {
    if (inSegment == 0) {
      return;
    }
    if (segments == ends.length) {
      ends = Arrays.copyOf(ends, 2 * segments);
    }
    BlockSegment.setCount(bytes, start, inSegment);
    start = (int) Block.padded(end);
    ends[segments++] = start;
    inSegment = 0;
  }

  /** Returns the block, in as few bytes as it needs. */
  Block finish() {
    endSegment();
    int lowBytes = (int) low.byteSize();
    int highBytes = high == null ? Block.NO_FENCE : (int) high.byteSize();
    long size = start + Block.behindSegments(segments, lowBytes, highBytes);
    byte[] all = Arrays.copyOf(array, Math.toIntExact(size));
    MemorySegment whole = MemorySegment.ofArray(all);
    long at = start;
    for (int i = 0; i < segments; i++, at += Block.END_BYTES) {
      whole.set(Block.SHORT, at, (short) (ends[i] / Block.UNIT_BYTES));
    }
    MemorySegment.copy(low, JAVA_BYTE, 0, whole, JAVA_BYTE, at, lowBytes);
    if (high != null) {
      MemorySegment.copy(high, JAVA_BYTE, 0, whole, JAVA_BYTE, at + lowBytes, highBytes);
    }
    long trailer = size - Block.TRAILER_BYTES;
    whole.set(Block.INT, trailer, Block.MAGIC);
    whole.set(Block.INT, trailer + 4, segments);
    whole.set(Block.INT, trailer + 8, count);
    whole.set(Block.INT, trailer + 12, lowBytes);
    whole.set(Block.INT, trailer + 16, highBytes);
    whole.set(Block.INT, trailer + 20, prefixBytes);
    return Block.of(whole);
  }
}
