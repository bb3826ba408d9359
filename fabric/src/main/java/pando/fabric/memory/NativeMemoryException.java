package pando.fabric.memory;

import pando.fabric.PandoException;

/**
 * The operating system refused memory, or memory that another process offers is not what it should
 * be. The message names the system call and its error, or both the value found and the one
 * required.
 */
public final class NativeMemoryException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public NativeMemoryException(String message) {
    super(message);
  }
}
