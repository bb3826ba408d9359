package pando.cluster;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The machine that this process runs on. */
final class RealHost implements Host {
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

  /** A signal among threads. */
  private static final class RealSignal implements Signal {
    private final Semaphore given = new Semaphore(0);

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
