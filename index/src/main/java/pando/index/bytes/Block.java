package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A block: the records of a range of keys, in the order of the keys. It never changes.
 *
 * <pre>
 * 0   magic 4 | count 4                       number of records
 * 8   low 4   | high 4                        lengths of the fences; high -1: there is none
 * 16  prefix 4 | garbage 4                    length of what all keys begin with; unused bytes
 * 24  version 8                               of blocks of one range, the greatest counts
 * 32  slots: head 4 | place 4                 one for each record, in order
 *     low fence | high fence                  the first key of the range, the first behind it
 *     records: key 4 | value 4 | suffix | value
 * </pre>
 *
 * <p>All keys begin with the common prefix of the fences, which is not stored again: a record has
 * the key's suffix behind it. A slot's head is the first 4 bytes of the suffix, with zeros where it
 * is shorter; a search compares heads, and suffixes only where heads are equal. A place counts from
 * the first record. A record has the lengths of its suffix and of its value; a value of length -1
 * is the word of a blob.
 */
final class Block {
  static final int MAGIC = 0x50427974;
  static final int HEADER_BYTES = 32;
  static final int SLOT_BYTES = 8;

  /** Bytes of a record before its suffix. */
  static final int LENGTHS_BYTES = 8;

  /** Length of a value that is the word of a blob. */
  static final int BLOB = -1;

  /** Length of the high fence of the last block. */
  static final int NO_FENCE = -1;

  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt BIG_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

  private final MemorySegment bytes;
  private final int count;
  private final int lowBytes;
  private final int highBytes;
  private final int prefixBytes;
  private final long records;

  private Block(MemorySegment bytes) {
    this.bytes = bytes;
    this.count = bytes.get(INT, 4);
    this.lowBytes = bytes.get(INT, 8);
    this.highBytes = bytes.get(INT, 12);
    this.prefixBytes = bytes.get(INT, 16);
    this.records = records(count, lowBytes, highBytes);
  }

  /** Returns the block in bytes that are known to be one. */
  static Block of(MemorySegment bytes) {
    return new Block(bytes);
  }

  /**
   * Returns the block in bytes from the pool.
   *
   * @throws DamagedException if something in them cannot be
   */
  static Block checked(MemorySegment bytes) throws DamagedException {
    long size = bytes.byteSize();
    check(size >= HEADER_BYTES, "shorter than a header", size);
    check(bytes.get(INT, 0) == MAGIC, "another magic number", bytes.get(INT, 0));
    Block block = new Block(bytes);
    check(block.count >= 0 && block.count <= size / SLOT_BYTES, "number of records", block.count);
    check(block.lowBytes >= 0 && block.lowBytes <= size, "length of the low fence", block.lowBytes);
    check(
        block.highBytes >= NO_FENCE && block.highBytes <= size,
        "length of the high fence",
        block.highBytes);
    check(block.records <= size, "start of the records", block.records);
    check(block.prefixBytes == block.commonPrefix(), "length of the prefix", block.prefixBytes);
    for (int i = 0; i < block.count; i++) {
      block.checkRecord(i);
    }
    return block;
  }

  private void checkRecord(int i) throws DamagedException {
    long room = bytes.byteSize() - records - LENGTHS_BYTES;
    check(place(i) >= 0 && place(i) <= room, "place of a record", place(i));
    long key = suffixBytes(i);
    check(key >= 0 && key <= room - place(i), "length of a key", key);
    long value = bytes.get(INT, record(i) + 4);
    long stored = value == BLOB ? Long.BYTES : value;
    check(stored >= 0 && stored <= room - place(i) - key, "length of a value", value);
    check(head(i) == head(suffix(i), suffixBytes(i), bytes), "head of a key", head(i));
    check(i == 0 || compareSuffixes(i - 1, i) < 0, "order of the keys", i);
  }

  private static void check(boolean holds, String what, long value) throws DamagedException {
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

  /** Returns the offset of the first record. */
  static long records(int count, int lowBytes, int highBytes) {
    return HEADER_BYTES + (long) count * SLOT_BYTES + lowBytes + Math.max(highBytes, 0);
  }

  private int commonPrefix() {
    return highBytes == NO_FENCE ? 0 : commonPrefix(low(), high());
  }

  /** Returns how many bytes two strings have in common at their start. */
  static int commonPrefix(MemorySegment one, MemorySegment other) {
    long mismatch = one.mismatch(other);
    return (int) (mismatch < 0 ? one.byteSize() : mismatch);
  }

  /** Compares two strings byte by byte, as unsigned numbers. */
  static int compare(MemorySegment one, MemorySegment other) {
    long mismatch = one.mismatch(other);
    if (mismatch < 0) {
      return 0;
    }
    if (mismatch == one.byteSize() || mismatch == other.byteSize()) {
      return Long.compare(one.byteSize(), other.byteSize());
    }
    return Byte.compareUnsigned(one.get(BYTE, mismatch), other.get(BYTE, mismatch));
  }

  /** Returns all bytes of the block. */
  MemorySegment bytes() {
    return bytes;
  }

  /** Returns the size of the block without its fences and garbage, in bytes. */
  long usedBytes() {
    return bytes.byteSize() - lowBytes - Math.max(highBytes, 0) - garbage();
  }

  int garbage() {
    return bytes.get(INT, 20);
  }

  /** Returns the version. */
  long version() {
    return bytes.get(LONG, 24);
  }

  /** Gives a block that nobody has seen yet a version; returns it. */
  Block withVersion(long version) {
    bytes.set(LONG, 24, version);
    return this;
  }

  /** Returns the number of records. */
  int count() {
    return count;
  }

  int prefixBytes() {
    return prefixBytes;
  }

  /** Returns the offset of the first record. */
  long records() {
    return records;
  }

  /** Returns the first key of the range. */
  MemorySegment low() {
    return bytes.asSlice(HEADER_BYTES + (long) count * SLOT_BYTES, lowBytes);
  }

  /** Returns whether the range has an end. */
  boolean hasHigh() {
    return highBytes != NO_FENCE;
  }

  /** Returns the first key behind the range, which {@link #hasHigh has an end}. */
  MemorySegment high() {
    return bytes.asSlice(HEADER_BYTES + (long) count * SLOT_BYTES + lowBytes, highBytes);
  }

  /** Returns whether a key is in the range. */
  boolean covers(MemorySegment key) {
    return compare(key, low()) >= 0 && (!hasHigh() || compare(key, high()) < 0);
  }

  /**
   * Returns the number of the record of a key, or {@code -1 - i} if there is none, with {@code i}
   * the number of records below the key.
   *
   * @param key in the range
   */
  int find(MemorySegment key) {
    int suffixBytes = (int) key.byteSize() - prefixBytes;
    int head = head(prefixBytes, suffixBytes, key);
    int from = 0;
    int to = count;
    while (from < to) {
      int middle = (from + to) >>> 1;
      int compared = Integer.compareUnsigned(head(middle), head);
      if (compared == 0) {
        compared = compareSuffix(middle, key, suffixBytes);
      }
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

  private int compareSuffix(int i, MemorySegment key, int length) {
    return compare(suffix(i), suffixBytes(i), key, prefixBytes, length);
  }

  private int compareSuffixes(int i, int j) {
    return compare(suffix(i), suffixBytes(i), bytes, suffix(j), suffixBytes(j));
  }

  private int compare(long at, int length, MemorySegment other, long otherAt, int otherLength) {
    long mismatch =
        MemorySegment.mismatch(bytes, at, at + length, other, otherAt, otherAt + otherLength);
    if (mismatch < 0) {
      return 0;
    }
    if (mismatch == length || mismatch == otherLength) {
      return Integer.compare(length, otherLength);
    }
    return Byte.compareUnsigned(
        bytes.get(BYTE, at + mismatch), other.get(BYTE, otherAt + mismatch));
  }

  /**
   * Returns the head of a suffix: its first 4 bytes as a number, with zeros behind a shorter one.
   */
  static int head(long at, int length, MemorySegment in) {
    if (length >= Integer.BYTES) {
      return in.get(BIG_INT, at);
    }
    int head = 0;
    for (int i = 0; i < Integer.BYTES; i++) {
      head = head << Byte.SIZE | (i < length ? in.get(BYTE, at + i) & 0xff : 0);
    }
    return head;
  }

  int head(int i) {
    return bytes.get(INT, HEADER_BYTES + (long) i * SLOT_BYTES);
  }

  int place(int i) {
    return bytes.get(INT, HEADER_BYTES + (long) i * SLOT_BYTES + 4);
  }

  private long record(int i) {
    return records + place(i);
  }

  private int suffixBytes(int i) {
    return bytes.get(INT, record(i));
  }

  private long suffix(int i) {
    return record(i) + LENGTHS_BYTES;
  }

  /** Returns the length of a key. */
  int keyBytes(int i) {
    return prefixBytes + suffixBytes(i);
  }

  /** Copies a key. */
  void copyKey(int i, MemorySegment to) {
    MemorySegment.copy(bytes, HEADER_BYTES + (long) count * SLOT_BYTES, to, 0, prefixBytes);
    MemorySegment.copy(bytes, suffix(i), to, prefixBytes, suffixBytes(i));
  }

  /** Returns a key, in memory of its own. */
  MemorySegment key(int i) {
    MemorySegment key = MemorySegment.ofArray(new byte[keyBytes(i)]);
    copyKey(i, key);
    return key;
  }

  /** Returns what a key has behind the prefix. */
  MemorySegment suffixOf(int i) {
    return bytes.asSlice(suffix(i), suffixBytes(i));
  }

  /** Returns whether a record has the word of a blob in place of its value. */
  boolean hasBlob(int i) {
    return bytes.get(INT, record(i) + 4) == BLOB;
  }

  /** Returns the word of a record's blob. */
  long word(int i) {
    return bytes.get(LONG, suffix(i) + suffixBytes(i));
  }

  /** Returns what is stored as a record's value: the value, or the word of a blob. */
  MemorySegment stored(int i) {
    int length = bytes.get(INT, record(i) + 4);
    return bytes.asSlice(suffix(i) + suffixBytes(i), length == BLOB ? Long.BYTES : length);
  }

  /** Returns the bytes that a record takes, without its slot. */
  int recordBytes(int i) {
    return (int) (LENGTHS_BYTES + suffixBytes(i) + stored(i).byteSize());
  }
}
