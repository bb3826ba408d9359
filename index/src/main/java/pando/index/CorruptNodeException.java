package pando.index;

import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;

/**
 * A node in the pool is damaged. Operations on keys of other nodes still work; those on keys of
 * this node fail until the index is loaded again.
 */
public final class CorruptNodeException extends PandoException {
  private static final long serialVersionUID = 1L;

  private final long address;

  /**
   * Creates the exception.
   *
   * @param address global address of the damaged node
   * @param reason what is wrong with it, with every value that matters
   */
  public CorruptNodeException(long address, String reason) {
    super("corrupt node at " + GlobalAddress.toString(address) + ": " + reason);
    this.address = address;
  }

  /** Returns the global address of the damaged node. */
  public long address() {
    return address;
  }
}
