package pando.cluster;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * What a process of a cluster takes from where it runs: a clock, threads, and how they wait for
 * each other. The simulator has another one, in virtual time.
 */
public interface Host {
  /** Returns real time and platform threads. */
  static Host real() {
    return RealHost.INSTANCE;
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

  /** The machine that this process runs on. */
  enum RealHost implements Host {
    INSTANCE;

    @Override
    public long nanoTime() {
      return System.nanoTime();
    }

    @Override
    public Thread newThread(String name, Runnable body) {
      return Thread.ofPlatform().name(name).daemon().unstarted(body);
    }

    @Override
    public Signal signal() {
      return new RealSignal();
    }
  }

  /** A signal among threads. */
  final class RealSignal implements Signal {
    private final Semaphore given = new Semaphore(0);

    private RealSignal() {}

    @Override
    public void give() {
      given.release();
    }

    @Override
    public void await(long nanosMax) throws InterruptedException {
      if (given.tryAcquire(nanosMax, TimeUnit.NANOSECONDS)) {
        given.drainPermits();
      }
    }
  }
}
