package pando.index.blob;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.GlobalAddress;

/**
 * The 8 bytes that stand for a value in an entry of an index.
 *
 * <pre>
 *  63                                    8 7       0
 * +---------------------------------------+---------+
 * | bytes 0 to 6, the first one lowest    | 0 to 7  |  a short value, and its length
 * +---------+--------+--------------------+-+-+-----+
 * | stamp   | server | offset / 64        |1|p|class|  a blob
 * +---------+--------+--------------------+-+-+-----+
 *  63     51 50    43 42                 8 7 6 5   0
 * </pre>
 *
 * <p>The stamp differs, as a rule, from that of the blob that was in the same place before. With
 * <i>p</i>, the blob is a list of the words of parts.
 */
final class BlobWord {
  /** Greatest length of a value that the word itself holds. */
  static final int SHORT_MAX = 7;

  /** Memory servers that words can name. */
  static final int SERVERS_MAX = 1 << 8;

  /** Bytes of a memory server's DRAM that words can name. */
  static final long DRAM_BYTES_MAX = 1L << 41;

  private static final long BLOB = 1 << 7;
  private static final long PARTS = 1 << 6;
  private static final long KIND_MASK = 0xff;
  private static final long CLASS_MASK = (1 << BlobClasses.BITS) - 1;
  private static final int BYTES_SHIFT = 8;
  private static final int UNIT_SHIFT = 6;
  private static final int UNIT_BITS = 35;
  private static final int SERVER_SHIFT = BYTES_SHIFT + UNIT_BITS;
  private static final int STAMP_SHIFT = SERVER_SHIFT + 8;

  private BlobWord() {}

  /** Returns the word of a short value. */
  static long ofShort(MemorySegment bytes, long offset, int length) {
    long word = length;
    for (int i = 0; i < length; i++) {
      long each = bytes.get(ValueLayout.JAVA_BYTE, offset + i) & 0xffL;
      word |= each << (BYTES_SHIFT + i * Byte.SIZE);
    }
    return word;
  }

  /**
   * Returns the word of a blob.
   *
   * @param stamp of which the lowest 13 bits are taken
   */
  static long ofBlob(long address, int sizeClass, boolean parts, int stamp) {
    return BLOB
        | (parts ? PARTS : 0)
        | sizeClass
        | GlobalAddress.offset(address) >>> UNIT_SHIFT << BYTES_SHIFT
        | (long) GlobalAddress.server(address) << SERVER_SHIFT
        | (long) stamp << STAMP_SHIFT;
  }

  /** Returns whether the word is that of a blob. */
  static boolean isBlob(long word) {
    return (word & BLOB) != 0;
  }

  /** Returns whether a blob is a list of parts. */
  static boolean hasParts(long word) {
    return (word & PARTS) != 0;
  }

  /** Returns the number of a blob's class. */
  static int sizeClass(long word) {
    return (int) (word & CLASS_MASK);
  }

  /** Returns the address of a blob. */
  static long address(long word) {
    long unit = word >>> BYTES_SHIFT & (1L << UNIT_BITS) - 1;
    int server = (int) (word >>> SERVER_SHIFT) & (SERVERS_MAX - 1);
    return GlobalAddress.of(server, unit << UNIT_SHIFT);
  }

  /** Returns the length of a short value, above {@link #SHORT_MAX} if the word is damaged. */
  static int shortLength(long word) {
    return (int) (word & KIND_MASK);
  }

  /** Returns the bytes of a short value, the first one lowest. */
  static long shortBytes(long word) {
    return word >>> BYTES_SHIFT;
  }
}
