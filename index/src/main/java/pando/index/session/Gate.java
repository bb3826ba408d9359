package pando.index.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.StalledException;
import pando.fabric.Worker;

/**
 * Lets operations in, and keeps them out while something changes that they all rely on.
 *
 * <p>Each worker has a {@link Pass} that says whether it is inside. Going in costs one fence and no
 * shared write. Thread-safe.
 */
public final class Gate {
  private static final VarHandle STATE = field(Gate.class, "state", int.class);
  private static final int OPEN = 0;
  private static final int SHUT = 1;
  private static final int CLOSED = 2;

  /** In time, not in attempts: a thread that is interrupted does not sleep between attempts. */
  private static final long WAIT_NANOS_MAX = 100_000_000_000L;

  private final List<Pass> passes = new ArrayList<>();
  private volatile int state = OPEN;

  /** Creates an open gate. */
  public Gate() {}

  private static VarHandle field(Class<?> owner, String name, Class<?> type) {
    try {
      return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
          .findVarHandle(owner, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** One worker's way through the gate. For the worker's thread alone. */
  public static final class Pass {
    private static final VarHandle INSIDE = field(Pass.class, "inside", boolean.class);

    private final Gate gate;
    private final Worker worker;

    @SuppressWarnings("unused") // Through INSIDE.
    private boolean inside;

    private Pass(Gate gate, Worker worker) {
      this.gate = gate;
      this.worker = worker;
    }

    /**
     * Goes in, and waits while the gate is shut.
     *
     * @throws IllegalStateException where the index is closed
     * @throws StalledException where the gate stays shut
     */
    public void enter() {
      if (!tryEnter()) {
        enterLater();
      }
    }

    private void enterLater() {
      long start = worker.nanoTime();
      for (int attempt = 0; !tryEnter(); attempt++) {
        if (gate.state == CLOSED) {
          throw new IllegalStateException("the index is closed");
        }
        pause(worker, attempt, start, "a change of the index does not end");
      }
    }

    private boolean tryEnter() {
      INSIDE.setVolatile(this, true);
      if (gate.state == OPEN) {
        return true;
      }
      INSIDE.setRelease(this, false);
      return false;
    }

    /** Goes out. */
    public void exit() {
      INSIDE.setRelease(this, false);
    }
  }

  /** Makes a pass for a worker. */
  public synchronized Pass pass(Worker worker) {
    Pass pass = new Pass(this, worker);
    passes.add(pass);
    return pass;
  }

  /** Ends a pass. */
  public synchronized void forget(Pass pass) {
    passes.remove(pass);
  }

  /**
   * Keeps all operations out, and waits until none is inside. Where another thread has shut the
   * gate, waits for that first.
   *
   * @return {@code false} where the gate is closed
   * @throws StalledException where an operation does not end; the gate is then open
   */
  public boolean shut(Worker worker) {
    long start = worker.nanoTime();
    for (int attempt = 0; !STATE.compareAndSet(this, OPEN, SHUT); attempt++) {
      if (state == CLOSED) {
        return false;
      }
      pause(worker, attempt, start, "another change of the index does not end");
    }
    boolean empty = false;
    try {
      for (int attempt = 0; isAnyInside(); attempt++) {
        pause(worker, attempt, start, "an operation does not end");
      }
      empty = true;
    } finally {
      if (!empty) {
        open();
      }
    }
    return true;
  }

  private static void pause(Worker worker, int attempt, long start, String reason) {
    long waited = worker.nanoTime() - start;
    if (waited > WAIT_NANOS_MAX) {
      throw new StalledException(reason + ": waitedNanos=" + waited);
    }
    worker.backoff().pause(attempt);
  }

  /** Lets operations in again. */
  public void open() {
    state = OPEN;
  }

  /** Turns all operations away from now on. To be called while shut. */
  public void close() {
    state = CLOSED;
  }

  /** Tells whether all operations are turned away. */
  public boolean isClosed() {
    return state == CLOSED;
  }

  private synchronized boolean isAnyInside() {
    for (Pass pass : passes) {
      if ((boolean) Pass.INSIDE.getVolatile(pass)) {
        return true;
      }
    }
    return false;
  }
}
