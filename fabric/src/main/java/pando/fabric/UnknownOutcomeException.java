package pando.fabric;

/**
 * A memory server took a CALL, or a verb, and has not answered it in time. It may have had its
 * effect, may have it later, or never: look before you repeat it.
 */
public final class UnknownOutcomeException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public UnknownOutcomeException(String message) {
    super(message);
  }
}
