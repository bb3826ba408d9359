package pando.fabric;

/**
 * A verb named bytes outside the pool. Addresses read from the pool are checked before they are
 * used, so the cause is a damaged node or a bug.
 */
public final class InvalidAddressException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public InvalidAddressException(String message) {
    super(message);
  }
}
