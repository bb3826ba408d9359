package pando.cluster;

import pando.fabric.PandoException;

/**
 * The coordinator does not answer. Serving goes on; what was to be changed there may or may not
 * have been. Read again when it answers, and go on from there.
 */
public final class CoordinatorLostException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what was asked for. */
  public CoordinatorLostException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Creates the exception with what was asked for. */
  public CoordinatorLostException(String message) {
    super(message);
  }
}
