package pando.index.orca.leaf;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Cuts sorted records into the segments of a leaf, and writes the leaf. Reusable; of one thread at
 * a time.
 *
 * <p>A segment gets as many records as its slots hold, but records of one q stay together. This
 * makes the fewest segments. Heads have the least width with which the records fit: more than
 * {@link LeafLayout#SLOTS} records of one q fit no segment. Heads of 8 bytes separate all keys, but
 * a header has room for 8 of them only.
 */
public final class LeafPacker {
  private static final int SLOTS = LeafLayout.SLOTS;

  private final long[] heads = new long[LeafLayout.SEGMENTS_MAX];

  /** For each segment its first record, and behind the last one the number of records. */
  private final int[] starts = new int[LeafLayout.SEGMENTS_MAX + 1];

  private final short[] places = new short[LeafLayout.RECORDS_MAX];

  private long low;
  private long high;
  private int records;
  private int segments;
  private int width;
  private int shift;

  /**
   * Plans a leaf.
   *
   * @param keys has the keys of the records, ascending
   * @param from index of the first
   * @param count number of records, 0 or more
   * @param low low fence
   * @param high high fence, inclusive, above {@code low}
   * @return number of segments, 2 to 31; 0 if the records do not fit one leaf
   */
  public int plan(long[] keys, int from, int count, long low, long high) {
    Objects.checkFromIndexSize(from, count, keys.length);
    if (low >= high) {
      throw new IllegalArgumentException(
          "a leaf covers two keys or more: low=" + low + ", high=" + high);
    }
    checkKeys(keys, from, count, low, high);
    this.low = low;
    this.high = high;
    this.records = count;
    this.segments = 0;
    if (count > LeafLayout.RECORDS_MAX) {
      return 0;
    }
    if (!cut(keys, from, Byte.BYTES) && !cut(keys, from, Short.BYTES)) {
      cut(keys, from, Long.BYTES);
    }
    if (segments > 0) {
      place();
    }
    return segments;
  }

  private static void checkKeys(long[] keys, int from, int count, long low, long high) {
    for (int i = from + 1; i < from + count; i++) {
      if (keys[i] <= keys[i - 1]) {
        throw new IllegalArgumentException(
            "keys do not ascend: index=" + i + ", key=" + keys[i] + ", before=" + keys[i - 1]);
      }
    }
    if (count > 0 && (keys[from] < low || keys[from + count - 1] > high)) {
      throw new IllegalArgumentException(
          "keys outside of the leaf: first="
              + keys[from]
              + ", last="
              + keys[from + count - 1]
              + ", low="
              + low
              + ", high="
              + high);
    }
  }

  /** Cuts records with heads of a width; returns whether they fit. */
  private boolean cut(long[] keys, int from, int width) {
    int shift = Heads.shift(low, high, width);
    int segmentsMax = LeafLayout.segmentsMax(width);
    heads[0] = 0;
    starts[0] = 0;
    int cuts = 1;
    int start = 0;
    while (records - start > SLOTS) {
      long q = Heads.q(keys[from + start + SLOTS], low, shift);
      int end = startOfGroup(keys, from, start, start + SLOTS, q, shift);
      if (end == start || cuts == segmentsMax) {
        return false;
      }
      heads[cuts] = q;
      starts[cuts++] = end;
      start = end;
    }
    if (cuts == 1) {
      // The second segment begins as high as it can, as the void slots of the first need it.
      heads[1] = Heads.q(high, low, shift);
      starts[1] = startOfGroup(keys, from, 0, records, heads[1], shift);
      cuts = LeafLayout.SEGMENTS_MIN;
    }
    starts[cuts] = records;
    this.segments = cuts;
    this.width = width;
    this.shift = shift;
    return true;
  }

  /**
   * Returns the first record from {@code start} on that has this q, if the one before {@code end}
   * has it; else {@code end}.
   */
  private int startOfGroup(long[] keys, int from, int start, int end, long q, int shift) {
    int first = end;
    while (first > start && Heads.q(keys[from + first - 1], low, shift) == q) {
      first--;
    }
    return first;
  }

  private void place() {
    for (int segment = 0; segment < segments; segment++) {
      int place = segment * SLOTS;
      for (int record = starts[segment]; record < starts[segment + 1]; record++) {
        places[record] = (short) place++;
      }
    }
  }

  /** Returns the number of segments that were planned, 0 if the records did not fit. */
  public int segments() {
    return segments;
  }

  /** Returns the bytes of a head. */
  public int width() {
    return width;
  }

  /** Returns the shift of the heads. */
  public int shift() {
    return shift;
  }

  /** Returns the head of a segment; unsigned. */
  public long head(int segment) {
    return heads[segment];
  }

  /**
   * Returns the place of a record: segment * {@link LeafLayout#SLOTS} + slot.
   *
   * @param record its number among the planned records, from 0
   */
  public int place(int record) {
    return places[record];
  }

  /**
   * Writes the leaf that was planned: {@link LeafLayout#bytes} of its segments.
   *
   * @param memory receives the leaf
   * @param at offset in {@code memory}
   * @param address global address that the leaf is going to have
   * @param stamp a number that no other leaf has
   * @param keys the keys that were planned
   * @param values the value of each key, at the same index
   * @param from index of the first record
   */
  public void write(
      MemorySegment memory,
      long at,
      long address,
      long stamp,
      long[] keys,
      long[] values,
      int from) {
    if (segments == 0) {
      throw new IllegalStateException("no leaf is planned: records=" + records);
    }
    LeafLayout.setHeader(memory, at, segments, width, shift, low, high, stamp, records);
    for (int segment = 0; segment < segments; segment++) {
      LeafLayout.setHead(memory, at, width, segment, heads[segment]);
      writeSegment(memory, at, address, stamp, keys, values, from, segment);
    }
    LeafLayout.seal(memory, at);
  }

  private void writeSegment(
      MemorySegment memory,
      long at,
      long address,
      long stamp,
      long[] keys,
      long[] values,
      int from,
      int segment) {
    long segmentAt = at + LeafLayout.segment(segment);
    int start = from + starts[segment];
    int used = starts[segment + 1] - starts[segment];
    for (int slot = 0; slot < used; slot++) {
      Segment.set(memory, segmentAt, slot, keys[start + slot], values[start + slot]);
    }
    long voidKey = segment == 0 ? high : low;
    for (int slot = used; slot < SLOTS; slot++) {
      Segment.setVoid(
          memory, segmentAt, address + LeafLayout.segment(segment), slot, voidKey, stamp);
    }
  }
}
