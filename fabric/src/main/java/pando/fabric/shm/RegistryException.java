package pando.fabric.shm;

import pando.fabric.PandoException;

/**
 * The registry of this machine's memory servers refused a request: no memory server runs under the
 * name, one runs already, or the directory is not private. The message says which.
 */
public final class RegistryException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public RegistryException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  public RegistryException(String message, Throwable cause) {
    super(message, cause);
  }
}
