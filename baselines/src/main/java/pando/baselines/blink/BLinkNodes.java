package pando.baselines.blink;

import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.index.pool.NodePlaces;

/**
 * Reads and writes the nodes of a B-link tree for one worker. {@code node} is the local offset of a
 * node that was read.
 */
public interface BLinkNodes {
  /** The node covers the key. */
  int COVERS = 0;

  /** The key is above the node's greatest key: go on to its sibling. */
  int RIGHT = 1;

  /** The node is not the one that was searched for. */
  int STALE = 2;

  /**
   * Returns what is wrong with a node's header, {@code null} if nothing is.
   *
   * @param address where the node was read
   * @param own address in the header
   */
  static @Nullable String problemOfHeader(
      NodePlaces places, long address, long own, long low, long high, long sibling) {
    if (own != address) {
      return "holds the node of another address: " + GlobalAddress.toString(own);
    }
    return low > high || (high < Long.MAX_VALUE) != places.isNodeAddress(sibling)
        ? "no fences and sibling: low=%s, high=%s, sibling=0x%s"
            .formatted(low, high, Long.toHexString(sibling))
        : null;
  }

  /** Returns the address of a node that was read. */
  long address(long node);

  /** Returns the least key that a node covers. */
  long low(long node);

  /** Returns the greatest key that a node covers. */
  long high(long node);

  /** Returns the address of a node's right sibling, {@code NULL} if there is none. */
  long sibling(long node);

  /**
   * Reads a node whose lock the session holds, so that no other session writes it.
   *
   * @param key a key that the node should cover
   * @param buffer local offset of the buffer for the node
   * @return {@link #COVERS}, {@link #RIGHT} or {@link #STALE}
   * @throws pando.index.CorruptNodeException if the bytes are not a node
   */
  int readHeld(long address, int level, long key, long buffer);

  /**
   * Reads a node once, without a lock.
   *
   * @param key a key that the node should cover
   * @param buffer local offset of the buffer for the node
   * @return {@link #COVERS}, {@link #RIGHT}, {@link #STALE}, or another number if what was read is
   *     torn or no node
   */
  int readOnce(long address, int level, long key, long buffer);

  /** Copies the children of a whole inner node. */
  void copyChildren(long node, Children children);

  /** Returns the number of entries of a leaf. */
  int entries(long leaf);

  /** Writes a whole node to its address. */
  void write(long node);
}
