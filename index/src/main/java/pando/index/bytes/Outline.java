package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.memory.KeyOrder;

/**
 * What a directory knows of the inside of a block: where its range begins, and which segment has a
 * key.
 *
 * <pre>
 * lowBytes 1 | low fence | prefixBytes 1
 * length of the first segment 1                          in units of 8 bytes
 * for each other segment, in one of two forms
 *   more - 1: 1 bit | length - 17: 4 | common: 3 | more bytes            common up to 6
 *   length - 2: 5 bits | 111 | common 4 | more 4 | more bytes            length up to 32
 * </pre>
 *
 * <p>Between two segments is a separator, the shortest string above the keys of the one and not
 * above those of the other, without the prefix of the range. Of a separator, the length that it has
 * in common with the separator before is here (with the low fence, for the first one), and the
 * bytes behind that. Where the bits of a number are all 1, more of it follows: of a length in one
 * byte, of others in bytes of 7 bits, of which all but the last have their highest bit set. A block
 * with a segment above 2,032 bytes, or with very long separators, has no segments here: it is READ
 * as a whole.
 */
final class Outline {
  private static final long LENGTH_MASK = 0xffff_ffffL;
  private static final int NIBBLE_MAX = 15;
  private static final int SEGMENT_UNITS_MAX = 254;

  /** Least length of a segment that the short form has. */
  private static final int SHORT_UNITS = 17;

  private static final int SHORT_COMMON_MAX = 6;
  private static final int LONG_FORM = 7;

  /** Least length of a segment. */
  private static final int UNITS_MIN = 2;

  /** Bits of the length in the long form. */
  private static final int UNITS_BITS = 0x1f;

  /** Separators take less than the block's size by this. */
  private static final int SEPARATORS_PART = 16;

  private static final int SEPARATORS_MIN = 64;

  private final byte[] bytes;
  private int at;

  private Outline(int size) {
    this.bytes = new byte[size];
  }

  /** Returns the outline of a block that is READ as a whole. */
  static byte[] whole(MemorySegment low) {
    Outline written = new Outline((int) low.byteSize() + 8);
    written.fence(low, 0);
    return Arrays.copyOf(written.bytes, written.at);
  }

  /** Returns the outline of a block. */
  static byte[] of(Block block) {
    MemorySegment low = block.low();
    int room = (int) (block.bytes().byteSize() / SEPARATORS_PART) + SEPARATORS_MIN;
    int longest = room + (int) low.byteSize() + 8;
    Outline written = new Outline(longest + 8);
    written.fence(low, block.prefixBytes());
    int number = 0;
    int begin = 0;
    MemorySegment before = low.asSlice(block.prefixBytes());
    for (int i = 0; i < block.segments(); i++) {
      int units = (block.end(i) - begin) / Block.UNIT_BYTES;
      if (units > SEGMENT_UNITS_MAX) {
        return whole(low);
      }
      if (i == 0) {
        written.bytes[written.at++] = (byte) units;
      } else {
        MemorySegment first = block.suffixOf(number);
        int length = KeyOrder.commonPrefix(block.suffixOf(number - 1), first) + 1;
        MemorySegment separator = first.asSlice(0, length);
        int common = KeyOrder.commonPrefix(before, separator);
        if (written.at + length - common > longest - 8) {
          return whole(low);
        }
        written.segment(units, separator, common);
        before = separator;
      }
      number += BlockSegment.count(block.bytes(), begin);
      begin = block.end(i);
    }
    return Arrays.copyOf(written.bytes, written.at);
  }

  private void fence(MemorySegment low, int prefixBytes) {
    number((int) low.byteSize());
    put(low, 0, (int) low.byteSize());
    number(prefixBytes);
  }

  private void segment(int units, MemorySegment separator, int common) {
    int more = (int) separator.byteSize() - common;
    int beyond = units - SHORT_UNITS;
    if (more <= 2 && common <= SHORT_COMMON_MAX && beyond >= 0 && beyond <= NIBBLE_MAX) {
      bytes[at++] = (byte) (((more - 1) << 7) | (beyond << 3) | common);
    } else {
      int bits = Math.min(units - UNITS_MIN, UNITS_BITS);
      bytes[at++] = (byte) (bits << 3 | LONG_FORM);
      if (bits == UNITS_BITS) {
        bytes[at++] = (byte) units;
      }
      bytes[at++] = (byte) ((Math.min(common, NIBBLE_MAX) << 4) | Math.min(more, NIBBLE_MAX));
      if (common >= NIBBLE_MAX) {
        number(common - NIBBLE_MAX);
      }
      if (more >= NIBBLE_MAX) {
        number(more - NIBBLE_MAX);
      }
    }
    put(separator, common, more);
  }

  private void put(MemorySegment from, int offset, int length) {
    MemorySegment.copy(from, JAVA_BYTE, offset, bytes, at, length);
    at += length;
  }

  private void number(int number) {
    int rest = number;
    for (; rest > 0x7f; rest >>>= 7) {
      bytes[at++] = (byte) (rest | 0x80);
    }
    bytes[at++] = (byte) rest;
  }

  /** Returns the low fence. */
  static MemorySegment low(byte[] outline) {
    int begin = 0;
    while (outline[begin] < 0) {
      begin++;
    }
    return MemorySegment.ofArray(outline).asSlice(begin + 1L, numberAt(outline, 0) & LENGTH_MASK);
  }

  /** Returns a number, and in the upper half where it ends. */
  private static long numberAt(byte[] outline, int from) {
    int number = 0;
    int at = from;
    int shift = 0;
    while (outline[at] < 0) {
      number |= (outline[at++] & 0x7f) << shift;
      shift += 7;
    }
    number |= outline[at++] << shift;
    return (long) at << Integer.SIZE | number;
  }

  /** Compares the low fence with a key. */
  static int compareLow(byte[] outline, MemorySegment key) {
    long number = numberAt(outline, 0);
    int length = (int) number;
    int begin = (int) (number >>> Integer.SIZE);
    return KeyOrder.compare(MemorySegment.ofArray(outline), begin, length, key, 0, key.byteSize());
  }

  /**
   * Returns how many bytes the low fence and a key have in common at their start; {@code -1 -} this
   * number if the low fence is above the key.
   */
  static int agreesLow(byte[] outline, MemorySegment key) {
    long number = numberAt(outline, 0);
    int length = (int) number;
    int begin = (int) (number >>> Integer.SIZE);
    MemorySegment array = MemorySegment.ofArray(outline);
    int agrees = (int) agreement(array, begin, length, key, 0, key.byteSize());
    boolean isAbove =
        agrees < length
            && (agrees == key.byteSize()
                || Byte.compareUnsigned(outline[begin + agrees], key.get(JAVA_BYTE, agrees)) > 0);
    return isAbove ? -1 - agrees : agrees;
  }

  /** Returns how many bytes two strings have in common at their start. */
  private static long agreement(
      MemorySegment one, long at, long length, MemorySegment key, long keyAt, long keyBytes) {
    long mismatch = MemorySegment.mismatch(one, at, at + length, key, keyAt, keyAt + keyBytes);
    return mismatch < 0 ? length : mismatch;
  }

  /** A session's search in outlines. */
  static final class Search {
    /** Where the segment begins in its block, and where it ends. */
    int begin;

    int end;

    /** Length of the prefix that all keys of the block have, and that is not stored. */
    int prefixBytes;

    /**
     * Finds the segment of a key; returns {@code false} if the block must be READ as a whole.
     *
     * @param key in the block's range
     */
    boolean find(byte[] outline, MemorySegment key) {
      long number = numberAt(outline, 0);
      int at = (int) (number >>> Integer.SIZE);
      int lowBytes = (int) number;
      int lowAt = at;
      number = numberAt(outline, at + lowBytes);
      prefixBytes = (int) number;
      at = (int) (number >>> Integer.SIZE);
      begin = 0;
      if (at == outline.length) {
        return false;
      }
      MemorySegment array = MemorySegment.ofArray(outline);
      end = (outline[at++] & 0xff) * Block.UNIT_BYTES;
      long keyBytes = key.byteSize() - prefixBytes;
      // how much of the key, behind the prefix, agrees with the separator before
      long agrees =
          agreement(array, lowAt + prefixBytes, lowBytes - prefixBytes, key, prefixBytes, keyBytes);
      while (at < outline.length) {
        int form = outline[at++] & 0xff;
        int units = SHORT_UNITS + (form >> 3 & NIBBLE_MAX);
        int common = form & (SHORT_COMMON_MAX + 1);
        int more = 1 + (form >> 7);
        if (common > SHORT_COMMON_MAX) {
          int bits = form >> 3;
          units = bits == UNITS_BITS ? outline[at++] & 0xff : UNITS_MIN + bits;
          common = outline[at] >> 4 & NIBBLE_MAX;
          more = outline[at++] & NIBBLE_MAX;
          if (common == NIBBLE_MAX) {
            number = numberAt(outline, at);
            common += (int) number;
            at = (int) (number >>> Integer.SIZE);
          }
          if (more == NIBBLE_MAX) {
            number = numberAt(outline, at);
            more += (int) number;
            at = (int) (number >>> Integer.SIZE);
          }
        }
        if (common < agrees) {
          return true;
        }
        if (common == agrees) {
          long same = agreement(array, at, more, key, prefixBytes + agrees, keyBytes - agrees);
          if (same < more
              && (same == keyBytes - agrees
                  || Byte.compareUnsigned(
                          key.get(JAVA_BYTE, prefixBytes + agrees + same), outline[at + (int) same])
                      < 0)) {
            return true;
          }
          agrees += same;
        }
        at += more;
        begin = end;
        end += units * Block.UNIT_BYTES;
      }
      return true;
    }
  }
}
