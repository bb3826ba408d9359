package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;

/** A leaf or synonym leaf that was read, and the position of a key in it. Reused. */
final class LeafCursor {
  /** Number of the leaf among those that were read together. */
  int slot;

  /** Where its copy starts in local memory. */
  long image;

  /** Address that it was read from. */
  long address;

  /** Stamp of the leaves of its model. */
  long stamp;

  /** Index of the key that was looked for last, or {@code -1 - index} where it would go. */
  int index;

  void set(int slotOfLeaf, long copy, long from, long stampOfModel) {
    slot = slotOfLeaf;
    image = copy;
    address = from;
    stamp = stampOfModel;
  }

  /** Copies another cursor's leaf to local offset {@code to}, and sets this cursor to the copy. */
  void copy(MemorySegment memory, LeafCursor other, long to, int bytes) {
    MemorySegment.copy(memory, other.image, memory, to, bytes);
    set(other.slot, to, other.address, other.stamp);
    index = other.index;
  }

  /** Searches a key and sets {@link #index}; returns whether the leaf has the key. */
  boolean find(MemorySegment memory, long key) {
    index = RolexLeafLayout.find(memory, image, key);
    return index >= 0;
  }

  /** Returns the identity with which the leaf's checksum must agree. */
  long identity() {
    return RolexLeafLayout.identity(address, stamp);
  }
}
