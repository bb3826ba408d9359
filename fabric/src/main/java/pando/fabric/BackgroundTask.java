package pando.fabric;

/**
 * A background task of a compute server, concurrent to its sessions, in a thread of the fabric. It
 * rests until it is woken, and then takes one step after the other as long as there is work.
 */
public interface BackgroundTask extends AutoCloseable {
  /**
   * Makes the task check for work soon; its next step sees all writes of the caller before this
   * call. No wake is lost: after a wake during a step, the task checks once more. A wake after the
   * end of the task does nothing.
   *
   * <p>Thread-safe; never waits. Does not allocate, except on a simulated fabric.
   */
  void wake();

  /**
   * Makes the task check for work after some time, as {@link #wake} does at once. A later call
   * takes the place of an earlier one. Called by a step of the task alone.
   *
   * @param nanos of the clock of the task's workers
   */
  void wakeAfter(long nanos);

  /**
   * Ends the task: waits for the step that is under way; no further step begins. A second call does
   * nothing.
   *
   * @throws IllegalStateException if called from a step of the task itself
   * @throws RuntimeException the exception of a step, if one ended the task earlier
   */
  @Override
  void close();
}
