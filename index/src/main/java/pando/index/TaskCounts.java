package pando.index;

import org.jspecify.annotations.Nullable;

/**
 * How background tasks have gone at the compute servers of a process.
 *
 * @param done how often they did what they are there for, such as merge a leaf
 * @param failed how often that failed: everything stayed as it was, and a task or a session does it
 *     later
 * @param lastFailure why it failed last at one of them, {@code null} if it never has
 */
public record TaskCounts(long done, long failed, @Nullable Throwable lastFailure) {
  /** Nothing done yet. */
  public static final TaskCounts NONE = new TaskCounts(0, 0, null);

  /** Returns these counts plus those of other tasks. */
  public TaskCounts plus(TaskCounts other) {
    return new TaskCounts(
        done + other.done,
        failed + other.failed,
        other.lastFailure == null ? lastFailure : other.lastFailure);
  }
}
