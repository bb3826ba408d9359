package pando.index.rolex;

import java.lang.foreign.MemorySegment;

/** A leaf, or synonym leaf, that was read, and where a key is in it. Filled again and again. */
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

  /** Copies a leaf to a place in local memory, and stands for that copy from here on. */
  void copy(MemorySegment memory, LeafCursor other, long to, int bytes) {
    MemorySegment.copy(memory, other.image, memory, to, bytes);
    set(other.slot, to, other.address, other.stamp);
    index = other.index;
  }

  /** Looks for a key, and leaves its {@link #index}; tells whether the leaf has it. */
  boolean find(MemorySegment memory, long key) {
    index = LeafLayout.find(memory, image, key);
    return index >= 0;
  }

  /** Returns what a leaf that is whole is known by. */
  long identity() {
    return LeafLayout.identity(address, stamp);
  }
}
