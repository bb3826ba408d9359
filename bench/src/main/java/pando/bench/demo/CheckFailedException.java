package pando.bench.demo;

/** The index returned another answer than an ordinary map. Always a bug. */
public final class CheckFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with the question, the answer and the right one. */
  public CheckFailedException(String message) {
    super(message);
  }
}
