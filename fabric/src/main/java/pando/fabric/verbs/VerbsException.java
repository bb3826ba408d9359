package pando.fabric.verbs;

import pando.fabric.PandoException;

/** RDMA cannot be used here, or a card refuses. The message says what was found and what to do. */
public final class VerbsException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  VerbsException(String message) {
    super(message);
  }
}
