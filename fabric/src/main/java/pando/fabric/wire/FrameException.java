package pando.fabric.wire;

import java.io.IOException;

/** What came from the other side makes no sense. The connection is of no further use. */
public final class FrameException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with what is wrong and every value that matters. */
  public FrameException(String message) {
    super(message);
  }
}
