package pando.bench.trial;

/** A simulation hung: the text has the stack of every client. */
final class HangException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  HangException(String message) {
    super(message);
  }
}
