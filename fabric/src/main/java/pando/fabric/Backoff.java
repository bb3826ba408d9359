package pando.fabric;

/**
 * How a worker waits. All code that spins, retries or polls waits through this interface, so that
 * the same code runs in real and in virtual time.
 *
 * <p>An interrupted thread waits as long as another, and stays interrupted.
 */
public interface Backoff {
  /**
   * Pauses for attempts below this number spin and keep the processor, except in a virtual thread.
   */
  int SPINNING_ATTEMPTS = 16;

  /**
   * Waits before the next attempt: longer for higher attempts.
   *
   * @param attempt number of the attempt that failed, from 0
   */
  void pause(int attempt);

  /**
   * Waits for another session that needs only some verbs: as {@link #pause}, but with a limit on
   * the length of the pause.
   *
   * @param attempt number of the attempt that failed, from 0
   */
  default void pauseBriefly(int attempt) {
    pause(attempt);
  }

  /**
   * Returns the time by which waits are limited: that of {@link System#nanoTime}, or virtual time.
   */
  default long nanoTime() {
    return System.nanoTime();
  }

  /**
   * Marks a transition of a local lock or cache state. Free in production; a simulator may switch
   * to another client here.
   */
  default void transition() {}
}
