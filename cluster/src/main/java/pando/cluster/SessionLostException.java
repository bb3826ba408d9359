package pando.cluster;

import pando.fabric.PandoException;

/**
 * This process's session with the coordinator has ended, so others take it for dead, and take over
 * what it had. End the process; a new one may take its number again.
 */
public final class SessionLostException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what happened. */
  public SessionLostException(String message) {
    super(message);
  }
}
