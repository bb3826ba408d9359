package pando.sim.time;

import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One client: code that runs in virtual time, in blocking style. Between two waits it takes no time
 * but what it {@linkplain #charge charges}.
 */
public final class Client {
  private final Simulation simulation;
  private final Thread thread;
  private final Resource core;
  private final Runnable afterWait;
  private final Runnable wakeUp = this::resume;
  private final Runnable goOn = this::goOn;

  /** Carries the thread on; there from when it can go on until it is carried. */
  private volatile @Nullable Runnable ready;

  private volatile boolean ended;
  private boolean started;
  private boolean resuming;
  private boolean waiting;
  private long roundTrips;

  /** When the core is done with what the client has charged. */
  private long chargedUntil;

  Client(Simulation simulation, String name, Resource core, Runnable afterWait, Runnable body) {
    this.simulation = simulation;
    this.core = core;
    this.afterWait = afterWait;
    // A scheduler of its own for each thread: the scheduler knows which thread it wakes.
    Executor scheduler = this::accept;
    this.thread = VirtualThreads.unstarted(name, scheduler, () -> run(body));
  }

  /** Returns the client's clock, in picoseconds: it may be ahead of the simulation's. */
  public long now() {
    return Math.max(simulation.now(), chargedUntil);
  }

  /**
   * Uses the client's core, and waits for it where another client does. Others see what the client
   * does meanwhile as done at the start.
   */
  public void charge(long picos) {
    chargedUntil = core.serve(now(), picos);
  }

  /** Counts a round trip. */
  public void countRoundTrip() {
    roundTrips++;
  }

  /** Returns the round trips that the client made so far. */
  public long roundTrips() {
    return roundTrips;
  }

  /** Waits until a time, in picoseconds; at least until the client's own. */
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
   * Ends the client of a simulation that is over, as far as that goes: one that waits for a lock
   * does so once its holder has ended.
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

  /**
   * Takes over the thread that was woken. The waking thread, which may be any, learns of no
   * failure.
   */
  private void accept(Runnable task) {
    ready = task;
    if (simulation.isOver()) {
      return;
    }
    if (simulation.checkThread(thread.getName()) && !resuming) {
      // Another client released a lock that this one waits for.
      simulation.at(simulation.now(), goOn);
    }
  }

  private void goOn() {
    if (ready != null) {
      carry();
    }
  }

  /** Has the simulation's thread run the client until it waits. */
  private void carry() {
    Runnable task = ready;
    ready = null;
    simulation.enter(this);
    try {
      if (task != null) {
        task.run();
      }
    } finally {
      simulation.leave(this);
    }
    if (!ended && !simulation.isOver()) {
      checkHandedBack();
    }
  }

  private void checkHandedBack() {
    switch (thread.getState()) {
      case WAITING -> {
        // For an event, or for a lock of the JDK.
      }
      case BLOCKED ->
          throw new IllegalStateException(
              "a client waits for a monitor that another holds across a wait: " + describe());
      default -> throw new IllegalStateException("client did not hand itself back: " + describe());
    }
  }
}
