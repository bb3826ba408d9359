package pando.cluster;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.Lease;

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
public final class RenewedLease implements Lease, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RenewedLease.class.getName());
  private static final int RENEWALS = 4;
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private final Host host;
  private final long nanos;
  private final RegisteredMemory memory;
  private final Worker worker;
  private final Thread thread;
  private final Host.Signal closing;
  private final Host.Signal ended;

  /** Of those that wait for the lease to be renewed. */
  private final Queue<Host.Signal> waiting = new ConcurrentLinkedQueue<>();

  private volatile long heldUntil;

  /**
   * Why it cannot be renewed: this compute server is fenced, for good, or memory server 0 is lost,
   * as far as the last READ shows.
   */
  private volatile @Nullable PandoException refusal;

  private volatile boolean closed;

  private RenewedLease(Host host, Fabric fabric, Duration length) {
    this.host = host;
    this.nanos = length.toNanos();
    this.memory = fabric.register(Long.BYTES);
    this.worker = fabric.worker(memory);
    this.thread = host.newThread("pando-lease", this::keep);
    this.closing = host.signal();
    this.ended = host.signal();
  }

  /** Takes a lease by this machine's clock; else as {@link #take(Host, Fabric, Duration)}. */
  public static RenewedLease take(Fabric fabric, Duration length) {
    return take(Host.real(), fabric, length);
  }

  /**
   * Takes a lease; it is held when this returns.
   *
   * @param host whose clock counts
   * @param fabric opened under the compute server's name
   * @param length of the lease
   * @throws FencedException if the compute server is fenced
   * @throws PandoException if memory server 0 does not answer
   */
  public static RenewedLease take(Host host, Fabric fabric, Duration length) {
    RenewedLease lease = new RenewedLease(host, fabric, length);
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
    long sent = host.nanoTime();
    worker.read(GlobalAddress.of(0, 0), 0, Long.BYTES);
    heldUntil = sent + nanos;
  }

  private void keep() {
    try {
      while (!closed && !isFenced()) {
        tryToRenew();
        waiting.forEach(Host.Signal::give);
        if (!closed && !isFenced()) {
          closing.await(nanos / RENEWALS);
        }
      }
    } catch (InterruptedException e) {
      closed = true;
    } finally {
      release();
      waiting.forEach(Host.Signal::give);
      ended.give();
    }
  }

  private void tryToRenew() {
    try {
      renew();
      refusal = null;
    } catch (FencedException | MemoryServerLostException e) {
      refusal = e;
    } catch (PandoException e) {
      LOG.log(Level.DEBUG, "the lease was not renewed, and will be tried again", e);
    } catch (IllegalStateException e) {
      // The fabric is closed.
      closed = true;
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "the lease was not renewed, and will be tried again", e);
    }
  }

  @Override
  public boolean isHeld() {
    return heldUntil - host.nanoTime() > 0;
  }

  /** Returns whether the compute server was found to be fenced: it will never be held again. */
  public boolean isFenced() {
    return refusal instanceof FencedException;
  }

  /**
   * Returns once the lease is held.
   *
   * @throws FencedException if the compute server is fenced: what was read must not be answered
   * @throws MemoryServerLostException if memory server 0 is lost, as far as is known
   * @throws StalledException if it is not renewed for ten seconds: what was read must not be
   *     answered
   */
  @Override
  public void await() {
    if (!isHeld()) {
      awaitRenewal();
    }
  }

  private void awaitRenewal() {
    long start = host.nanoTime();
    Host.Signal renewed = host.signal();
    waiting.add(renewed);
    try {
      while (!isHeld()) {
        throwIfRefused();
        long left = WAIT_NANOS_MAX - (host.nanoTime() - start);
        if (closed || left <= 0) {
          throw new StalledException(
              "the lease was not renewed: leaseNanos=%s, waitedNanos=%s, closed=%s"
                  .formatted(nanos, WAIT_NANOS_MAX - left, closed));
        }
        renewed.await(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StalledException("interrupted while waiting for the lease");
    } finally {
      waiting.remove(renewed);
    }
  }

  private void throwIfRefused() {
    switch (refusal) {
      case FencedException e ->
          throw new FencedException("fenced, so not to be answered: " + e.getMessage());
      case PandoException e -> throw new MemoryServerLostException("no lease: " + e.getMessage());
      case null -> {}
    }
  }

  private void release() {
    worker.close();
    memory.close();
  }

  /** Lets the lease run out. A READ that is under way goes on until the fabric is closed. */
  void stop() {
    closed = true;
    closing.give();
  }

  /** As {@link #stop}, and returns once no READ is under way. */
  @Override
  public void close() {
    stop();
    try {
      ended.await(WAIT_NANOS_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // For a second call.
    ended.give();
  }
}
