package pando.metrics;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * Runs the exchanges of an HTTP server, each in a virtual thread: a number of them at a time, and
 * none for longer than it may. A client that sends its request slowly, or does not read its
 * response, is cut off by an interrupt, which closes its connection.
 */
final class Exchanges implements Executor, AutoCloseable {
  /** How many can be under way; a further client's connection is closed. */
  static final int MAX = 64;

  private final long nanosMax;
  private final Semaphore free = new Semaphore(MAX);
  private final Map<Thread, Long> deadlines = new ConcurrentHashMap<>();
  private final Thread watch;
  private volatile long cutOff;

  /**
   * Starts the watch.
   *
   * @param timeMax that an exchange may take, or the part of one that {@link #renew} ends
   */
  Exchanges(Duration timeMax) {
    nanosMax = timeMax.toNanos();
    watch = Thread.ofVirtual().name("pando-http-watch").start(() -> watch(timeMax));
  }

  @Override
  public void execute(Runnable exchange) {
    if (!free.tryAcquire()) {
      throw new RejectedExecutionException("too many exchanges: max=" + MAX);
    }
    Thread thread = Thread.ofVirtual().name("pando-http").unstarted(() -> run(exchange));
    deadlines.put(thread, deadline());
    thread.start();
  }

  private void run(Runnable exchange) {
    try {
      exchange.run();
    } finally {
      deadlines.remove(Thread.currentThread());
      free.release();
    }
  }

  /** Gives the exchange of the calling thread its time again. */
  void renew() {
    deadlines.replace(Thread.currentThread(), deadline());
  }

  /** Returns how many were cut off, as they took too long. */
  long cutOff() {
    return cutOff;
  }

  private long deadline() {
    return System.nanoTime() + nanosMax;
  }

  private void watch(Duration timeMax) {
    Duration period = timeMax.dividedBy(10);
    try {
      while (true) {
        Thread.sleep(period);
        cutOffLate();
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the watch alone.
  private void cutOffLate() {
    long now = System.nanoTime();
    for (Map.Entry<Thread, Long> exchange : deadlines.entrySet()) {
      if (exchange.getValue() - now < 0) {
        exchange.getKey().interrupt();
        cutOff++;
      }
    }
  }

  /** Ends the watch, and cuts off all that are under way. */
  @Override
  public void close() {
    watch.interrupt();
    deadlines.keySet().forEach(Thread::interrupt);
  }
}
