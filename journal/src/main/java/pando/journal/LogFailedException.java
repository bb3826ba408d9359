package pando.journal;

import pando.fabric.PandoException;

/**
 * The disk has failed to keep what was written, or a change cannot be logged as it is. Until the
 * folder is opened again nothing is changed, and nothing is answered that the disk may not have:
 * all up to the place that the message names is safe. End the process, look at the disk, and open
 * the folder again.
 */
public final class LogFailedException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and what caused it. */
  public LogFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
