package pando.journal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * What the bytes of all files of a folder have in common: numbers are little-endian, ids are
 * big-endian, and sums are CRC32C.
 */
final class FileBytes {
  static final ValueLayout.OfChar CHAR =
      ValueLayout.JAVA_CHAR_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private FileBytes() {}

  /** Returns 8 letters as the number that a file has in their place. */
  static long magic(String letters) {
    return MemorySegment.ofArray(letters.getBytes(StandardCharsets.US_ASCII)).get(LONG, 0);
  }

  /** Stores an id, in 16 bytes. */
  static void setId(MemorySegment memory, long at, UUID id) {
    memory.set(BIG_ENDIAN, at, id.getMostSignificantBits());
    memory.set(BIG_ENDIAN, at + Long.BYTES, id.getLeastSignificantBits());
  }

  /** Returns an id that {@link #setId} has stored. */
  static UUID id(MemorySegment memory, long at) {
    return new UUID(memory.get(BIG_ENDIAN, at), memory.get(BIG_ENDIAN, at + Long.BYTES));
  }

  /** Returns the sum of a part of a memory. */
  static int sum(MemorySegment memory, long from, long bytes) {
    CRC32C sum = new CRC32C();
    sum.update(memory.asSlice(from, bytes).asByteBuffer());
    return (int) sum.getValue();
  }
}
