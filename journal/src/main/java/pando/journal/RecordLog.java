package pando.journal;

/**
 * A log that changes of an index are appended to: a {@link Log} in a folder, or one that other
 * processes keep. Each change is one record. Thread-safe; waits cannot be interrupted.
 *
 * <p>A change reserves room before it has any effect, takes effect, and is appended. It is safe
 * once {@link #synced} is not below the place that {@link #append} has returned.
 */
public interface RecordLog {
  /**
   * Reserves room for the records of a change, before it has any effect. May wait for room.
   *
   * @throws IllegalArgumentException if it is more than the log takes
   * @throws LogFullException if there is no room; nothing is reserved then
   * @throws LogFailedException if the log has failed; nothing is reserved then
   */
  void reserve(long bytes);

  /**
   * Reserves room as {@link #reserve}, for a thread that keeps others out: it does not wait for
   * what they would have to do.
   */
  void reserveAlone(long bytes);

  /** Gives back room that was reserved and is not used. */
  void release(long bytes);

  /**
   * Appends a change, for which room was reserved.
   *
   * @return the place behind it
   * @throws LogFailedException if the log has failed
   */
  long append(RecordBuilder record);

  /** Returns whether a change is acknowledged only once it is safe. */
  boolean waitsForSync();

  /**
   * Returns whether what was appended outlives a failure of the log: a change that ends by it may
   * be found later, so its outcome is not known.
   */
  boolean outlivesFailure();

  /** Returns the place up to which all is safe. */
  long synced();

  /**
   * Returns once all changes up to a place are safe.
   *
   * @throws LogFailedException if the log fails before
   */
  void awaitSynced(long lsn);

  /**
   * Runs a task once all changes up to a place are safe, or the log has failed: {@link #synced}
   * says which. The task is run by this thread or by one of the log, so it must be short and throw
   * nothing.
   */
  void whenSynced(long lsn, Runnable task);

  /** Makes the log fail: a change that took effect cannot be logged as it is. */
  void fail(Throwable cause);

  /**
   * Checks that the log has not failed.
   *
   * @throws LogFailedException if it has
   */
  void check();
}
