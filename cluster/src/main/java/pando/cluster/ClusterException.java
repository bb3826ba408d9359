package pando.cluster;

import pando.fabric.PandoException;

/**
 * The cluster is not as this process needs it: another one has its number, say, or the index is of
 * another format. The message says what to do.
 */
public final class ClusterException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong, every value that matters, and what to do. */
  public ClusterException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong, and how it was found. */
  ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
