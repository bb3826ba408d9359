package pando.index.blink;

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

  /** Writes a whole node to its address. */
  void write(long node);
}
