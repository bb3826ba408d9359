package pando.index;

import pando.fabric.PandoException;

/**
 * A key belongs to a compute server of another process. The operation had no effect: send it to
 * that process, or move the key's range to this process.
 */
public final class NotServedHereException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with the key as text, and the compute server that owns it. */
  public NotServedHereException(String key, int computeServer) {
    super("key is served by another process: key=" + key + ", computeServer=" + computeServer);
  }
}
