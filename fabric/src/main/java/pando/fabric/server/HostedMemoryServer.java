package pando.fabric.server;

import java.util.concurrent.CountDownLatch;
import pando.fabric.PoolUsage;
import pando.fabric.memory.Closing;

/**
 * A memory server that this process runs for compute servers in others. Runs until it is closed or
 * the process ends; its nodes are lost then. Thread-safe.
 */
public abstract class HostedMemoryServer implements AutoCloseable {
  private final MemoryServer server;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean closing;

  /** For subclasses, which close the memory server when they {@link #end}. */
  protected HostedMemoryServer(MemoryServer server) {
    this.server = server;
  }

  /** Ends the memory server and releases what it has; called once. */
  protected abstract void end();

  /** Returns the memory server. */
  protected final MemoryServer server() {
    return server;
  }

  /** Returns what compute servers find it by: a name, or an address and a port. */
  public abstract String place();

  /** Returns its number in the fabric. */
  public final int number() {
    return server.number();
  }

  /** Returns the use of the pool. */
  public final PoolUsage usage() {
    return server.usage();
  }

  /** Returns the number of CALLs answered. */
  public final long callsServed() {
    return server.callsServed();
  }

  /** Returns the number of CALLs refused, and of those whose handler threw. */
  public final long callsFailed() {
    return server.callsFailed();
  }

  /** Returns whether it is closed, or about to be. */
  public final boolean isClosed() {
    return closing;
  }

  /** Waits until another thread has closed this memory server. */
  public final void awaitClosed() throws InterruptedException {
    closed.await();
  }

  /**
   * Ends the memory server; its compute servers find that it is lost. Waits for what is served, but
   * only for a while for a handler that does not return. A second call does nothing.
   */
  @Override
  public final synchronized void close() {
    if (!closing) {
      closing = true;
      Closing.all(this::end, closed::countDown);
    }
  }
}
