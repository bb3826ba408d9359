package pando.index.orca.leaf;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;

/** Searches a leaf at the start of a memory with what its header says. */
final class Leaf {
  /** Result: the key is not in the segment. */
  static final int ABSENT = -1;

  private Leaf() {}

  /** Returns the slot of a key, {@link #ABSENT} or {@link Segment#DAMAGED}. */
  static int find(MemorySegment leaf, long address, int segment, long key) {
    return find(leaf, leaf, address, segment, key);
  }

  /** Searches a segment with a header that lies elsewhere. */
  static int find(MemorySegment header, MemorySegment leaf, long address, int segment, long key) {
    int records =
        Segment.records(
            leaf,
            LeafLayout.segment(segment),
            address + LeafLayout.segment(segment),
            segment == 0,
            LeafLayout.head(header, 0, segment),
            LeafLayout.last(header, 0, segment),
            LeafLayout.shift(header, 0),
            LeafLayout.low(header, 0),
            LeafLayout.high(header, 0),
            LeafLayout.stamp(header, 0));
    long[] keys = new long[LeafLayout.SLOTS];
    long[] values = new long[LeafLayout.SLOTS];
    int copied =
        Segment.copy(
            leaf,
            LeafLayout.segment(segment),
            address + LeafLayout.segment(segment),
            segment == 0,
            LeafLayout.head(header, 0, segment),
            LeafLayout.last(header, 0, segment),
            LeafLayout.shift(header, 0),
            LeafLayout.low(header, 0),
            LeafLayout.high(header, 0),
            LeafLayout.stamp(header, 0),
            keys,
            values,
            0);
    assertThat(copied).isEqualTo(records);
    for (int slot = 0; slot < records; slot++) {
      assertThat(keys[slot]).isEqualTo(Segment.key(leaf, LeafLayout.segment(segment), slot));
      assertThat(values[slot]).isEqualTo(Segment.value(leaf, LeafLayout.segment(segment), slot));
    }
    int found = records < 0 ? Segment.DAMAGED : ABSENT;
    for (int slot = 0; slot < records; slot++) {
      found = Segment.key(leaf, LeafLayout.segment(segment), slot) == key ? slot : found;
    }
    return found;
  }
}
