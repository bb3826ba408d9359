package pando.index.bytes;

import org.jspecify.annotations.Nullable;
import pando.fabric.UnknownOutcomeException;

/**
 * Why a batch of changes failed as a whole: by the first failure of an operation, but by one with
 * an unknown outcome if there is one. The others are suppressed by it. Not thread-safe.
 */
public final class BatchFailure {
  private @Nullable RuntimeException failure;

  /** Begins without a failure. */
  public BatchFailure() {}

  /** Adds what an operation came to; returns whether it was done. */
  public boolean add(@Nullable RuntimeException another) {
    RuntimeException before = failure;
    if (another == null) {
      return true;
    }
    if (before == null) {
      failure = another;
    } else if (another instanceof UnknownOutcomeException
        && !(before instanceof UnknownOutcomeException)) {
      another.addSuppressed(before);
      failure = another;
    } else {
      before.addSuppressed(another);
    }
    return false;
  }

  /** Throws the failure, if there is one. */
  public void check() {
    if (failure != null) {
      throw failure;
    }
  }
}
