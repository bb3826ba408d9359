package pando.index.orca.leaf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Words;
import pando.index.pool.Checksums;

/**
 * The bytes of a leaf: a header of 128 bytes, and 2 to 31 segments of 128 bytes.
 *
 * <pre>
 *   0        4        5      6        7       8       16       24      32          40
 *  +--------+--------+------+--------+-------+-------+--------+-------+------------+
 *  | magic  | format | n    | width  | shift | low   | high   | stamp | 0          |
 *  +--------+--------+------+--------+-------+-------+--------+-------+------------+
 *  | records 2 | 0 (6 bytes)  | sum 8 (at 48)  | 0 (8 bytes, at 56)                |
 *  +-----------+--------------+----------------+-----------------------------------+
 *  | head 0 | head 1 | ... head n - 1, each of width bytes (at 64)  | 0 up to 128   |
 *  +--------------------------------+-----------------------------+----------------+
 *  | segment 0 (at 128)             | segment 1 (at 256)          | ... n - 1      |
 *  +--------------------------------+-----------------------------+----------------+
 *
 *             0       8         16      24         ...   112     120       128
 *            +-------+---------+-------+---------+-----+-------+---------+
 *   segment  | key 0 | value 0 | key 1 | value 1 | ... | key 7 | value 7 |
 *            +-------+---------+-------+---------+-----+-------+---------+
 * </pre>
 *
 * <p>A leaf covers the keys {@code low} to {@code high}, both inclusive, at least two. Its records
 * are sorted, and fill each segment from slot 0 on; slots behind them are void. The key of a void
 * slot belongs to another segment of the same leaf: it is the high fence in segment 0, the low
 * fence in the others. So head 1 is never above the q of the high fence. The value of a void slot
 * is {@link #voidValue}. Any key and any value of 64 bits is legal in a record.
 *
 * <p>A leaf is written once, as a whole; afterwards only values change, each by a WRITE of 8
 * aligned bytes. Therefore the sum covers the header alone: bytes 0 to 47, and the heads.
 */
public final class LeafLayout {
  /** Bytes of a header. */
  public static final int HEADER_BYTES = 128;

  /** Bytes of a segment. */
  public static final int SEGMENT_BYTES = 128;

  /** Slots of a segment. */
  public static final int SLOTS = 8;

  /** Bytes of a slot: a key, and the value behind it. */
  public static final int SLOT_BYTES = 16;

  /** Least number of segments of a leaf. */
  public static final int SEGMENTS_MIN = 2;

  /** Greatest number of segments of a leaf. */
  public static final int SEGMENTS_MAX = 31;

  /** Greatest number of records of a leaf. */
  public static final int RECORDS_MAX = SEGMENTS_MAX * SLOTS;

  /** Bytes of a unit in which the pool's space is given out. */
  public static final int UNIT_BYTES = 128;

  private static final int MAGIC = 0x6FCA1EAF;
  private static final int FORMAT = 1;

  private static final int FORMAT_SHIFT = 32;
  private static final int SEGMENTS_SHIFT = 40;
  private static final int WIDTH_SHIFT = 48;
  private static final int SHIFT_SHIFT = 56;
  private static final int BYTE_MASK = 0xFF;

  private static final int LOW = 8;
  private static final int HIGH = 16;
  private static final int STAMP = 24;
  private static final int ZERO = 32;
  private static final int RECORDS = 40;
  private static final int SUM = 48;
  private static final int UNUSED = 56;
  private static final int HEADS = 64;
  private static final int HEADS_BYTES = HEADER_BYTES - HEADS;

  private static final int RECORDS_MASK = 0xFFFF;

  private static final long[] MULTIPLIERS = Checksums.multipliers(HEADER_BYTES / Long.BYTES);

  private static final ValueLayout.OfShort SHORT =
      JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private LeafLayout() {}

  /** Returns the bytes of a leaf of so many segments. */
  public static int bytes(int segments) {
    return HEADER_BYTES + segments * SEGMENT_BYTES;
  }

  /** Returns the units of space that a leaf of so many segments takes. */
  public static int units(int segments) {
    return (bytes(segments) + UNIT_BYTES - 1) / UNIT_BYTES;
  }

  /** Returns the greatest number of segments of a leaf with heads of so many bytes. */
  static int segmentsMax(int width) {
    return Math.min(SEGMENTS_MAX, HEADS_BYTES / width);
  }

  /** Returns the offset of a segment in its leaf. */
  public static int segment(int segment) {
    return HEADER_BYTES + segment * SEGMENT_BYTES;
  }

  /**
   * Returns the offset in a leaf of the key at a place, which is segment * {@link #SLOTS} + slot.
   */
  public static int keyPosition(int place) {
    return HEADER_BYTES + place * SLOT_BYTES;
  }

  /** Returns the offset in a leaf of the value at a place. */
  public static int valuePosition(int place) {
    return keyPosition(place) + Long.BYTES;
  }

  /** Returns the value of a void slot. */
  static long voidValue(long stamp, long slotAddress) {
    long z = stamp ^ slotAddress;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  // The header. These methods check nothing; problem() does.

  /** Returns the number of segments. */
  public static int segments(MemorySegment memory, long at) {
    return byteOf(word(memory, at), SEGMENTS_SHIFT);
  }

  /** Returns the bytes of a head. */
  public static int width(MemorySegment memory, long at) {
    return byteOf(word(memory, at), WIDTH_SHIFT);
  }

  /** Returns the shift of the heads. */
  public static int shift(MemorySegment memory, long at) {
    return byteOf(word(memory, at), SHIFT_SHIFT);
  }

  /** Returns the least key that the leaf covers. */
  public static long low(MemorySegment memory, long at) {
    return word(memory, at + LOW);
  }

  /** Returns the greatest key that the leaf covers. */
  public static long high(MemorySegment memory, long at) {
    return word(memory, at + HIGH);
  }

  /** Returns the stamp, which no two leaves share. */
  public static long stamp(MemorySegment memory, long at) {
    return word(memory, at + STAMP);
  }

  /** Returns the number of records. */
  public static int records(MemorySegment memory, long at) {
    return (int) word(memory, at + RECORDS) & RECORDS_MASK;
  }

  /** Returns the head of a segment; unsigned. */
  public static long head(MemorySegment memory, long at, int segment) {
    return head(memory, at, width(memory, at), segment);
  }

  /**
   * Returns the greatest q that can belong to a segment: the one below the next head, or that of
   * the high fence; unsigned.
   */
  public static long last(MemorySegment memory, long at, int segment) {
    return segment + 1 < segments(memory, at)
        ? head(memory, at, segment + 1) - 1
        : Heads.q(high(memory, at), low(memory, at), shift(memory, at));
  }

  private static long head(MemorySegment memory, long at, int width, int segment) {
    long position = at + HEADS + (long) segment * width;
    return switch (width) {
      case Byte.BYTES -> Byte.toUnsignedLong(memory.get(JAVA_BYTE, position));
      case Short.BYTES -> Short.toUnsignedLong(memory.get(SHORT, position));
      default -> word(memory, position);
    };
  }

  /** Stores a header without heads. */
  static void setHeader(
      MemorySegment memory,
      long at,
      int segments,
      int width,
      int shift,
      long low,
      long high,
      long stamp,
      int records) {
    long first =
        Integer.toUnsignedLong(MAGIC)
            | (long) FORMAT << FORMAT_SHIFT
            | (long) segments << SEGMENTS_SHIFT
            | (long) width << WIDTH_SHIFT
            | (long) shift << SHIFT_SHIFT;
    setWord(memory, at, first);
    setWord(memory, at + LOW, low);
    setWord(memory, at + HIGH, high);
    setWord(memory, at + STAMP, stamp);
    setWord(memory, at + ZERO, 0);
    setWord(memory, at + RECORDS, records);
    for (int position = SUM; position < HEADER_BYTES; position += Long.BYTES) {
      setWord(memory, at + position, 0);
    }
  }

  /** Stores the head of a segment. */
  static void setHead(MemorySegment memory, long at, int width, int segment, long head) {
    long position = at + HEADS + (long) segment * width;
    switch (width) {
      case Byte.BYTES -> memory.set(JAVA_BYTE, position, (byte) head);
      case Short.BYTES -> memory.set(SHORT, position, (short) head);
      default -> setWord(memory, position, head);
    }
  }

  /** Stores the sum, when the header and all heads are there. */
  static void seal(MemorySegment memory, long at) {
    setWord(memory, at + SUM, sum(memory, at));
  }

  private static long sum(MemorySegment memory, long at) {
    return Checksums.sum(memory, at, 0, SUM, MULTIPLIERS)
        + Checksums.sum(memory, at, HEADS, HEADER_BYTES, MULTIPLIERS);
  }

  /**
   * Returns what is wrong with a header, or null if it is sound: then its leaf has 2 to 31
   * segments, its fences are two different keys in order, and its heads ascend.
   */
  public static @Nullable String problem(MemorySegment memory, long at) {
    long first = word(memory, at);
    int segments = byteOf(first, SEGMENTS_SHIFT);
    int width = byteOf(first, WIDTH_SHIFT);
    int shift = byteOf(first, SHIFT_SHIFT);
    long low = low(memory, at);
    long high = high(memory, at);
    if ((int) first != MAGIC || byteOf(first, FORMAT_SHIFT) != FORMAT) {
      return "not the header of a leaf: firstWord=0x" + Long.toHexString(first);
    }
    if (word(memory, at + SUM) != sum(memory, at)) {
      return "wrong sum: stored=0x"
          + Long.toHexString(word(memory, at + SUM))
          + ", computed=0x"
          + Long.toHexString(sum(memory, at));
    }
    if (!Heads.isWidth(width) || segments < SEGMENTS_MIN || segments > segmentsMax(width)) {
      return "no such segments: segments=" + segments + ", width=" + width;
    }
    if (low >= high || shift != Heads.shift(low, high, width)) {
      return "no such range: low=" + low + ", high=" + high + shiftText(width, shift);
    }
    if (records(memory, at) > segments * SLOTS) {
      return "too many records: records=" + records(memory, at) + ", segments=" + segments;
    }
    if (word(memory, at + ZERO) != 0
        || (word(memory, at + RECORDS) & ~RECORDS_MASK) != 0
        || word(memory, at + UNUSED) != 0) {
      return "unused bytes are not zero";
    }
    return headsProblem(memory, at, segments, width, Heads.q(high, low, shift));
  }

  private static @Nullable String headsProblem(
      MemorySegment memory, long at, int segments, int width, long greatest) {
    if (head(memory, at, width, 0) != 0) {
      return "the first head is not 0: head=" + head(memory, at, width, 0);
    }
    for (int i = 1; i < segments; i++) {
      long head = head(memory, at, width, i);
      if (Long.compareUnsigned(head, head(memory, at, width, i - 1)) <= 0
          || Long.compareUnsigned(head, greatest) > 0) {
        return "heads do not ascend to the high fence: segment="
            + i
            + ", head="
            + Long.toUnsignedString(head)
            + ", greatest="
            + Long.toUnsignedString(greatest);
      }
    }
    for (int i = segments; i < HEADS_BYTES / width; i++) {
      if (head(memory, at, width, i) != 0) {
        return "a head behind the last is not zero: head=" + i + ", segments=" + segments;
      }
    }
    return null;
  }

  private static String shiftText(int width, int shift) {
    return ", width=" + width + ", shift=" + shift;
  }

  private static int byteOf(long word, int shift) {
    return (int) (word >>> shift) & BYTE_MASK;
  }

  private static long word(MemorySegment memory, long position) {
    return Words.getUnaligned(memory, position);
  }

  private static void setWord(MemorySegment memory, long position, long word) {
    Words.setUnaligned(memory, position, word);
  }
}
