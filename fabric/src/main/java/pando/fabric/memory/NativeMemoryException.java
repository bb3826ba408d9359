package pando.fabric.memory;

import pando.fabric.PandoException;

/**
 * The operating system refused memory, or another process's memory has another size or lacks its
 * seals. The message names the system call and its error, or the value found and the one required.
 */
public final class NativeMemoryException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public NativeMemoryException(String message) {
    super(message);
  }
}
