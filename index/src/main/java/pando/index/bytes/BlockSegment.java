package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import pando.index.blob.Spread;
import pando.index.bytes.Block.DamagedException;

/**
 * A segment of a block, which is READ by itself: some records in the order of their keys.
 *
 * <pre>
 * 0   sum 4                         over all that follows, and the version of the block
 * 4   records 2                     how many there are
 * 6   records: key 2 | value 2 | suffix | value
 *     zeros to a multiple of 8
 * </pre>
 *
 * <p>A record has the lengths of its suffix and of its value; a value of length 65,535 is the word
 * of a blob. Versions never come again: so what is READ in place of a segment that is there no
 * more, or half of it, is not taken for it.
 */
final class BlockSegment {
  /** Size of a segment at the most, unless one record alone is larger. */
  static final int BYTES_MAX = 256;

  /** Bytes before the first record. */
  static final int HEADER_BYTES = 6;

  /** Bytes of a record before its suffix. */
  static final int LENGTHS_BYTES = 4;

  /** Length of a value that is the word of a blob. */
  static final int BLOB = 0xffff;

  private static final int COUNT = 4;

  private BlockSegment() {}

  static int suffixBytes(MemorySegment in, long record) {
    return in.get(Block.SHORT, record) & 0xffff;
  }

  static long suffix(long record) {
    return record + LENGTHS_BYTES;
  }

  static boolean hasBlob(MemorySegment in, long record) {
    return valueLength(in, record) == BLOB;
  }

  /** Returns what a record has as the length of its value. */
  static int valueLength(MemorySegment in, long record) {
    return in.get(Block.SHORT, record + 2) & 0xffff;
  }

  /** Returns where the value of a record is, or the word of its blob. */
  static long stored(MemorySegment in, long record) {
    return suffix(record) + suffixBytes(in, record);
  }

  static int storedBytes(MemorySegment in, long record) {
    int length = valueLength(in, record);
    return length == BLOB ? Long.BYTES : length;
  }

  static int recordBytes(MemorySegment in, long record) {
    return LENGTHS_BYTES + suffixBytes(in, record) + storedBytes(in, record);
  }

  /** Returns the number of records. */
  static int count(MemorySegment in, long at) {
    return in.get(Block.SHORT, at + COUNT) & 0xffff;
  }

  static void setCount(MemorySegment in, long at, int count) {
    in.set(Block.SHORT, at + COUNT, (short) count);
  }

  /** Writes the sum. */
  static void seal(MemorySegment in, long at, long end, long version) {
    in.set(Block.INT, at, sum(in, at, end, version));
  }

  /** Returns whether these are the bytes of a segment of a block with a version. */
  static boolean isOf(MemorySegment in, long at, long end, long version) {
    return in.get(Block.INT, at) == sum(in, at, end, version);
  }

  private static int sum(MemorySegment in, long at, long end, long version) {
    long seed = version ^ ((long) in.get(Block.INT, at + 4) << 32);
    return (int) Spread.sum(in, at + 8, end, seed);
  }

  /**
   * Finds the places of all records.
   *
   * @param number of the first one
   * @return the number of the first record behind the segment
   * @throws DamagedException if lengths do not fit the bytes, or there are too many records
   */
  static int places(MemorySegment in, long at, long end, int[] places, int number)
      throws DamagedException {
    int count = count(in, at);
    Block.check(count > 0 && count <= places.length - number, "records of a segment", count);
    long record = at + HEADER_BYTES;
    for (int i = number; i < number + count; i++) {
      places[i] = (int) record;
      record = next(in, record, end);
    }
    return number + count;
  }

  /** Returns where a record ends, which fits in the bytes. */
  private static long next(MemorySegment in, long record, long end) throws DamagedException {
    Block.check(record + LENGTHS_BYTES <= end, "place of a record", record);
    long next = record + recordBytes(in, record);
    Block.check(next <= end, "end of a record", next);
    return next;
  }

  /**
   * Returns where the record of a key is, or -1 if there is none.
   *
   * @param prefixBytes length of the key's prefix that is not stored
   * @throws DamagedException if lengths do not fit the bytes
   */
  static long find(MemorySegment in, long at, long end, MemorySegment key, int prefixBytes)
      throws DamagedException {
    long suffixBytes = key.byteSize() - prefixBytes;
    long record = at + HEADER_BYTES;
    for (int left = count(in, at); left > 0; left--) {
      long next = next(in, record, end);
      if (suffixBytes(in, record) == suffixBytes) {
        long suffix = suffix(record);
        long mismatch =
            MemorySegment.mismatch(
                in, suffix, suffix + suffixBytes, key, prefixBytes, key.byteSize());
        if (mismatch < 0) {
          return record;
        }
      }
      record = next;
    }
    return -1;
  }
}
