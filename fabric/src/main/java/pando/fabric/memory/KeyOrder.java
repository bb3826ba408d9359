package pando.fabric.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The order of keys: byte by byte, as unsigned numbers. */
public final class KeyOrder {
  /** So many words are compared one by one, then the rest of longer strings at once. */
  private static final int WORDS_MAX = 3;

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private KeyOrder() {}

  /** Compares two strings. */
  public static int compare(MemorySegment one, MemorySegment other) {
    return compare(one, 0, one.byteSize(), other, 0, other.byteSize());
  }

  /** Compares parts of two memories. */
  public static int compare(
      MemorySegment one, long at, long length, MemorySegment other, long otherAt, long otherBytes) {
    for (long from = 0; from < WORDS_MAX * Long.BYTES; from += Long.BYTES) {
      long head = head(one, at + from, length - from);
      long otherHead = head(other, otherAt + from, otherBytes - from);
      if (head != otherHead) {
        return Long.compareUnsigned(head, otherHead);
      }
      // Where heads are equal, what one has behind its end is zeros in the other.
      if (Math.min(length, otherBytes) - from <= Long.BYTES) {
        return Long.compare(length, otherBytes);
      }
    }
    return compareLong(one, at, length, other, otherAt, otherBytes);
  }

  private static int compareLong(
      MemorySegment one, long at, long length, MemorySegment other, long otherAt, long otherBytes) {
    long mismatch =
        MemorySegment.mismatch(one, at, at + length, other, otherAt, otherAt + otherBytes);
    if (mismatch < 0) {
      return 0;
    }
    if (mismatch == length || mismatch == otherBytes) {
      return Long.compare(length, otherBytes);
    }
    return Byte.compareUnsigned(
        one.get(JAVA_BYTE, at + mismatch), other.get(JAVA_BYTE, otherAt + mismatch));
  }

  /**
   * Returns the first 8 bytes of a string as a number whose order is theirs, with zeros behind the
   * string's end.
   */
  public static long head(MemorySegment in, long at, long length) {
    long beyond = at + Long.BYTES - in.byteSize();
    if (beyond <= 0) {
      return first(Long.reverseBytes(in.get(LONG, at)), length);
    }
    if (beyond < Long.BYTES && in.byteSize() >= Long.BYTES) {
      // The last 8 bytes of the memory have them.
      return first(Long.reverseBytes(in.get(LONG, at - beyond)) << (Byte.SIZE * beyond), length);
    }
    return headOfFew(in, at, length);
  }

  /** Returns some of the first bytes, with zeros in place of the others. */
  private static long first(long head, long length) {
    if (length >= Long.BYTES) {
      return head;
    }
    return length <= 0 ? 0 : head & (-1L << (Long.SIZE - Byte.SIZE * length));
  }

  private static long headOfFew(MemorySegment in, long at, long length) {
    long head = 0;
    for (long i = 0; i < Long.BYTES; i++) {
      head = (head << Byte.SIZE) | (i < length ? in.get(JAVA_BYTE, at + i) & 0xff : 0);
    }
    return head;
  }

  /** Returns how many bytes two strings have in common at their start. */
  public static int commonPrefix(MemorySegment one, MemorySegment other) {
    long mismatch = one.mismatch(other);
    return (int) (mismatch < 0 ? one.byteSize() : mismatch);
  }
}
