package pando.bench.trial;

/** Failures as text, for reports that cannot hold an exception. */
final class StackText {
  private static final int LENGTH_MAX = 2_000;

  private StackText() {}

  /** Returns an exception and the top of its stack, a line for each frame, and its causes alike. */
  static String of(Throwable failure) {
    StringBuilder text = new StringBuilder();
    append(text, failure);
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      append(text.append("\ncaused by: "), cause);
    }
    return text.toString();
  }

  private static void append(StringBuilder text, Throwable failure) {
    text.append(failure);
    int end = text.length() + LENGTH_MAX;
    for (StackTraceElement frame : failure.getStackTrace()) {
      if (text.length() > end) {
        break;
      }
      text.append("\n    at ").append(frame);
    }
  }
}
