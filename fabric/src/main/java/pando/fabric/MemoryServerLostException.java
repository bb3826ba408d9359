package pando.fabric;

/**
 * A memory server died or its memory is gone. Its nodes are lost to this process: close the fabric,
 * start the memory server again and load the index anew.
 */
public final class MemoryServerLostException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public MemoryServerLostException(String message) {
    super(message);
  }
}
