package pando.cluster;

import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;

/**
 * No generation of a cluster with data folders has begun. Start this process again: what was
 * acknowledged is in the data folders.
 */
public final class GenerationException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and what caused it, if it is known. */
  @SuppressWarnings("NullAway") // There need not be a cause.
  GenerationException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
