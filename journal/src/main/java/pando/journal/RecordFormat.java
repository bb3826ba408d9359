package pando.journal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The bytes of a record of the log. Little endian; a multiple of {@value #ALIGNMENT}.
 *
 * <pre>
 *  0        4     8      9       10          12            16
 * +--------+-----+------+-------+-----------+-------------+-----+-------+-------+
 * | length | sum | kind | flags | key bytes | value bytes | key | value | zeros |
 * +--------+-----+------+-------+-----------+-------------+-----+-------+-------+
 * </pre>
 *
 * <p>The length is stored last: a record counts once it has one. The sum is CRC32C of 20 bytes: the
 * salt of the segment (8), the place of the record in the log (8), and CRC32C of all from the kind
 * on (4). So bytes that were moved, or are left of an earlier segment, are no record, and a value
 * cannot look like one.
 *
 * <p>What the kinds hold:
 *
 * <ul>
 *   <li>{@link #PUT}: a key with its value. A value of words has 8 bytes.
 *   <li>{@link #REMOVE}: a key that is gone.
 *   <li>{@link #PAD}: nothing. It has no key. Its value is the bytes that are skipped; the sum ends
 *       before them.
 *   <li>{@link #SYNCED}: no key; the place up to which all of the log is on the disk, 8 bytes. It
 *       begins a page of {@value #PAGE} bytes, so it can be found when what is before it is
 *       damaged.
 *   <li>{@link #CLOSED}: as SYNCED, and it is the last record of the log.
 *   <li>{@link #GROUP}: changes of different keys that count together or not at all. No key; the
 *       value is a row of PUTs and REMOVEs, each with its bytes from the kind to the value.
 * </ul>
 */
final class RecordFormat {
  static final byte PUT = 1;
  static final byte REMOVE = 2;
  static final byte PAD = 3;
  static final byte SYNCED = 4;
  static final byte CLOSED = 5;
  static final byte GROUP = 6;

  static final int ALIGNMENT = 16;

  /** Bytes in front of the key. */
  static final int HEAD = 16;

  static final int SUM = 4;
  static final int KIND = 8;
  static final int FLAGS = 9;
  static final int KEY_BYTES = 10;
  static final int VALUE_BYTES = 12;

  /** Pages of the disk: where SYNCED and CLOSED begin. */
  static final int PAGE = 4096;

  /** Bytes of a SYNCED and of a CLOSED. */
  static final int SYNCED_BYTES = 32;

  private static final VarHandle ALIGNED_INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  private RecordFormat() {}

  /** Returns how many bytes a record takes. */
  static long bytesOf(long keyBytes, long valueBytes) {
    return aligned(HEAD + keyBytes + valueBytes);
  }

  /** Returns the next multiple of {@value #ALIGNMENT}. */
  static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Stores the length of a record, after all its other bytes. */
  static void setLength(MemorySegment memory, long at, int length) {
    ALIGNED_INT.setRelease(memory, at, length);
  }
}
