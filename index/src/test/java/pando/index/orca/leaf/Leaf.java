package pando.index.orca.leaf;

import java.lang.foreign.MemorySegment;

/** Searches a leaf at the start of a memory with what its header says. */
final class Leaf {
  private Leaf() {}

  static int find(MemorySegment leaf, long address, int segment, long key) {
    return find(leaf, leaf, address, segment, key);
  }

  /** Searches a segment with a header that lies elsewhere. */
  static int find(MemorySegment header, MemorySegment leaf, long address, int segment, long key) {
    return Segment.find(
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
        key);
  }
}
