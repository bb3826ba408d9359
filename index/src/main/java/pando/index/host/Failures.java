package pando.index.host;

import org.jspecify.annotations.Nullable;

/** Runs steps that must all be run even if some fail. The first failure is thrown at the end. */
final class Failures {
  private @Nullable Throwable first;

  Failures() {}

  /** Runs a step and catches its failure. */
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

  /** Throws the first failure, if there was one, with the others suppressed. */
  void rethrow() {
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      throw (RuntimeException) first;
    }
  }

  /** Adds the failures to an earlier one as suppressed. */
  void join(Throwable earlier) {
    if (first != null) {
      earlier.addSuppressed(first);
    }
  }
}
