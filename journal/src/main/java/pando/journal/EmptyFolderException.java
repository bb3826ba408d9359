package pando.journal;

import pando.fabric.PandoException;

/**
 * A data folder that a person has named has no entries, so nothing begins with it. Nothing was
 * changed. The message names the folder: put the right one in its place, or name another one.
 */
public final class EmptyFolderException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with which folder it is. */
  public EmptyFolderException(String message) {
    super(message);
  }
}
