package pando.cluster;

import pando.fabric.PandoException;

/**
 * What a server needs of others at its start did not come in time: a memory server, say, or the end
 * of an earlier process with its number. Start it again.
 */
public final class WaitOverException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what was waited for, and for how long. */
  public WaitOverException(String message) {
    super(message);
  }

  /** Creates the exception with what was waited for, and why it did not come. */
  WaitOverException(String message, Throwable cause) {
    super(message, cause);
  }
}
