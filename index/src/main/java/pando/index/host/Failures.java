package pando.index.host;

import org.jspecify.annotations.Nullable;

/** Takes steps that must all be taken, whichever fails; the first failure is thrown at the end. */
final class Failures {
  private @Nullable Throwable first;

  Failures() {}

  /** Takes a step. */
  void collect(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      add(e);
    }
  }

  private void add(Throwable failure) {
    if (first == null) {
      first = failure;
    } else {
      first.addSuppressed(failure);
    }
  }

  /** Throws the first failure, if there was one; the others have joined it. */
  void rethrow() {
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      throw (RuntimeException) first;
    }
  }

  /** Has the failures join an earlier one. */
  void join(Throwable earlier) {
    if (first != null) {
      earlier.addSuppressed(first);
    }
  }
}
