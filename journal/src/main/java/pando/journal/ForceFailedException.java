package pando.journal;

import java.io.IOException;

/**
 * The disk has not kept what was to be forced. It must not be forced again: the kernel may take for
 * written by then what is lost.
 */
final class ForceFailedException extends IOException {
  private static final long serialVersionUID = 1L;

  ForceFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
