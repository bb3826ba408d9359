package pando.fabric;

/**
 * How a worker waits. Everything that spins, retries or polls does so through here, which alone
 * lets the same code run in real and in virtual time.
 *
 * <p>A thread that is interrupted waits as long as another, and stays interrupted.
 */
public interface Backoff {
  /** A pause for an attempt below this keeps the processor, but for that of a virtual thread. */
  int SPINNING_ATTEMPTS = 16;

  /**
   * Waits a little before the next attempt: the longer the higher the attempt.
   *
   * @param attempt number of the attempt that failed, from 0
   */
  void pause(int attempt);

  /**
   * Waits a little for what takes another session some verbs: as {@link #pause}, but never so long
   * that the waiter would notice late.
   *
   * @param attempt number of the attempt that failed, from 0
   */
  default void pauseBriefly(int attempt) {
    pause(attempt);
  }

  /**
   * Marks a transition of a local lock or cache state. Free in production; a simulator may switch
   * to another client here.
   */
  default void transition() {}
}
