package pando.index.rolex;

import org.jspecify.annotations.Nullable;

/**
 * How retraining has gone at the compute servers of a process.
 *
 * @param replaced how often models were replaced
 * @param failed how often that failed; the models stayed as they were, and are asked for again
 * @param lastFailure why it failed last at one of them, {@code null} if it never has
 */
public record Retrainings(long replaced, long failed, @Nullable Throwable lastFailure) {
  static final Retrainings NONE = new Retrainings(0, 0, null);

  Retrainings plus(Retrainings other) {
    return new Retrainings(
        replaced + other.replaced,
        failed + other.failed,
        other.lastFailure == null ? lastFailure : other.lastFailure);
  }
}
