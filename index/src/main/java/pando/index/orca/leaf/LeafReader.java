package pando.index.orca.leaf;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;

/**
 * Reads all records of a leaf that was READ as a whole, and checks all of it. Reusable; of one
 * thread at a time.
 */
public final class LeafReader {
  private @Nullable String problem;

  /**
   * Copies the records of a leaf, in key order.
   *
   * @param memory has the leaf's bytes
   * @param at offset of its header in {@code memory}
   * @param address global address of the leaf
   * @param segments number of segments that it must have
   * @param low low fence that it must have
   * @param high high fence that it must have
   * @param stamp stamp that it must have; {@link LeafLayout#stamp} of the header where it is not
   *     known
   * @param keys receives the keys; has room for {@link LeafLayout#RECORDS_MAX}
   * @param values receives the values; has room for as many
   * @return number of records; {@link Segment#DAMAGED} if anything is wrong, which {@link #problem}
   *     says
   */
  public int read(
      MemorySegment memory,
      long at,
      long address,
      int segments,
      long low,
      long high,
      long stamp,
      long[] keys,
      long[] values) {
    problem = LeafLayout.problem(memory, at);
    if (problem != null) {
      return damaged(address, problem);
    }
    if (LeafLayout.segments(memory, at) != segments
        || LeafLayout.low(memory, at) != low
        || LeafLayout.high(memory, at) != high
        || LeafLayout.stamp(memory, at) != stamp) {
      return damaged(
          address,
          "another leaf"
              + identity(
                  LeafLayout.segments(memory, at),
                  LeafLayout.low(memory, at),
                  LeafLayout.high(memory, at),
                  LeafLayout.stamp(memory, at))
              + "; expected"
              + identity(segments, low, high, stamp));
    }
    return copy(memory, at, address, keys, values);
  }

  private int copy(MemorySegment memory, long at, long address, long[] keys, long[] values) {
    int segments = LeafLayout.segments(memory, at);
    int shift = LeafLayout.shift(memory, at);
    long low = LeafLayout.low(memory, at);
    long high = LeafLayout.high(memory, at);
    long stamp = LeafLayout.stamp(memory, at);
    int copied = 0;
    for (int segment = 0; segment < segments; segment++) {
      long segmentAt = at + LeafLayout.segment(segment);
      int records =
          Segment.records(
              memory,
              segmentAt,
              address + LeafLayout.segment(segment),
              segment == 0,
              LeafLayout.head(memory, at, segment),
              LeafLayout.last(memory, at, segment),
              shift,
              low,
              high,
              stamp);
      if (records < 0) {
        return damaged(address, "a segment is damaged: segment=" + segment);
      }
      for (int slot = 0; slot < records; slot++) {
        keys[copied] = Segment.key(memory, segmentAt, slot);
        values[copied++] = Segment.value(memory, segmentAt, slot);
      }
    }
    if (copied != LeafLayout.records(memory, at)) {
      return damaged(
          address,
          "wrong number of records: records="
              + copied
              + ", header="
              + LeafLayout.records(memory, at));
    }
    return copied;
  }

  private int damaged(long address, String text) {
    problem = "leaf " + GlobalAddress.toString(address) + ": " + text;
    return Segment.DAMAGED;
  }

  private static String identity(int segments, long low, long high, long stamp) {
    return ": segments="
        + segments
        + ", low="
        + low
        + ", high="
        + high
        + ", stamp=0x"
        + Long.toHexString(stamp);
  }

  /** Returns what was wrong with the leaf that was read last, or null if nothing was. */
  public @Nullable String problem() {
    return problem;
  }
}
