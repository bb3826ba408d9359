package pando.journal;

import pando.fabric.PandoException;

/**
 * A file of a data folder is not as it was written. Nothing is opened and nothing is changed. The
 * message names the file and the place: copy the folder, look at the disk, and take a backup, or
 * run {@code pando data repair}, which says what it cuts off and keeps it.
 */
public final class DamagedLogException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public DamagedLogException(String message) {
    super(message);
  }
}
