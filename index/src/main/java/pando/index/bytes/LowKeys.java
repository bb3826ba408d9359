package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;
import pando.fabric.memory.KeyOrder;

/**
 * A search in a few dozen keys in their order, which looks at one of them alone. Of each key, the
 * length of the prefix that it has in common with the key before is here, and the byte behind that.
 * Immutable.
 */
final class LowKeys {
  /*
   * The search goes through the keys once. A key becomes the candidate if the wanted key has the
   * key's byte or a greater one behind the prefix; if not, those that share this prefix, or more,
   * are passed over. So the candidate is one that agrees with the wanted key as far as any does,
   * but the bytes between were not compared. They are now, and if they differ, all keys that share
   * more than what agrees with the candidate are on the same side of the wanted key. This is the
   * search in a node of a string B-tree (Ferragina and Grossi, JACM 1999).
   */

  private static final int OBJECT_BYTES = 16 + 16;

  /** In place of the byte behind a prefix, of a key that is no longer. */
  private static final int END = -1;

  /** Of each key, the prefix that it has in common with the one before, and 8 bits behind it. */
  private final int[] marks;

  LowKeys(int count, IntFunction<MemorySegment> keys) {
    this.marks = new int[count];
    MemorySegment before = keys.apply(0);
    for (int i = 1; i < count; i++) {
      MemorySegment key = keys.apply(i);
      int common = KeyOrder.commonPrefix(before, key);
      marks[i] = (common << Byte.SIZE) | (key.get(JAVA_BYTE, common) & 0xff);
      before = key;
    }
  }

  private int common(int i) {
    return marks[i] >>> Byte.SIZE;
  }

  /** Returns the number of a key that agrees with the wanted one as far as any does. */
  int candidate(MemorySegment wanted) {
    long bytes = wanted.byteSize();
    int candidate = 0;
    int passed = Integer.MAX_VALUE;
    for (int i = 1; i < marks.length; i++) {
      int mark = marks[i];
      int common = mark >>> Byte.SIZE;
      if (common < passed) {
        int its = common < bytes ? wanted.get(JAVA_BYTE, common) & 0xff : END;
        boolean reaches = its >= (mark & 0xff);
        candidate = reaches ? i : candidate;
        passed = reaches ? Integer.MAX_VALUE : common;
      }
    }
    return candidate;
  }

  /**
   * Returns the number of the last key at or below the wanted one, or -1.
   *
   * @param candidate of the wanted key
   * @param agrees how many bytes of the candidate are as in the wanted key; {@code -1 -} this
   *     number if the candidate is above the wanted key
   */
  int last(int candidate, int agrees) {
    int last = candidate;
    if (agrees < 0) {
      while (last > 0 && common(last) > -1 - agrees) {
        last--;
      }
      return last - 1;
    }
    while (last + 1 < marks.length && common(last + 1) > agrees) {
      last++;
    }
    return last;
  }

  /** Returns the bytes of local memory that this takes, in a heap of less than 32 GB. */
  long localBytes() {
    return OBJECT_BYTES + (long) marks.length * Integer.BYTES;
  }
}
