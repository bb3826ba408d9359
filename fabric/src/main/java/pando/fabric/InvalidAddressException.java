package pando.fabric;

/**
 * A verb named bytes outside the pool. Addresses that come from the pool are checked before they
 * are followed, so this points at a damaged node or at a bug.
 */
public final class InvalidAddressException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public InvalidAddressException(String message) {
    super(message);
  }
}
