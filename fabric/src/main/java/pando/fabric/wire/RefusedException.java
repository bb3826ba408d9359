package pando.fabric.wire;

import java.io.IOException;

/** One side of a connection does not accept the other. The message says why, without secrets. */
public final class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  private final int status;

  /**
   * Creates the exception.
   *
   * @param status that of {@link Hello} which says why
   */
  public RefusedException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** Creates the exception for a side that does not answer the other. */
  public RefusedException(String message, Throwable cause) {
    super(message, cause);
    this.status = Hello.NOT_ALLOWED;
  }

  /** Returns the status of {@link Hello} that says why. */
  public int status() {
    return status;
  }
}
