package pando.fabric.tcp;

import pando.fabric.PandoException;

/**
 * A memory server cannot listen where it should, none answers at an address, or the one that does
 * is not the one expected. The message says which; check the address, and that both sides are of
 * one version.
 */
public final class TcpException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public TcpException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  public TcpException(String message, Throwable cause) {
    super(message, cause);
  }
}
