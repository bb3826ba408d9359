package pando.index.session;

import org.jspecify.annotations.Nullable;
import pando.fabric.UnknownOutcomeException;

/** Runs steps that must all be run even if some fail. The first failure is thrown at the end. */
public final class Failures {
  private @Nullable Throwable first;

  /** Creates an empty collection. */
  public Failures() {}

  /**
   * Returns what to throw for an operation that failed and may have changed its entry; an {@link
   * Error} is thrown as it is, with the exception suppressed.
   */
  public static UnknownOutcomeException uncertain(long key, Throwable failure) {
    return uncertain(Long.toString(key), failure);
  }

  /** As {@link #uncertain(long, Throwable)}, with a key as text. */
  public static UnknownOutcomeException uncertain(String key, Throwable failure) {
    return UnknownOutcomeException.of("the entry may have been changed: key=" + key, failure);
  }

  /** Runs a step and catches its failure. */
  public void collect(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      add(e);
    }
  }

  /** Records the failure of a step. */
  public void add(Throwable failure) {
    if (first == null) {
      first = failure;
    } else {
      first.addSuppressed(failure);
    }
  }

  /** Throws the first failure, if there was one, with the others suppressed. */
  public void rethrow() {
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      throw (RuntimeException) first;
    }
  }

  /** Adds the failures to an earlier one as suppressed. */
  public void join(Throwable earlier) {
    if (first != null) {
      earlier.addSuppressed(first);
    }
  }
}
