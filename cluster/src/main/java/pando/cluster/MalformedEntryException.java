package pando.cluster;

import pando.fabric.PandoException;

/**
 * An entry of the coordinator is not one of Pando's, or of another version: look at which cluster
 * this is. Nothing was changed.
 */
public final class MalformedEntryException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong. */
  public MalformedEntryException(String message) {
    super(message);
  }
}
