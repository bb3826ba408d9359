package pando.journal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.zip.CRC32C;

/**
 * The bytes of a sorted file: all entries that a part of the log left, ascending by key. Little
 * endian. Nothing lies between the parts, no byte is without a sum, and none is unused.
 *
 * <pre>
 * header, 4,096 bytes, {@link SortedFileHeader}
 * blocks, of at least one entry each; of more only up to 64 KiB
 *     0   bytes of the block 4
 *     4   CRC32C 4, of the header's CRC32C, 4, of the block's place in the file, 8, and of its bytes
 *         from 8 on
 *     8   entries 4 | flags 4, which are 0
 *     16  entries: key bytes 2, value bytes 4 (-1: the key was removed; never in a base), key, value
 * index
 *     of each block: place 8, entries 4, key bytes 2, first key
 *     CRC32C of these 4
 * footer, 128 bytes, {@link SortedFileFooter}
 * </pre>
 *
 * <p>The sum of a block covers its place, and the sum of the header, which no other file has. So a
 * block is refused that was written elsewhere, or is left of an earlier file because the disk has
 * lost a write.
 */
final class SortedFileFormat {
  static final int VERSION = 1;

  static final int BLOCK_BYTES = 64 << 10;
  static final int BYTES = 0;
  static final int SUM = 4;
  static final int ENTRIES = 8;
  static final int FLAGS = 12;
  static final int FIRST_ENTRY = 16;

  static final int VALUE_BYTES = 2;
  static final int KEY = 6;
  static final int REMOVED = -1;
  static final int KEY_BYTES_MAX = 0xffff;
  static final int VALUE_BYTES_MAX = 16 << 20;
  static final int BLOCK_BYTES_MAX = FIRST_ENTRY + KEY + KEY_BYTES_MAX + VALUE_BYTES_MAX;

  static final int INDEX_ENTRIES = 8;
  static final int INDEX_KEY_BYTES = 12;
  static final int INDEX_KEY = 14;
  static final int INDEX_SUM_BYTES = 4;

  private SortedFileFormat() {}

  /**
   * Checks that an entry is one that a folder can have.
   *
   * @throws IllegalArgumentException if it is too long
   */
  static void check(long keyBytes, long valueBytes) {
    if (keyBytes > KEY_BYTES_MAX || valueBytes > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "too long for a record: keyBytes=%s, maximum=%s, valueBytes=%s, maximum=%s"
              .formatted(keyBytes, KEY_BYTES_MAX, valueBytes, VALUE_BYTES_MAX));
    }
  }

  /**
   * Returns a block, or a larger one in its place, which does not have its bytes. As sizes double,
   * all blocks of an arena together take at most four times what is needed.
   */
  static MemorySegment withRoom(MemorySegment block, long bytes, Arena arena) {
    return bytes <= block.byteSize()
        ? block
        : arena.allocate(Math.max(bytes, Math.min(2 * block.byteSize(), BLOCK_BYTES_MAX)));
  }

  /** Returns a digest that has seen nothing. */
  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /**
   * Returns the sum of a block.
   *
   * @param headerSum of the file's header
   * @param place of the block in the file
   */
  static int blockSum(int headerSum, long place, MemorySegment block, int bytes) {
    ByteBuffer where =
        ByteBuffer.allocate(Integer.BYTES + Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(headerSum)
            .putLong(place);
    CRC32C sum = new CRC32C();
    sum.update(where.flip());
    sum.update(block.asSlice(ENTRIES, bytes - ENTRIES).asByteBuffer());
    return (int) sum.getValue();
  }
}
