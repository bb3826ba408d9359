package pando.fabric;

/**
 * An operation failed when it may have had its effect already, or may have it later, or never: look
 * before you repeat it. So does a CALL that a memory server took and has not answered in time.
 */
public final class UnknownOutcomeException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public UnknownOutcomeException(String message) {
    super(message);
  }

  /** Creates the exception with what is wrong and what caused it. */
  public UnknownOutcomeException(String message, Throwable cause) {
    super(message, cause);
  }
}
