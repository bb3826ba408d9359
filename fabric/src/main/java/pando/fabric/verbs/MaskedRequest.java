package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.Mlx5WqeCtrlSeg;
import pando.fabric.verbs.Abi.Mlx5WqeDataSeg;
import pando.fabric.verbs.Abi.Mlx5WqeRaddrSeg;

/**
 * Masked atomics as the raw requests that mlx5 cards take.
 *
 * <pre>
 *    0  control   3: opcode; 0: 8 | log2(bytes of an operand) - 2
 *                 4: queue pair, 24 bits; 7: length of the request in units of 16 bytes
 *                11: flags
 *   16  remote    address 8, key 4
 *   32  operands  swap, compare, swap mask, compare mask: each 8 bytes, or each 16;
 *                 or addend, boundaries: each 8
 *    n  local     bytes 4, key 4, address 8: where the value found goes
 * </pre>
 *
 * <p>Numbers are big-endian. Of 16 bytes, the word at the lower address comes first.
 */
final class MaskedRequest {
  /** Room for one; the longest has 112 bytes. */
  static final int ROOM = 128;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int REMOTE = Mlx5WqeCtrlSeg.BYTES;
  private static final int OPERANDS = REMOTE + Mlx5WqeRaddrSeg.BYTES;

  private static final int UNIT = 16;
  private static final int UNITS_MASK = 0x3f;
  private static final int QUEUE_PAIR_SHIFT = 8;
  private static final int SIZE_SHIFT = 24;

  /** The operands are in the request, and of the size that the lower bits say. */
  private static final int EXTENDED = 8;

  private static final int SIZE_OF_4 = 2;

  private MaskedRequest() {}

  /** Writes a masked CAS of 8 bytes, without its places. */
  static void cas(
      MemorySegment to, long at, long compare, long compareMask, long swap, long swapMask) {
    begin(to, at, Mlx5WqeCtrlSeg.MASKED_COMPARE_AND_SWAP, Long.BYTES, 4);
    operand(to, at, 0, swap);
    operand(to, at, 1, compare);
    operand(to, at, 2, swapMask);
    operand(to, at, 3, compareMask);
  }

  /** Writes a masked FAA of 8 bytes, without its places. */
  static void faa(MemorySegment to, long at, long addend, long boundaries) {
    begin(to, at, Mlx5WqeCtrlSeg.MASKED_FETCH_AND_ADD, Long.BYTES, 2);
    operand(to, at, 0, addend);
    operand(to, at, 1, boundaries);
  }

  /**
   * Writes a masked CAS of 16 bytes, without its places.
   *
   * @param operands as {@link pando.fabric.Worker#maskedCas16} takes them, from an offset on
   */
  static void cas16(MemorySegment to, long at, MemorySegment operands, long offset) {
    begin(to, at, Mlx5WqeCtrlSeg.MASKED_COMPARE_AND_SWAP, 2 * Long.BYTES, 8);
    for (int word = 0; word < 2; word++) {
      long from = offset + (long) word * Long.BYTES;
      operand(to, at, 2 + word, Words.get(operands, from));
      operand(to, at, 6 + word, Words.get(operands, from + 2 * Long.BYTES));
      operand(to, at, word, Words.get(operands, from + 4 * Long.BYTES));
      operand(to, at, 4 + word, Words.get(operands, from + 6 * Long.BYTES));
    }
  }

  private static void begin(MemorySegment to, long at, int opcode, int bytes, int words) {
    int size = Integer.numberOfTrailingZeros(bytes) - SIZE_OF_4;
    int units = (OPERANDS + words * Long.BYTES + Mlx5WqeDataSeg.BYTES) / UNIT;
    to.asSlice(at, (long) units * UNIT).fill((byte) 0);
    to.set(INT, at + Mlx5WqeCtrlSeg.OPMOD_IDX_OPCODE, (EXTENDED | size) << SIZE_SHIFT | opcode);
    to.set(INT, at + Mlx5WqeCtrlSeg.QPN_DS, units);
    to.set(INT, local(to, at) + Mlx5WqeDataSeg.BYTE_COUNT, bytes);
  }

  private static void operand(MemorySegment to, long at, int word, long value) {
    to.set(LONG, at + OPERANDS + (long) word * Long.BYTES, value);
  }

  /** Writes where a request's memory is, and where the value found goes. */
  static void setPlaces(
      MemorySegment to, long at, long local, int localKey, long remote, int remoteKey) {
    to.set(LONG, at + REMOTE + Mlx5WqeRaddrSeg.RADDR, remote);
    to.set(INT, at + REMOTE + Mlx5WqeRaddrSeg.RKEY, remoteKey);
    to.set(LONG, local(to, at) + Mlx5WqeDataSeg.ADDR, local);
    to.set(INT, local(to, at) + Mlx5WqeDataSeg.LKEY, localKey);
  }

  /** Writes by which queue pair a request goes. */
  static void setQueuePair(MemorySegment to, long at, int queuePair) {
    to.set(INT, at + Mlx5WqeCtrlSeg.QPN_DS, queuePair << QUEUE_PAIR_SHIFT | units(to, at));
  }

  /** Adds flags of {@link Mlx5WqeCtrlSeg} to a request. */
  static void addFlags(MemorySegment to, long at, int flags) {
    byte before = to.get(ValueLayout.JAVA_BYTE, at + Mlx5WqeCtrlSeg.FM_CE_SE);
    to.set(ValueLayout.JAVA_BYTE, at + Mlx5WqeCtrlSeg.FM_CE_SE, (byte) (before | flags));
  }

  private static long local(MemorySegment to, long at) {
    return at + (long) units(to, at) * UNIT - Mlx5WqeDataSeg.BYTES;
  }

  private static int units(MemorySegment to, long at) {
    return to.get(INT, at + Mlx5WqeCtrlSeg.QPN_DS) & UNITS_MASK;
  }
}
