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

  /**
   * Returns what to throw where a failure leaves the outcome unknown; an {@link Error} is thrown as
   * it is, with the exception suppressed.
   */
  public static UnknownOutcomeException of(String message, Throwable failure) {
    if (failure instanceof Error error) {
      error.addSuppressed(new UnknownOutcomeException(message));
      throw error;
    }
    return new UnknownOutcomeException(message, failure);
  }

  /**
   * Returns whether a failure says that an operation may have taken effect: it is of this class, or
   * has one of this class among its suppressed exceptions.
   */
  public static boolean isSaidBy(Throwable failure) {
    if (failure instanceof UnknownOutcomeException) {
      return true;
    }
    // A loop, as the failure may be that memory is short.
    for (Throwable suppressed : failure.getSuppressed()) {
      if (suppressed instanceof UnknownOutcomeException) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether an operation that failed may have taken effect, whatever the failure says. */
  public static boolean isPossible(Throwable failure) {
    return isSaidBy(failure)
        || !(failure instanceof PandoException
            || failure instanceof IllegalArgumentException
            || failure instanceof IllegalStateException
            || failure instanceof StackOverflowError);
  }
}
