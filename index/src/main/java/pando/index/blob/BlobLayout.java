package pando.index.blob;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.Words;

/**
 * The bytes of a blob.
 *
 * <pre>
 * 0        8          12
 * +--------+----------+----------------------------+-------+
 * | sum    | length   | the value, or parts' words | zeros |
 * +--------+----------+----------------------------+-------+
 * </pre>
 *
 * <p>The sum is over all that follows, to the next multiple of 8 bytes behind the value, and over
 * the key and the word that the blob belongs to. So what is READ in place of a blob that is there
 * no more, or half of it, is not taken for it. Where several processes store blobs, {@link #FREED}
 * is in place of the sum of a blob that was freed.
 */
final class BlobLayout {
  /** What is in place of the sum of a blob that was freed. */
  static final long FREED = 0x46f2_eede_b10b_0000L;

  /** Offset of the value. */
  static final int VALUE = 12;

  /** Bytes that a READ of the length fetches. */
  static final int HEADER_BYTES = 16;

  private static final int LENGTH = 8;

  private BlobLayout() {}

  /** Returns the bytes that a blob with a value of a length needs, without slack. */
  static int bytes(int length) {
    return VALUE + length + 7 & -8;
  }

  /**
   * Writes what is before and behind a value.
   *
   * @param at offset of the blob in the memory, a multiple of 8
   * @param length of the value, which is there already
   */
  static void seal(MemorySegment memory, long at, int length, long key, long word) {
    int end = bytes(length);
    for (int i = VALUE + length; i < end; i++) {
      memory.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
    }
    memory.set(ValueLayout.JAVA_INT, at + LENGTH, length);
    Words.set(memory, at, sum(memory, at, end, key, word));
  }

  /** Returns the sum of a blob. */
  static long sum(MemorySegment memory, long at) {
    return Words.get(memory, at);
  }

  /** Returns the length of a value by the blob's header, which is not checked. */
  static int length(MemorySegment memory, long at) {
    return memory.get(ValueLayout.JAVA_INT, at + LENGTH);
  }

  /**
   * Returns the length of a blob's value, or -1 if these are not the blob's bytes.
   *
   * @param bytesMax size of the blob with its slack
   */
  static int length(MemorySegment memory, long at, int bytesMax, long key, long word) {
    int length = length(memory, at);
    if (length < 0 || length > bytesMax - VALUE) {
      return -1;
    }
    int end = bytes(length);
    return sum(memory, at) == sum(memory, at, end, key, word) ? length : -1;
  }

  private static long sum(MemorySegment memory, long at, int end, long key, long word) {
    return Spread.sum(memory, at + LENGTH, at + end, Spread.of(key) ^ word);
  }
}
