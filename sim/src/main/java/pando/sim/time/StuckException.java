package pando.sim.time;

/** A simulation that does not go on: the text has the stack of every client. */
public final class StuckException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  StuckException(String message) {
    super(message);
  }
}
