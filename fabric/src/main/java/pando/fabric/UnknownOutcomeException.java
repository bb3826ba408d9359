package pando.fabric;

/**
 * An operation failed, and may have taken effect, may take effect later, or never: read the key
 * before repeating the operation. Also thrown for a CALL that a memory server took and did not
 * answer in time.
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
