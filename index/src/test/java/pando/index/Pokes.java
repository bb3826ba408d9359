package pando.index;

/** Reads and damages the nodes of an index that nobody has open. */
public interface Pokes extends AutoCloseable {
  /** Returns the addresses of the nodes on the way to a key, the leaf's first. */
  long[] path(long key);

  /** Returns the least key that a node covers. */
  long low(long address);

  /** Returns the greatest key that a node covers. */
  long high(long address);

  /** Returns the bytes of a node. */
  byte[] peek(long address);

  /**
   * Replaces a node.
   *
   * @param sealed whether to make its checksum right
   */
  void poke(long address, byte[] bytes, boolean sealed);

  /** Returns where in a node its image starts. */
  int image();

  /** Returns where in a node a slot starts. */
  int slotAt(int index);

  @Override
  void close();
}
