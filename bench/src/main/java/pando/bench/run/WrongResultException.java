package pando.bench.run;

/** An answer was not what was written. Always a bug, in what is measured or in the bench. */
public final class WrongResultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public WrongResultException(String message) {
    super(message);
  }
}
