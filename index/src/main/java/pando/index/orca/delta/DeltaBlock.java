package pando.index.orca.delta;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.memory.Words;
import pando.index.orca.parts.CacheParts;

/**
 * The bytes of a delta's block, which is named by its place: its offset in units of 16 bytes, and 1
 * more, as 0 means no block.
 */
final class DeltaBlock {
  /*
   * A block with room for r records
   * ===============================
   *
   *     0  records 2 | room 2 | generation 1, zero for now | zero 3
   *     8  next free block 4, while the block is free | zero 4
   *    16  kind of record 0..r-1, 1 byte each, up to a multiple of 16
   *     s  record 0: key 8, value 8
   *    ..
   *
   * Records ascend by key. A reader may look at a block that is changed, or used again, meanwhile,
   * and compares versions afterwards. So whatever the bytes are, it stays within BYTES_MAX of the
   * block's start: number of records and room count as at most 255.
   */

  /** No block. */
  static final int NONE = 0;

  /** Records of the largest block. */
  static final int RECORDS_MAX = 255;

  /** Bytes that an offset of a block is a multiple of. */
  static final int UNIT_BYTES = 16;

  /** Bytes of the largest block. */
  static final long BYTES_MAX = bytes(RECORDS_MAX);

  static final int RECORD_BYTES = 16;

  private static final ValueLayout.OfShort SHORT = JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int COUNT = 0;
  private static final int ROOM = 2;
  private static final int KINDS = 16;
  private static final int SHORT_MASK = 0xffff;
  private static final int BYTE_MASK = 0xff;

  static {
    assert BYTES_MAX <= CacheParts.SLACK_BYTES;
  }

  private DeltaBlock() {}

  /** Returns the bytes of a block with room for some records. */
  static long bytes(int room) {
    return recordsOffset(room) + (long) room * RECORD_BYTES;
  }

  private static long recordsOffset(int room) {
    return KINDS + ((room + UNIT_BYTES - 1L) & -UNIT_BYTES);
  }

  /** Returns the name of the block that starts at an offset. */
  static int of(long at) {
    return (int) (at / UNIT_BYTES) + 1;
  }

  /** Returns where a block starts. */
  static long at(int block) {
    return (Integer.toUnsignedLong(block) - 1) * UNIT_BYTES;
  }

  static void setHeader(MemorySegment memory, int block, int count, int room) {
    memory.set(SHORT, at(block) + ROOM, (short) room);
    setCount(memory, block, count);
  }

  static void setCount(MemorySegment memory, int block, int count) {
    memory.set(SHORT, at(block) + COUNT, (short) count);
  }

  /** Returns the number of records, at most {@link #RECORDS_MAX}. */
  static int count(MemorySegment memory, int block) {
    return Math.min(memory.get(SHORT, at(block) + COUNT) & SHORT_MASK, RECORDS_MAX);
  }

  /** Returns the number of records that the block can hold, at most {@link #RECORDS_MAX}. */
  static int room(MemorySegment memory, int block) {
    return Math.min(memory.get(SHORT, at(block) + ROOM) & SHORT_MASK, RECORDS_MAX);
  }

  /** Returns where the kind of record 0 is. */
  static long kindsAt(int block) {
    return at(block) + KINDS;
  }

  /** Returns where record 0 is. */
  static long recordsAt(MemorySegment memory, int block) {
    return at(block) + recordsOffset(room(memory, block));
  }

  static int kind(MemorySegment memory, int block, int index) {
    return memory.get(JAVA_BYTE, kindsAt(block) + index) & BYTE_MASK;
  }

  static void setKind(MemorySegment memory, int block, int index, int kind) {
    memory.set(JAVA_BYTE, kindsAt(block) + index, (byte) kind);
  }

  static long key(MemorySegment memory, int block, int index) {
    return Words.get(memory, recordAt(memory, block, index));
  }

  static long value(MemorySegment memory, int block, int index) {
    return Words.get(memory, recordAt(memory, block, index) + Long.BYTES);
  }

  static void setValue(MemorySegment memory, int block, int index, long value) {
    Words.set(memory, recordAt(memory, block, index) + Long.BYTES, value);
  }

  static void setRecord(
      MemorySegment memory, int block, int index, long key, long value, int kind) {
    Words.set(memory, recordAt(memory, block, index), key);
    setValue(memory, block, index, value);
    setKind(memory, block, index, kind);
  }

  /** Copies records, and their kinds, to another place of the same or of another block. */
  static void copy(
      MemorySegment memory, int from, int fromIndex, int to, int toIndex, int records) {
    MemorySegment.copy(memory, kindsAt(from) + fromIndex, memory, kindsAt(to) + toIndex, records);
    MemorySegment.copy(
        memory,
        recordAt(memory, from, fromIndex),
        memory,
        recordAt(memory, to, toIndex),
        (long) records * RECORD_BYTES);
  }

  private static long recordAt(MemorySegment memory, int block, int index) {
    return recordsAt(memory, block) + (long) index * RECORD_BYTES;
  }
}
