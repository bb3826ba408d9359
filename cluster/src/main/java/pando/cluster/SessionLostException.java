package pando.cluster;

import pando.fabric.PandoException;

/**
 * This process's session with the coordinator has ended, so others may take it for dead, and take
 * over what it had. Open another session; at the start of a server, start it again.
 */
public final class SessionLostException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what happened. */
  public SessionLostException(String message) {
    super(message);
  }
}
