package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * The header of a memory server's tree. The catalogue's root is the address of the header of the
 * tree with the least keys.
 *
 * <pre>
 *   0  mark 8       its address, all bits but the lowest flipped
 *   8  node size 8
 *  16  low 8        the least key that the tree can have
 *  24  high 8       the greatest key that the tree can have
 *  32  next 8       address of the header of the tree with the keys above, 0 at the last
 *  40  root 8       address of the root node | its level in the 6 low bits
 *  48  free 8       address of the first node of the free list, 0 if there is none
 *  56  free nodes 8
 *  64  entries 8
 *  72  least 8      times that a new key became the least of the tree
 *  80  greatest 8   times that a new key became the greatest
 * </pre>
 *
 * <p>Takes the place of a node. It is written by WRITE before the tree is in use; then all but the
 * number of entries is read and written by the processors of the memory server alone.
 */
final class EmtHeader {
  static final int BYTES = 88;
  static final int LOW = 16;
  static final int HIGH = 24;
  static final int NEXT = 32;
  static final int ROOT = 40;
  static final int FREE = 48;
  static final int FREE_NODES = 56;
  static final int ENTRIES = 64;
  static final int LEAST = 72;
  static final int GREATEST = 80;

  private static final int MARK = 0;
  private static final int NODE_BYTES = 8;
  private static final long LEVEL_MASK = 63;

  private EmtHeader() {}

  /** Makes the header of a tree whose root is a leaf. */
  static void format(
      MemorySegment memory,
      long header,
      long address,
      int nodeBytes,
      long low,
      long high,
      long next,
      long root) {
    memory.asSlice(header, BYTES).fill((byte) 0);
    Words.set(memory, header + MARK, mark(address));
    Words.set(memory, header + NODE_BYTES, nodeBytes);
    Words.set(memory, header + LOW, low);
    Words.set(memory, header + HIGH, high);
    Words.set(memory, header + NEXT, next);
    Words.set(memory, header + ROOT, root);
  }

  private static long mark(long address) {
    return ~address ^ 1;
  }

  /** Returns whether these are the bytes of a header at an address. */
  static boolean isWhole(MemorySegment memory, long header, long address) {
    long nodeBytes = Words.get(memory, header + NODE_BYTES);
    return Words.get(memory, header + MARK) == mark(address)
        && nodeBytes >= EmtNode.BYTES_MIN
        && nodeBytes <= EmtNode.BYTES_MAX;
  }

  static int nodeBytes(MemorySegment memory, long header) {
    return (int) Words.get(memory, header + NODE_BYTES);
  }

  static long get(MemorySegment memory, long header, int field) {
    return Words.get(memory, header + field);
  }

  static void set(MemorySegment memory, long header, int field, long value) {
    Words.set(memory, header + field, value);
  }

  static void add(MemorySegment memory, long header, int field, long addend) {
    Words.set(memory, header + field, Words.get(memory, header + field) + addend);
  }

  /** Returns the address in a root pointer. */
  static long rootAddress(long root) {
    return root & ~LEVEL_MASK;
  }

  /** Returns the level in a root pointer. */
  static int rootLevel(long root) {
    return (int) (root & LEVEL_MASK);
  }
}
