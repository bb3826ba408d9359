package pando.index.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Fields;

/**
 * Keeps operations out while something changes that all of them rely on, such as the partitioning.
 *
 * <p>Each worker has a {@link Pass}, which holds whether the worker is inside. To enter costs one
 * memory fence and no write to shared memory. Thread-safe.
 */
public final class Gate {
  private static final VarHandle STATE = Fields.handle(MethodHandles.lookup(), "state", int.class);
  private static final int OPEN = 0;
  private static final int SHUT = 1;
  private static final int CLOSED = 2;
  private static final int SHUT_FOR_REST = 3;

  /** How long one thread alone may keep others waiting for those that are inside. */
  private static final long ALONE_NANOS_MAX = 10_000_000_000L;

  /** No thread has this number. */
  private static final long NOBODY = 0;

  private final List<Pass> passes = new ArrayList<>();
  private volatile int state = OPEN;

  /** The number of the thread that may enter while the gate is shut. */
  private volatile long alone = NOBODY;

  /** Creates an open gate. */
  public Gate() {}

  /** One worker's pass. Only the worker's thread may use it. */
  public static final class Pass {
    private static final VarHandle CROSSINGS =
        Fields.handle(MethodHandles.lookup(), "crossings", int.class);

    private final Gate gate;
    private final Worker worker;
    private volatile boolean waiting;

    /**
     * Whether the worker rests. It is inside, but counts as outside while the gate is shut for
     * rest.
     */
    private volatile boolean resting;

    /** Counts entries and exits: odd while the worker is inside. Wraps. */
    private int crossings;

    private Pass(Gate gate, Worker worker) {
      this.gate = gate;
      this.worker = worker;
    }

    /**
     * Enters the gate; waits while it is shut.
     *
     * @throws IllegalStateException if the gate is closed
     * @throws StalledException if the gate stays shut
     */
    public void enter() {
      if (!tryEnter()) {
        enterLater();
      }
    }

    private void enterLater() {
      if (gate.isAlone()) {
        goIn();
        return;
      }
      waiting = true;
      try {
        awaitOpen();
      } finally {
        waiting = false;
      }
    }

    private void awaitOpen() {
      long start = 0;
      for (int attempt = 0; !tryEnter(); attempt++) {
        if (gate.state == CLOSED) {
          throw closed();
        }
        start = pause(worker, attempt, start, "a change of the index does not end");
      }
    }

    /** Enters the gate, if it is open; returns whether it was. */
    public boolean tryEnter() {
      goIn();
      if (gate.state == OPEN) {
        return true;
      }
      exit();
      return false;
    }

    private void goIn() {
      CROSSINGS.setVolatile(this, crossings | 1);
    }

    /** Leaves the gate. */
    public void exit() {
      CROSSINGS.setRelease(this, (crossings | 1) + 1);
    }

    private int crossings() {
      return (int) CROSSINGS.getVolatile(this);
    }

    private boolean isInside() {
      return isInside(crossings());
    }

    private static boolean isInside(int crossings) {
      return (crossings & 1) != 0;
    }

    /** Returns whether another thread has shut the gate, and not for rest. */
    public boolean isShut() {
      return gate.state == SHUT;
    }

    /** Returns whether a worker inside is asked to rest. */
    public boolean isRestAsked() {
      return gate.state == SHUT_FOR_REST;
    }

    /**
     * Rests until the gate is no longer shut for that. Called inside, by a worker that holds
     * nothing that others wait for.
     *
     * @throws StalledException if the gate stays shut
     */
    public void rest() {
      long start = 0;
      // Looks at the gate after it has ended its rest: the gate may have been shut again.
      for (int attempt = 0; isRestAsked(); attempt++) {
        resting = true;
        try {
          start = pause(worker, attempt, start, "sessions rest, and the gate does not open");
        } finally {
          resting = false;
        }
      }
    }

    /**
     * Runs an action of this thread while no other thread is inside.
     *
     * @throws IllegalStateException if the gate is closed
     * @throws StalledException as {@link Gate#shutToOthers}
     */
    public void alone(Runnable action) {
      if (!gate.shutToOthers(worker)) {
        throw closed();
      }
      try {
        action.run();
      } finally {
        gate.open();
      }
    }
  }

  /**
   * The time until all operations that were inside at its start have ended. Those that begin later
   * see all that its starter had seen.
   */
  public static final class GracePeriod {
    private final List<Visit> visits;

    private GracePeriod(List<Visit> visits) {
      this.visits = visits;
    }

    /** Returns whether it has ended. Only one thread may ask. */
    public boolean hasEnded() {
      visits.removeIf(visit -> visit.pass.crossings() != visit.crossings);
      return visits.isEmpty();
    }
  }

  /** A pass that was inside, and its count then. */
  private record Visit(Pass pass, int crossings) {}

  /** Starts a grace period. */
  public synchronized GracePeriod gracePeriod() {
    List<Visit> visits = new ArrayList<>();
    for (Pass pass : passes) {
      int crossings = pass.crossings();
      if (Pass.isInside(crossings)) {
        visits.add(new Visit(pass, crossings));
      }
    }
    return new GracePeriod(visits);
  }

  /** Makes a pass for a worker. */
  public synchronized Pass pass(Worker worker) {
    Pass pass = new Pass(this, worker);
    passes.add(pass);
    return pass;
  }

  /** Removes the pass of a worker that closes. */
  public synchronized void forget(Pass pass) {
    passes.remove(pass);
  }

  /**
   * Shuts the gate and waits until no operation is inside. If another thread has shut it, first
   * waits until that thread opens it.
   *
   * @return {@code false} if the gate is closed
   * @throws StalledException if another thread's change or an operation does not end; this thread
   *     then has not shut the gate
   */
  public boolean shut(Worker worker) {
    return shut(worker, () -> true, WaitLimit.LONG.nanos());
  }

  /**
   * Shuts the gate to all threads but this one, which can enter still, by any pass. Those that wait
   * already enter first: so to shut the gate again and again keeps nobody out. Waits at most ten
   * seconds for operations inside, as others wait meanwhile.
   *
   * @return {@code false} if the gate is closed
   * @throws IllegalStateException if this thread has shut it to others already
   * @throws StalledException as {@link #shut}
   */
  public boolean shutToOthers(Worker worker) {
    boolean shut = shut(worker, () -> !isAnyWaiting(), ALONE_NANOS_MAX);
    if (shut) {
      alone = Thread.currentThread().threadId();
    }
    return shut;
  }

  private boolean shut(Worker worker, BooleanSupplier isTime, long insideNanosMax) {
    if (isAlone()) {
      throw new IllegalStateException("this thread keeps others out of the index");
    }
    long start = 0;
    for (int attempt = 0; !(isTime.getAsBoolean() && tryShut()); attempt++) {
      if (state == CLOSED) {
        return false;
      }
      start = pause(worker, attempt, start, "another change of the index does not end");
    }
    long shut = worker.nanoTime();
    if (!awaitEmpty(worker, shut, insideNanosMax)) {
      long waited = worker.nanoTime() - shut;
      throw new StalledException("an operation does not end: waitedNanos=" + waited);
    }
    return true;
  }

  private boolean tryShut() {
    return STATE.compareAndSet(this, OPEN, SHUT);
  }

  /** Returns whether this thread has shut the gate to others. */
  public boolean isAlone() {
    return alone == Thread.currentThread().threadId() && state == SHUT;
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the index is closed");
  }

  /**
   * Shuts the gate for something that can as well be done later: not if another thread has shut it,
   * nor if operations stay inside for some time.
   *
   * @param waitNanos longest wait, in nanoseconds; meanwhile no operation begins
   * @return whether the gate is shut, and no operation is inside
   */
  public boolean tryShut(Worker worker, long waitNanos) {
    return tryShut() && awaitEmpty(worker, worker.nanoTime(), waitNanos);
  }

  /**
   * Waits until no operation is inside. Opens the gate and returns {@code false} if that is late.
   */
  private boolean awaitEmpty(Worker worker, long start, long waitNanos) {
    boolean empty = false;
    try {
      empty = !isAnyInside();
      for (int attempt = 0; !empty && worker.nanoTime() - start <= waitNanos; attempt++) {
        worker.backoff().pause(attempt);
        empty = !isAnyInside();
      }
    } finally {
      if (!empty) {
        open();
      }
    }
    return empty;
  }

  private static long pause(Worker worker, int attempt, long start, String reason) {
    return WaitLimit.LONG.pause(worker.backoff(), attempt, start, reason);
  }

  /** Opens the gate again, unless it is closed. */
  public void open() {
    alone = NOBODY;
    STATE.compareAndSet(this, SHUT, OPEN);
  }

  /**
   * Shuts the gate so that no operation begins, and workers inside {@linkplain Pass#rest rest}
   * where they can; returns whether it did. Does not wait: see {@link #isQuiet}.
   */
  public boolean tryShutForRest() {
    return STATE.compareAndSet(this, OPEN, SHUT_FOR_REST);
  }

  /** Returns whether no worker is inside but those that rest. */
  public synchronized boolean isQuiet() {
    return passes.stream().allMatch(pass -> pass.resting || !pass.isInside());
  }

  /** Opens the gate after {@link #tryShutForRest}, unless it is closed. */
  public void endRest() {
    STATE.compareAndSet(this, SHUT_FOR_REST, OPEN);
  }

  /**
   * Closes the gate for good: all later operations are refused. Must be called while the gate is
   * shut, unless the operations inside fail in any case.
   *
   * @return {@code false} if it was closed already
   */
  public boolean close() {
    return (int) STATE.getAndSet(this, CLOSED) != CLOSED;
  }

  /** Returns whether the gate is closed for good. */
  public boolean isClosed() {
    return state == CLOSED;
  }

  private synchronized boolean isAnyWaiting() {
    return passes.stream().anyMatch(pass -> pass.waiting);
  }

  private synchronized boolean isAnyInside() {
    return passes.stream().anyMatch(Pass::isInside);
  }
}
