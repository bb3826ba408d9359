package pando.sim.time;

import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.fabric.lane.VirtualThreads;

/**
 * One client: code that runs in virtual time, in blocking style. Between two waits it takes only
 * the time that it {@linkplain #charge charges}.
 */
public final class Client {
  /**
   * Longest time, in real nanoseconds, that a client waits for a monitor. The JDK has monitors that
   * all threads of a process share, such as that of its cleaners, so the clients of another
   * simulation may hold one.
   */
  private static final long MONITOR_NANOS_MAX = 2_000_000_000;

  private static final long MONITOR_PAUSE_NANOS = 50_000;

  private final Simulation simulation;
  private final Thread thread;
  private final Resource core;
  private final Runnable afterWait;
  private final Runnable onStart;
  private final Runnable wakeUp = this::resume;
  private final Runnable goOn = this::goOn;

  /**
   * The continuation of the thread; set from when the thread can go on until the simulation runs
   * it.
   */
  private volatile @Nullable Runnable ready;

  /** The continuation, where another thread than the simulation's has released a monitor. */
  private volatile @Nullable Runnable unblocked;

  /** Whether the simulation waits until the client hands itself back. */
  private volatile boolean carried;

  private volatile boolean ended;
  private boolean started;
  private boolean resuming;
  private boolean waiting;
  private long roundTrips;

  /** The time when the core has done the work that the client charged. */
  private long chargedUntil;

  /**
   * Creates a client.
   *
   * @param onStart run if its thread is started, and not this client resumed first
   */
  Client(
      Simulation simulation,
      String name,
      Resource core,
      Runnable afterWait,
      Runnable onStart,
      Runnable body) {
    this.simulation = simulation;
    this.core = core;
    this.afterWait = afterWait;
    this.onStart = onStart;
    // Each thread has its own scheduler, so that the scheduler knows which thread it wakes.
    Executor scheduler = this::accept;
    this.thread = VirtualThreads.unstarted(name, scheduler, () -> run(body));
  }

  /** Returns the client's clock, in picoseconds: it may be ahead of the simulation's. */
  public long now() {
    return Math.max(simulation.now(), chargedUntil);
  }

  /**
   * Uses the client's core for a time, after other clients that use it. For other clients, what
   * this client does meanwhile takes effect at the start of that time.
   */
  public void charge(long picos) {
    chargedUntil = core.serve(now(), picos);
  }

  /** Returns the core that the client uses. */
  public Resource core() {
    return core;
  }

  /** Counts a round trip. */
  public void countRoundTrip() {
    roundTrips++;
  }

  /** Returns the round trips that the client made so far. */
  public long roundTrips() {
    return roundTrips;
  }

  /** Waits until a time in picoseconds, or until the client's own time if that is later. */
  public void waitUntil(long time) {
    simulation.throwIfOver();
    simulation.at(Math.max(time, now()), wakeUp);
    await();
  }

  /** Waits until an event calls {@link #resume}. */
  public void await() {
    simulation.throwIfOver();
    waiting = true;
    while (waiting) {
      LockSupport.park(this);
    }
    simulation.throwIfOver();
    afterWait.run();
  }

  /** Lets the client go on, now. To be called from an event. */
  public void resume() {
    wake();
    if (ready == null) {
      throw new IllegalStateException("client was not waiting: " + describe());
    }
    carry();
  }

  /**
   * Ends the client when the simulation is over. A client that waits for a lock ends only after the
   * lock's holder has ended.
   */
  void end() {
    if (!started) {
      started = true;
      ended = true;
      return;
    }
    wake();
    if (ready != null) {
      carry();
    }
  }

  boolean hasEnded() {
    return ended;
  }

  Thread thread() {
    return thread;
  }

  /** Returns the client's name and stack. */
  String describe() {
    StringBuilder text = new StringBuilder(thread.getName());
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("\n    at ").append(frame);
    }
    return text.toString();
  }

  private void run(Runnable body) {
    try {
      body.run();
    } catch (SimulationOver over) {
      // The client is to end, wherever it is.
    } catch (Throwable e) {
      simulation.fail(e);
    } finally {
      ended = true;
      simulation.countEnd(this);
    }
  }

  private void wake() {
    waiting = false;
    resuming = true;
    if (started) {
      LockSupport.unpark(thread);
    } else {
      started = true;
      thread.start();
    }
    resuming = false;
  }

  /** Accepts the thread that was woken. Throws nothing to the waking thread, which may be any. */
  private void accept(Runnable task) {
    if (carried && !simulation.isOver() && simulation.isForeign(Thread.currentThread())) {
      unblocked = task;
      return;
    }
    ready = task;
    if (simulation.isOver()) {
      return;
    }
    if (!started) {
      begin();
    } else if (simulation.checkThread(thread.getName()) && !resuming) {
      // Another client released a lock that this one waits for.
      simulation.at(simulation.now(), goOn);
    }
  }

  /** Begins as a thread that was started. */
  private void begin() {
    if (!simulation.isRunning() || simulation.checkThread(thread.getName())) {
      started = true;
      onStart.run();
      simulation.admit(this, goOn);
    }
  }

  private void goOn() {
    if (ready != null) {
      carry();
    }
  }

  /** Runs the client in the simulation's thread until it waits. */
  private void carry() {
    Runnable task = ready;
    ready = null;
    carried = true;
    try {
      while (task != null) {
        mount(task);
        task = ended || simulation.isOver() ? null : blocked();
      }
    } finally {
      carried = false;
    }
  }

  private void mount(Runnable task) {
    simulation.enter(this);
    try {
      task.run();
    } finally {
      simulation.leave(this);
    }
  }

  /**
   * Returns how the client goes on once it has the monitor that it waits for, {@code null} if it
   * waits for an event, or for a lock of the JDK.
   */
  private @Nullable Runnable blocked() {
    long start = System.nanoTime();
    while (true) {
      Thread.State state = thread.getState();
      Runnable task = unblocked;
      if (task != null) {
        unblocked = null;
        return task;
      }
      if (state == Thread.State.WAITING) {
        return null;
      }
      boolean late = System.nanoTime() - start > MONITOR_NANOS_MAX;
      if (state == Thread.State.BLOCKED && late) {
        throw new IllegalStateException(
            "a client waits for a monitor that another holds across a wait: " + describe());
      }
      // What has just been unblocked counts as running.
      if (state != Thread.State.BLOCKED && (late || state != Thread.State.RUNNABLE)) {
        throw new IllegalStateException("client did not hand itself back: " + describe());
      }
      LockSupport.parkNanos(MONITOR_PAUSE_NANOS);
    }
  }
}
