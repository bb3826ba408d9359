package pando.cluster;

/**
 * What a process of a cluster takes from where it runs: a clock, threads, and how they wait for
 * each other. The simulator has another one, in virtual time.
 */
public interface Host {
  /** Returns real time and platform threads. */
  static Host real() {
    return new RealHost();
  }

  /** Returns a monotonic clock, in nanoseconds from any origin. */
  long nanoTime();

  /** Makes a thread, to be started by the caller. */
  Thread newThread(String name, Runnable body);

  /** Makes a signal that is not given. */
  Signal signal();

  /** What one thread at a time waits for. Thread-safe. */
  interface Signal {
    /** Lets the thread that waits go on, or else the next one that would wait. */
    void give();

    /**
     * Waits until the signal is given, or a time is over; after that it is not given any more.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    void await(long nanosMax) throws InterruptedException;
  }
}
