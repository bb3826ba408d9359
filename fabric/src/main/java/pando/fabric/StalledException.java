package pando.fabric;

/**
 * A wait reached its limit. The message names what was waited for and its holder. The operation
 * took no effect and may be tried again.
 */
public final class StalledException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public StalledException(String message) {
    super(message);
  }
}
