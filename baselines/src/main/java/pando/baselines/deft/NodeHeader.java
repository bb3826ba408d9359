package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;
import pando.index.pool.Checksums;

/**
 * The header of a node: its first line, most of which is the same for leaves and inner nodes.
 *
 * <pre>
 *        0            8     16     24        32        40         48              56          64
 *       +------------+-----+------+---------+---------+----------+---------------+-----------+
 * leaf  | line word  | low | high | sibling | address | checksum | count         | 0         |
 *       +------------+-----+------+---------+---------+----------+---------------+-----------+
 * inner | descriptor | low | high | sibling | address | checksum | first pointer | first key |
 *       +------------+-----+------+---------+---------+----------+---------------+-----------+
 * </pre>
 *
 * <p>A node covers the keys {@code low} to {@code high}, both inclusive; {@code sibling} is the
 * address of the node that covers the keys above, {@code NULL} for the last node. The checksum is
 * used with {@link DeftValidation#CHECKSUM} only, and the count in sorted leaves only. The highest
 * bit of the first word is set in leaves, clear in inner nodes.
 */
final class NodeHeader {
  static final int BYTES = 64;

  private static final int LOW = 8;
  static final int HIGH = 16;
  private static final int SIBLING = 24;
  private static final int ADDRESS = 32;
  static final int CHECKSUM = 40;

  private static final long[] MULTIPLIERS =
      Checksums.multipliers(InnerLayout.NODE_BYTES_MAX / Long.BYTES);

  private NodeHeader() {}

  /**
   * Returns the first word of a node: the line word of a leaf, or the descriptor of an inner node.
   */
  static long first(MemorySegment memory, long node) {
    return Words.get(memory, node);
  }

  static boolean isLeaf(long first) {
    return first < 0;
  }

  static long low(MemorySegment memory, long node) {
    return Words.get(memory, node + LOW);
  }

  static long high(MemorySegment memory, long node) {
    return Words.get(memory, node + HIGH);
  }

  static long sibling(MemorySegment memory, long node) {
    return Words.get(memory, node + SIBLING);
  }

  static long address(MemorySegment memory, long node) {
    return Words.get(memory, node + ADDRESS);
  }

  static long checksum(MemorySegment memory, long node) {
    return Words.get(memory, node + CHECKSUM);
  }

  static void setChecksum(MemorySegment memory, long node, long checksum) {
    Words.set(memory, node + CHECKSUM, checksum);
  }

  static void setFences(MemorySegment memory, long node, long low, long high) {
    Words.set(memory, node + LOW, low);
    Words.set(memory, node + HIGH, high);
  }

  static void setSibling(MemorySegment memory, long node, long sibling) {
    Words.set(memory, node + SIBLING, sibling);
  }

  static void setAddress(MemorySegment memory, long node, long address) {
    Words.set(memory, node + ADDRESS, address);
  }

  /**
   * Computes the checksum of a node's present bytes. A change of any single word changes the sum.
   */
  static long computeChecksum(MemorySegment memory, long node, int nodeBytes) {
    long sum = 0;
    for (int at = 0; at < nodeBytes; at += Long.BYTES) {
      if (at != CHECKSUM) {
        sum += Words.get(memory, node + at) * MULTIPLIERS[at / Long.BYTES];
      }
    }
    return sum ^ (sum >>> 32);
  }
}
