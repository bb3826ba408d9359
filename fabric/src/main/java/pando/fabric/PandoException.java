package pando.fabric;

/**
 * A failure of the environment, as opposed to a caller's mistake ({@link IllegalArgumentException})
 * or an expected refusal (a return value). The Javadoc of each subclass says what to do.
 */
public abstract class PandoException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  protected PandoException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  protected PandoException(String message, Throwable cause) {
    super(message, cause);
  }
}
