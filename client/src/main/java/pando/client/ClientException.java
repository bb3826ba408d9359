package pando.client;

import pando.fabric.PandoException;

/**
 * No compute server could be asked, or one could not carry out an operation for a reason of its
 * own, which the message and its log say. Nothing was done. Check the addresses, the authentication
 * of both sides, and that they are of one version.
 */
public final class ClientException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public ClientException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  public ClientException(String message, Throwable cause) {
    super(message, cause);
  }
}
