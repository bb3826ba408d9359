package pando.index.orca;

import org.jspecify.annotations.Nullable;

/**
 * How merging in the background has gone at the compute servers of a process.
 *
 * @param merged how often a leaf was merged
 * @param failed how often that failed; the leaf stayed as it was, and sessions merge it themselves
 * @param lastFailure why it failed last at one of them, {@code null} if it never has
 */
public record BackgroundMerges(long merged, long failed, @Nullable Throwable lastFailure) {
  static final BackgroundMerges NONE = new BackgroundMerges(0, 0, null);

  BackgroundMerges plus(BackgroundMerges other) {
    return new BackgroundMerges(
        merged + other.merged,
        failed + other.failed,
        other.lastFailure == null ? lastFailure : other.lastFailure);
  }
}
