package pando.index.dex;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Backoff;
import pando.fabric.StalledException;

/**
 * Lets the operations of a compute server in, and keeps them out while its range changes.
 *
 * <p>Each worker has a {@link Pass} that says whether it is inside. Going in costs one fence and no
 * shared write.
 */
final class Gate {
  private static final int OPEN = 0;
  private static final int SHUT = 1;
  private static final int CLOSED = 2;
  private static final int ATTEMPTS_MAX = 100_000;

  private final List<Pass> passes = new ArrayList<>();
  private volatile int state = OPEN;

  /** One worker's way through the gate. */
  static final class Pass {
    private static final VarHandle INSIDE;

    static {
      try {
        INSIDE = MethodHandles.lookup().findVarHandle(Pass.class, "inside", boolean.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final Gate gate;
    private final Backoff backoff;

    @SuppressWarnings("unused") // Through INSIDE.
    private boolean inside;

    private Pass(Gate gate, Backoff backoff) {
      this.gate = gate;
      this.backoff = backoff;
    }

    /** Goes in, and waits while the gate is shut. */
    void enter() {
      for (int attempt = 0; ; attempt++) {
        INSIDE.setVolatile(this, true);
        int state = gate.state;
        if (state == OPEN) {
          return;
        }
        INSIDE.setRelease(this, false);
        if (state == CLOSED) {
          throw new IllegalStateException("the index is closed");
        }
        if (attempt == ATTEMPTS_MAX) {
          throw new StalledException(
              "the compute server's range stayed in motion: attempts=" + ATTEMPTS_MAX);
        }
        backoff.pause(attempt);
      }
    }

    /** Goes out. */
    void exit() {
      INSIDE.setRelease(this, false);
    }
  }

  /** Makes a pass for a worker. */
  synchronized Pass pass(Backoff backoff) {
    Pass pass = new Pass(this, backoff);
    passes.add(pass);
    return pass;
  }

  /** Ends a pass. */
  synchronized void forget(Pass pass) {
    passes.remove(pass);
  }

  /** Keeps everybody out, and waits until everybody inside has left. */
  void shut(Backoff backoff) {
    state = SHUT;
    for (int attempt = 0; isAnybodyInside(); attempt++) {
      if (attempt == ATTEMPTS_MAX) {
        state = OPEN;
        throw new StalledException("an operation does not end: attempts=" + ATTEMPTS_MAX);
      }
      backoff.pause(attempt);
    }
  }

  /** Lets everybody in again. */
  void open() {
    state = OPEN;
  }

  /** Turns everybody away from now on. To be called while shut. */
  void close() {
    state = CLOSED;
  }

  private synchronized boolean isAnybodyInside() {
    for (Pass pass : passes) {
      if ((boolean) Pass.INSIDE.getVolatile(pass)) {
        return true;
      }
    }
    return false;
  }
}
