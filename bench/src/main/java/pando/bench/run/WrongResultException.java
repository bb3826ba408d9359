package pando.bench.run;

/** An operation returned a wrong result. Always a bug, in the subject or in the bench. */
public final class WrongResultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public WrongResultException(String message) {
    super(message);
  }
}
