package pando.journal;

import pando.fabric.PandoException;

/**
 * The disk has no room for more of the log. The change had no effect, and all entries stay
 * readable. Make room on the disk: the log tries again each second.
 */
public final class LogFullException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong. */
  public LogFullException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  public LogFullException(String message, Throwable cause) {
    super(message, cause);
  }
}
