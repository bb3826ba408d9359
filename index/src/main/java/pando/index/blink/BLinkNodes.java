package pando.index.blink;

/**
 * The nodes of a B-link system, as one worker reads and writes them. Offsets of nodes are of local
 * memory.
 */
public interface BLinkNodes {
  /** The node covers the key. */
  int COVERS = 0;

  /** The key lies above the node: its sibling is next. */
  int RIGHT = 1;

  /** It is not the node that was looked for, any more. */
  int STALE = 2;

  /** Returns the address of a node that was read. */
  long address(long node);

  /** Returns the least key that a node covers. */
  long low(long node);

  /** Returns the greatest key that a node covers. */
  long high(long node);

  /** Returns the address of the node after a node, {@code NULL} where there is none. */
  long sibling(long node);

  /**
   * Reads a node that no other session writes, as its lock is held.
   *
   * @param key that the node should cover
   * @param buffer where the node is to start
   * @return {@link #COVERS}, {@link #RIGHT} or {@link #STALE}
   * @throws pando.index.CorruptNodeException where it is no node
   */
  int readHeld(long address, int level, long key, long buffer);

  /** Writes a whole node. */
  void write(long node);
}
