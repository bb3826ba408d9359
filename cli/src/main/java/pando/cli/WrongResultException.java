package pando.cli;

/**
 * A check found a wrong result. Always a bug, in what was checked or in the check. A command
 * reports it in one line.
 */
public final class WrongResultException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public WrongResultException(String message) {
    super(message);
  }
}
