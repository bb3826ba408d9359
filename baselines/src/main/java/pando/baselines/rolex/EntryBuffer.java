package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Entries that were copied out of leaves. Grows, and else does not allocate. */
final class EntryBuffer {
  private long[] keys = new long[64];
  private long[] values = new long[64];
  private int count;

  EntryBuffer() {}

  int count() {
    return count;
  }

  long key(int index) {
    return keys[index];
  }

  long value(int index) {
    return values[index];
  }

  /** Returns all keys; only the first {@link #count} mean anything. */
  long[] keys() {
    return keys;
  }

  void clear() {
    count = 0;
  }

  /** Forgets the entries from an index on. */
  void truncate(int to) {
    count = to;
  }

  void add(long key, long value) {
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, 2 * count);
      values = Arrays.copyOf(values, 2 * count);
    }
    keys[count] = key;
    values[count++] = value;
  }

  /** Adds all entries of a leaf. */
  void addLeaf(MemorySegment memory, long leaf) {
    int entries = RolexLeafLayout.count(memory, leaf);
    for (int i = 0; i < entries; i++) {
      add(RolexLeafLayout.key(memory, leaf, i), RolexLeafLayout.value(memory, leaf, i));
    }
  }

  /**
   * Brings the entries from an index on into the order of keys. Of two with the same key, which a
   * reader without a lock can see while an entry goes and comes back, one stays.
   */
  void sort(int from) {
    for (int gap = (count - from) / 2; gap > 0; gap /= 2) {
      for (int i = from + gap; i < count; i++) {
        insert(i, gap, from);
      }
    }
    int kept = from;
    for (int i = from; i < count; i++) {
      if (kept == from || keys[kept - 1] != keys[i]) {
        kept++;
      }
      keys[kept - 1] = keys[i];
      values[kept - 1] = values[i];
    }
    count = kept;
  }

  private void insert(int index, int gap, int from) {
    long key = keys[index];
    long value = values[index];
    int to = index;
    while (to - gap >= from && keys[to - gap] > key) {
      keys[to] = keys[to - gap];
      values[to] = values[to - gap];
      to -= gap;
    }
    keys[to] = key;
    values[to] = value;
  }

  /** Forgets the first entries. */
  void removeFirst(int removed) {
    System.arraycopy(keys, removed, keys, 0, count - removed);
    System.arraycopy(values, removed, values, 0, count - removed);
    count -= removed;
  }
}
