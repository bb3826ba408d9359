package pando.sim;

/** A simulation makes no progress; the message has the stack of every client. */
public final class StuckException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates it with the reason and the stacks. */
  public StuckException(String message) {
    super(message);
  }
}
