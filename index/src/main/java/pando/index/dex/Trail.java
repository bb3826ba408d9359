package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.index.dex.cache.Frames;

/** The cached leaves that an operation has read, and their versions at that time. */
final class Trail {
  private final MemorySegment memory;
  private long[] leaves = new long[8];
  private long[] versions = new long[8];
  private int size;

  Trail(MemorySegment memory) {
    this.memory = memory;
  }

  void clear() {
    size = 0;
  }

  boolean isEmpty() {
    return size == 0;
  }

  void add(long leaf, long version) {
    if (size == leaves.length) {
      leaves = Arrays.copyOf(leaves, 2 * size);
      versions = Arrays.copyOf(versions, 2 * size);
    }
    leaves[size] = leaf;
    versions[size] = version;
    size++;
  }

  /** Returns whether no leaf has changed since it was read. */
  boolean isCurrent() {
    for (int i = 0; i < size; i++) {
      if (!Frames.isCurrent(memory, leaves[i], versions[i])) {
        return false;
      }
    }
    return true;
  }
}
