package pando.cli;

import pando.fabric.PandoException;

/** A file of entries cannot be read, or a line of it is none of such a file. */
final class EntryFileException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with the file, the line and what is wrong. */
  EntryFileException(String message, Throwable cause) {
    super(message, cause);
  }
}
