package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.memory.KeyOrder;

/**
 * A block: the records of a range of keys, in the order of the keys, cut into segments. It never
 * changes once it has its version.
 *
 * <pre>
 *   0   segments of {@link BlockSegment}, one behind the other
 *       ends: 2 for each segment              where it ends, in units of 8 bytes
 *       low fence | high fence                the first key of the range, the first behind it
 *       zeros to a multiple of 8
 * -32   magic 4 | segments 4 | records 4      how many there are
 * -20   low 4 | high 4 | prefix 4             lengths of fences and prefix; high -1: there is none
 *  -8   version 8                             of blocks of one range, the greatest counts
 * </pre>
 *
 * <p>All keys begin with the common prefix of the fences, which is not stored again: a record has
 * the key's suffix behind it.
 */
final class Block implements OrderedRecords {
  static final int MAGIC = 0x50427975;
  static final int TRAILER_BYTES = 32;

  /** Bytes of a segment's end. */
  static final int END_BYTES = 2;

  /** Bytes that ends are multiples of. */
  static final int UNIT_BYTES = 8;

  /** Length of the high fence of the last block. */
  static final int NO_FENCE = -1;

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private static final int SHORT_MASK = 0xffff;

  private final MemorySegment bytes;
  private final int segments;
  private final int lowBytes;
  private final int highBytes;
  private final int prefixBytes;
  private final int ends;

  /** Where each record is, in the order of the keys. */
  private final int[] records;

  private Block(MemorySegment bytes) throws DamagedException {
    this.bytes = bytes;
    long size = bytes.byteSize();
    check(size >= TRAILER_BYTES && size % UNIT_BYTES == 0, "size", size);
    check(trailer(0) == MAGIC, "magic number", trailer(0));
    this.segments = trailer(4);
    int count = trailer(8);
    this.lowBytes = trailer(12);
    this.highBytes = trailer(16);
    this.prefixBytes = trailer(20);
    check(segments >= 0 && segments <= size / UNIT_BYTES, "number of segments", segments);
    check(count >= 0 && count <= size / BlockSegment.LENGTHS_BYTES, "number of records", count);
    check(lowBytes >= 0 && lowBytes <= size, "length of the low fence", lowBytes);
    check(highBytes >= NO_FENCE && highBytes <= size, "length of the high fence", highBytes);
    long behind = behindSegments(segments, lowBytes, highBytes);
    check(behind <= size, "number of segments", segments);
    this.ends = (int) (size - behind);
    check(prefixBytes == commonPrefix(), "length of the prefix", prefixBytes);
    this.records = records(count);
  }

  /** Takes bytes that differ from those of another block in values alone, of the same lengths. */
  private Block(Block layout, MemorySegment bytes) {
    this.bytes = bytes;
    this.segments = layout.segments;
    this.lowBytes = layout.lowBytes;
    this.highBytes = layout.highBytes;
    this.prefixBytes = layout.prefixBytes;
    this.ends = layout.ends;
    this.records = layout.records;
  }

  private int[] records(int count) throws DamagedException {
    check(end(segments - 1) == ends, "end of the segments", end(segments - 1));
    int[] found = new int[count];
    int number = 0;
    for (int i = 0; i < segments; i++) {
      check(end(i) > end(i - 1) && end(i) <= ends, "end of a segment", end(i));
      number = BlockSegment.places(bytes, end(i - 1), end(i), found, number);
    }
    check(number == count, "number of records", number);
    return found;
  }

  /**
   * Returns the block in bytes that this process has written.
   *
   * @throws AssertionError if something in them cannot be
   */
  static Block of(MemorySegment bytes) {
    try {
      return new Block(bytes);
    } catch (DamagedException e) {
      throw new AssertionError("a block was written wrongly", e);
    }
  }

  /**
   * Returns the block in bytes from the pool. Its sums are not compared: those of its blob are.
   *
   * @throws DamagedException if lengths do not fit the bytes
   */
  static Block in(MemorySegment bytes) throws DamagedException {
    return new Block(bytes);
  }

  /**
   * Returns the block in bytes from the pool, as {@link #in}, which is going to be kept.
   *
   * @throws DamagedException if lengths do not fit the bytes, or keys are not in order
   */
  static Block checked(MemorySegment bytes) throws DamagedException {
    Block block = new Block(bytes);
    for (int i = 1; i < block.count(); i++) {
      check(block.compareSuffixes(i - 1, i) < 0, "order of the keys", i);
    }
    return block;
  }

  static void check(boolean holds, String what, long value) throws DamagedException {
    if (!holds) {
      throw new DamagedException(what + ": " + value);
    }
  }

  /** What a block from the pool has that cannot be. */
  static final class DamagedException extends Exception {
    private static final long serialVersionUID = 1L;

    DamagedException(String message) {
      super(message);
    }
  }

  /** Returns the bytes behind the segments. */
  static long behindSegments(int segments, int lowBytes, int highBytes) {
    long behind = (long) segments * END_BYTES + lowBytes + Math.max(highBytes, 0);
    return TRAILER_BYTES + padded(behind);
  }

  /** Returns the next multiple of 8. */
  static long padded(long bytes) {
    return bytes + UNIT_BYTES - 1 & -UNIT_BYTES;
  }

  private int trailer(int offset) {
    return bytes.get(INT, bytes.byteSize() - TRAILER_BYTES + offset);
  }

  private int commonPrefix() {
    return highBytes == NO_FENCE ? 0 : KeyOrder.commonPrefix(low(), high());
  }

  /** Returns all bytes of the block. */
  MemorySegment bytes() {
    return bytes;
  }

  /** Returns the bytes of local memory that the block takes. */
  long localBytes() {
    return bytes.byteSize() + (long) count() * Integer.BYTES;
  }

  /** Returns the size of the block without its fences, in bytes. */
  long usedBytes() {
    return bytes.byteSize() - lowBytes - Math.max(highBytes, 0);
  }

  /** Returns the version. */
  long version() {
    return bytes.get(LONG, bytes.byteSize() - Long.BYTES);
  }

  /** Gives a block that nobody has seen yet its version, and its segments their sums. */
  Block withVersion(long version) {
    bytes.set(LONG, bytes.byteSize() - Long.BYTES, version);
    for (int i = 0; i < segments; i++) {
      BlockSegment.seal(bytes, end(i - 1), end(i), version);
    }
    return this;
  }

  /** Returns a copy that has no version yet: its values may be written to. */
  Block copy() {
    return new Block(this, MemorySegment.ofArray(bytes.toArray(BYTE)));
  }

  /** Returns the number of segments. */
  int segments() {
    return segments;
  }

  /** Returns where a segment ends; for number -1, where the first one begins. */
  int end(int segment) {
    return segment < 0
        ? 0
        : (bytes.get(SHORT, ends + (long) segment * END_BYTES) & SHORT_MASK) * UNIT_BYTES;
  }

  @Override
  public int count() {
    return records.length;
  }

  int prefixBytes() {
    return prefixBytes;
  }

  /** Returns the first key of the range. */
  MemorySegment low() {
    return bytes.asSlice(fences(), lowBytes);
  }

  private long fences() {
    return ends + (long) segments * END_BYTES;
  }

  /** Returns whether the range has an end. */
  boolean hasHigh() {
    return highBytes != NO_FENCE;
  }

  /** Returns the first key behind the range, which {@link #hasHigh has an end}. */
  MemorySegment high() {
    return bytes.asSlice(fences() + lowBytes, highBytes);
  }

  /** Returns whether a key is in the range. */
  boolean covers(MemorySegment key) {
    return compareFence(fences(), lowBytes, key) <= 0
        && (!hasHigh() || compareFence(fences() + lowBytes, highBytes, key) > 0);
  }

  /** Compares a fence with a key, without a slice. */
  private int compareFence(long at, int length, MemorySegment key) {
    return KeyOrder.compare(bytes, at, length, key, 0, key.byteSize());
  }

  /** Compares the key of a record with another one, which is in the range. */
  @Override
  public int compare(int i, MemorySegment key) {
    return KeyOrder.compare(
        bytes, suffix(i), suffixBytes(i), key, prefixBytes, key.byteSize() - prefixBytes);
  }

  private int compareSuffixes(int i, int j) {
    return KeyOrder.compare(bytes, suffix(i), suffixBytes(i), bytes, suffix(j), suffixBytes(j));
  }

  private int suffixBytes(int i) {
    return BlockSegment.suffixBytes(bytes, records[i]);
  }

  private long suffix(int i) {
    return BlockSegment.suffix(records[i]);
  }

  /** Returns the length of a key. */
  int keyBytes(int i) {
    return prefixBytes + suffixBytes(i);
  }

  /** Copies a key. */
  void copyKey(int i, MemorySegment to) {
    MemorySegment.copy(bytes, fences(), to, 0, prefixBytes);
    MemorySegment.copy(bytes, suffix(i), to, prefixBytes, suffixBytes(i));
  }

  /** Returns a key, in memory of its own. */
  @Override
  public MemorySegment key(int i) {
    MemorySegment key = MemorySegment.ofArray(new byte[keyBytes(i)]);
    copyKey(i, key);
    return key;
  }

  /** Returns what a key has behind the prefix. */
  MemorySegment suffixOf(int i) {
    return bytes.asSlice(suffix(i), suffixBytes(i));
  }

  @Override
  public MemorySegment memory(int i) {
    return bytes;
  }

  @Override
  public int record(int i) {
    return records[i];
  }

  /** Returns the bytes that a record takes. */
  int recordBytes(int i) {
    return BlockSegment.recordBytes(bytes, records[i]);
  }
}
