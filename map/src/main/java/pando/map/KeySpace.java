package pando.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.KeyBounds;

/**
 * The part of an index's keys that a map has: those that begin with the same bytes. Of an index of
 * byte strings, many maps have a part each:
 *
 * <pre>
 *  key in the index                              whose
 * +----------------------------------+
 * | key                              |           the map without a name; FF x 9 is above its keys
 * +--------+---+---------------------+
 * | FF x 9 | 0 | name                |           the catalogue of named maps
 * +--------+---+-------+-------------+
 * | FF x 9 | number 1-4 | key        |           a named map
 * +--------+----+-------+------------+
 * | FF x 9 | FF | deadline 8 | key   |           doors for clients of Redis: when a key expires
 * +--------+----+------------+-------+
 * </pre>
 *
 * <p>A number of a map is written in the fewest bytes, and no number begins another one: 01 to 7F
 * is the number itself; 80 to BF begins one of 2 bytes, C0 to DF one of 3, E0 to EF one of 4.
 *
 * @param prefix that all keys begin with
 * @param end the least key above all; {@code null} if there is none
 */
record KeySpace(MemorySegment prefix, @Nullable MemorySegment end) {
  /** The greatest number of a map. */
  static final int NUMBER_MAX = (1 << 28) + (1 << 21) + (1 << 14) + (1 << 7) - 1;

  private static final byte[] RESERVED = KeyBounds.reserved().toArray(ValueLayout.JAVA_BYTE);

  /** The greatest number of bytes in front of a key. */
  static final int PREFIX_BYTES_MAX = RESERVED.length + 4;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** All keys of an index of words. */
  static final KeySpace WORDS = new KeySpace(NOTHING, null);

  /** The keys of the map without a name. */
  static final KeySpace UNNAMED = new KeySpace(NOTHING, MemorySegment.ofArray(RESERVED));

  /** The keys of the catalogue. */
  static final KeySpace CATALOGUE = beginningWith(new byte[] {0});

  /** Returns the keys of a named map by its number, from 1 to {@link #NUMBER_MAX}. */
  static KeySpace ofMap(int number) {
    int rest = number;
    int bytes = 1;
    for (int count = 1 << 7; rest >= count; count = 1 << (7 * bytes)) {
      rest -= count;
      bytes++;
    }
    byte[] written = new byte[bytes];
    for (int i = bytes - 1; i >= 0; i--) {
      written[i] = (byte) rest;
      rest >>>= Byte.SIZE;
    }
    // So many bits say how many bytes there are: 0, 10, 110, 1110.
    written[0] |= (byte) (0xF00 >>> bytes << 1);
    return beginningWith(written);
  }

  private static KeySpace beginningWith(byte[] bytes) {
    byte[] all = Arrays.copyOf(RESERVED, RESERVED.length + bytes.length);
    System.arraycopy(bytes, 0, all, RESERVED.length, bytes.length);
    MemorySegment prefix = MemorySegment.ofArray(all);
    return new KeySpace(prefix, KeyBounds.above(prefix, all.length));
  }

  int prefixBytes() {
    return (int) prefix.byteSize();
  }

  /** Returns a key of the index: the prefix, and bytes behind it. */
  MemorySegment with(byte[] bytes) {
    byte[] all = new byte[prefixBytes() + bytes.length];
    writePrefix(all);
    System.arraycopy(bytes, 0, all, prefixBytes(), bytes.length);
    return MemorySegment.ofArray(all);
  }

  /** Writes the prefix at the start of memory for a key. */
  void writePrefix(byte[] to) {
    MemorySegment.copy(prefix, ValueLayout.JAVA_BYTE, 0, to, 0, prefixBytes());
  }

  /** Returns what a key of the index has behind the prefix. */
  MemorySegment behindPrefix(MemorySegment key) {
    return key.asSlice(prefixBytes());
  }

  /** Returns whether a key, which begins with the prefix, is above all of these. */
  boolean isAbove(MemorySegment key) {
    return prefixBytes() == 0
        && end != null
        && key.byteSize() >= end.byteSize()
        && ByteIndex.compare(key, end) >= 0;
  }
}
