package pando.journal;

import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;

/**
 * A data folder cannot be opened, read or written: another process has it open, rights are missing,
 * or the disk has failed. The message names the folder and says what is wrong. Nothing was changed.
 */
public final class DataFolderException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public DataFolderException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  @SuppressWarnings("NullAway") // There need not be a cause.
  public DataFolderException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
