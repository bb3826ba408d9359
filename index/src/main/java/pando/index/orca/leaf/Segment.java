package pando.index.orca.leaf;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * Checks and searches a segment of a leaf that was READ from the pool.
 *
 * <p>A segment is sound if its keys ascend, each with a q of this segment and between the leaf's
 * fences, and if the slots behind them are exactly void. So a segment of another leaf, an older one
 * at the same address, or zeros are detected. A damaged key that still has a q of the segment, and
 * stands in order, is not: a segment has no sum, because its values change in place.
 *
 * <p>The methods have these parameters in common:
 *
 * <ul>
 *   <li>{@code at}: offset of the segment in {@code memory}
 *   <li>{@code address}: global address of the segment
 *   <li>{@code first}: whether it is segment 0 of its leaf
 *   <li>{@code from}, {@code last}: its head and the greatest q that can belong to it, both
 *       inclusive: the one below the next head, or that of the high fence. The end is not
 *       exclusive, as the q of a leaf that covers all keys goes up to 2^64 - 1.
 *   <li>{@code shift}, {@code low}, {@code high}, {@code stamp}: of the leaf
 * </ul>
 */
public final class Segment {
  /** Result: the segment is not sound. */
  public static final int DAMAGED = -2;

  private static final int SLOTS = LeafLayout.SLOTS;
  private static final int SLOT_BYTES = LeafLayout.SLOT_BYTES;

  private Segment() {}

  /** Returns the number of records, which have the first slots; or {@link #DAMAGED}. */
  public static int records(
      MemorySegment memory,
      long at,
      long address,
      boolean first,
      long from,
      long last,
      int shift,
      long low,
      long high,
      long stamp) {
    int records = used(memory, at, address, first ? high : low, stamp);
    if (records <= 0) {
      return records;
    }
    long previous = key(memory, at, 0);
    boolean sound = previous >= low + (from << shift);
    for (int slot = 1; slot < records; slot++) {
      long key = key(memory, at, slot);
      sound &= key > previous;
      previous = key;
    }
    return sound && previous <= greatest(last, shift, low, high) ? records : DAMAGED;
  }

  /**
   * Copies the records as they are checked. Others may write the memory meanwhile: whatever it has,
   * the copy is sound, or {@link #DAMAGED}, but only the caller knows whether it is of one leaf.
   *
   * @param keys get the keys, from {@code to} on
   * @param values get the values, from {@code to} on
   * @return as {@link #records}
   */
  public static int copy(
      MemorySegment memory,
      long at,
      long address,
      boolean first,
      long from,
      long last,
      int shift,
      long low,
      long high,
      long stamp,
      long[] keys,
      long[] values,
      int to) {
    int records = used(memory, at, address, first ? high : low, stamp);
    if (records <= 0) {
      return records;
    }
    long previous = key(memory, at, 0);
    keys[to] = previous;
    values[to] = value(memory, at, 0);
    boolean sound = previous >= low + (from << shift);
    for (int slot = 1; slot < records; slot++) {
      long key = key(memory, at, slot);
      sound &= key > previous;
      keys[to + slot] = key;
      values[to + slot] = value(memory, at, slot);
      previous = key;
    }
    return sound && previous <= greatest(last, shift, low, high) ? records : DAMAGED;
  }

  /** Returns the number of slots before those that are void; {@link #DAMAGED} if one is not. */
  private static int used(MemorySegment memory, long at, long address, long voidKey, long stamp) {
    int records = SLOTS;
    while (records > 0 && key(memory, at, records - 1) == voidKey) {
      records--;
      if (value(memory, at, records) != voidValue(stamp, address, records)) {
        return DAMAGED;
      }
    }
    return records;
  }

  /** Returns the greatest key whose q is {@code last}. */
  private static long greatest(long last, int shift, long low, long high) {
    // Where the distance would be 2^64, it wraps to 0, and 0 - 1 is what it must be.
    long distance = ((last + 1) << shift) - 1;
    return Long.compareUnsigned(distance, high - low) < 0 ? low + distance : high;
  }

  /** Returns the key of a slot. */
  public static long key(MemorySegment memory, long at, int slot) {
    return Words.getUnaligned(memory, at + (long) slot * SLOT_BYTES);
  }

  /** Returns the value of a slot. */
  public static long value(MemorySegment memory, long at, int slot) {
    return Words.getUnaligned(memory, at + (long) slot * SLOT_BYTES + Long.BYTES);
  }

  static void set(MemorySegment memory, long at, int slot, long key, long value) {
    Words.setUnaligned(memory, at + (long) slot * SLOT_BYTES, key);
    Words.setUnaligned(memory, at + (long) slot * SLOT_BYTES + Long.BYTES, value);
  }

  static void setVoid(
      MemorySegment memory, long at, long address, int slot, long voidKey, long stamp) {
    set(memory, at, slot, voidKey, voidValue(stamp, address, slot));
  }

  private static long voidValue(long stamp, long address, int slot) {
    return LeafLayout.voidValue(stamp, address + (long) slot * SLOT_BYTES);
  }
}
