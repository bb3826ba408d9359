package pando.cluster;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.Worker;

/**
 * The time for which a compute server may answer from its caches, of which no {@linkplain
 * Fabric#fence fence} hears.
 *
 * <p>A thread READs a word of memory server 0 again and again. An answered READ was served before
 * any fence of this compute server came about there, and so after it was sent: from that moment on
 * the lease is held for its length, by this process's monotonic clock. One that fences waits for
 * {@link #outlasting} after the fence has come about; then no READ can be answered any more, and
 * all leases from those before are over, even if clocks run a tenth apart.
 *
 * <p>What was read from a cache counts if the lease is held <em>afterwards</em>: so look at it
 * last, before the answer goes out.
 */
public final class Lease implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Lease.class.getName());
  private static final int RENEWALS = 4;
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private final long nanos;
  private final RegisteredMemory memory;
  private final Worker worker;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  private volatile long heldUntil;

  /** Why it will never be held again. */
  private volatile @Nullable PandoException over;

  private volatile boolean closed;

  private Lease(Fabric fabric, Duration length) {
    this.nanos = length.toNanos();
    this.memory = fabric.register(Long.BYTES);
    this.worker = fabric.worker(memory);
    this.thread = Thread.ofPlatform().name("pando-lease").daemon().unstarted(this::keep);
  }

  /**
   * Takes a lease; it is held when this returns.
   *
   * @param fabric opened under the compute server's name
   * @param length of the lease
   * @throws FencedException if the compute server is fenced
   * @throws PandoException if memory server 0 does not answer
   */
  public static Lease take(Fabric fabric, Duration length) {
    Lease lease = new Lease(fabric, length);
    try {
      lease.renew();
      lease.thread.start();
      return lease;
    } catch (Throwable e) {
      lease.release();
      throw e;
    }
  }

  /** Returns how long to wait after a fence until a lease is over, if clocks run a tenth apart. */
  public static Duration outlasting(Duration lease) {
    return lease.multipliedBy(11).dividedBy(10);
  }

  private void renew() {
    long sent = System.nanoTime();
    worker.read(GlobalAddress.of(0, 0), 0, Long.BYTES);
    heldUntil = sent + nanos;
  }

  private void keep() {
    while (!closed && over == null) {
      try {
        renew();
      } catch (FencedException | MemoryServerLostException e) {
        over = e;
      } catch (PandoException e) {
        LOG.log(Level.DEBUG, "the lease was not renewed, and will be tried again", e);
      } catch (IllegalStateException e) {
        // The fabric is closed.
        closed = true;
      }
      pause();
    }
    release();
  }

  /** Tells those that wait, and waits for the next renewal. */
  private void pause() {
    lock.lock();
    try {
      changed.signalAll();
      long left = nanos / RENEWALS;
      while (left > 0 && !closed && over == null) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the lease is held now. */
  public boolean isHeld() {
    return heldUntil - System.nanoTime() > 0;
  }

  /** Returns whether the compute server was found to be fenced: it will never be held again. */
  public boolean isFenced() {
    return over instanceof FencedException;
  }

  /**
   * Returns once the lease is held.
   *
   * @throws FencedException if the compute server is fenced: what was read must not be answered
   * @throws MemoryServerLostException if memory server 0 is lost: nothing is answered any more
   * @throws StalledException if it is not renewed for ten seconds: what was read must not be
   *     answered
   */
  public void await() {
    if (!isHeld()) {
      awaitRenewal();
    }
  }

  private void awaitRenewal() {
    long start = System.nanoTime();
    boolean interrupted = false;
    lock.lock();
    try {
      while (!isHeld()) {
        throwIfOver();
        long left = WAIT_NANOS_MAX - (System.nanoTime() - start);
        if (closed || left <= 0) {
          throw new StalledException(
              "the lease was not renewed: leaseNanos=%s, waitedNanos=%s, closed=%s"
                  .formatted(nanos, WAIT_NANOS_MAX - left, closed));
        }
        try {
          left = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
          throw new StalledException("interrupted while waiting for the lease");
        }
      }
    } finally {
      lock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void throwIfOver() {
    switch (over) {
      case FencedException e ->
          throw new FencedException("fenced, so not to be answered: " + e.getMessage());
      case PandoException e ->
          throw new MemoryServerLostException("no lease any more: " + e.getMessage());
      case null -> {}
    }
  }

  private void release() {
    worker.close();
    memory.close();
  }

  /** Lets the lease run out. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join(WAIT_NANOS_MAX / 1_000_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
