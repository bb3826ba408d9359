package pando.bench.simulate;

/** Failures as text, for reports that cannot hold an exception. */
final class StackText {
  private static final int LENGTH_MAX = 2_000;

  private StackText() {}

  /** Returns an exception and the top of its stack, a line for each frame. */
  static String of(Throwable failure) {
    StringBuilder text = new StringBuilder().append(failure);
    int end = text.length() + LENGTH_MAX;
    for (StackTraceElement frame : failure.getStackTrace()) {
      if (text.length() > end) {
        break;
      }
      text.append("\n    at ").append(frame);
    }
    return text.toString();
  }
}
