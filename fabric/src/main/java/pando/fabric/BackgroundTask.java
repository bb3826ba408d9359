package pando.fabric;

/**
 * Work that a compute server does beside its sessions, in a thread that the fabric gives: it rests
 * until it is woken, and then takes one step after the other for as long as there is work.
 */
public interface BackgroundTask extends AutoCloseable {
  /**
   * Has the task look for work soon, which sees all that was done before. No wake is lost: one that
   * comes while the task works makes it look once more afterwards. One that comes after the task
   * has ended does nothing.
   *
   * <p>Thread-safe and cheap; waits for nothing. Allocates nothing but where the fabric is
   * simulated.
   */
  void wake();

  /**
   * Ends the task: waits for the step that is under way, and no other begins. Does nothing the
   * second time.
   *
   * @throws IllegalStateException if a step ends its own task
   * @throws RuntimeException as a step threw it, which ended the task earlier
   */
  @Override
  void close();
}
