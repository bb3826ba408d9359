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
  private final Runnable wakeUp = this::resume;
  private @Nullable Runnable ready;
  private boolean started;
  private boolean waiting;
  private boolean ended;

  private long roundTrips;

  /** Time that the client has used beyond the simulation's. */
  private long ahead;

  Client(Simulation simulation, String name, Resource core, Runnable body) {
    this.simulation = simulation;
    this.core = core;
    // A field of its own for each thread: whoever wakes a thread is told which one.
    Executor scheduler = this::accept;
    this.thread = VirtualThreads.unstarted(name, scheduler, () -> run(body));
  }

  /** Returns the client's clock, in picoseconds. */
  public long now() {
    return simulation.now() + ahead;
  }

  /**
   * Uses the client's core, and waits for it where another client does. Others see what the client
   * does meanwhile as done at the start.
   */
  public void charge(long picos) {
    ahead = core.serve(now(), picos) - simulation.now();
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
    simulation.at(Math.max(time, now()), wakeUp);
    await();
  }

  /** Waits until an event calls {@link #resume}. */
  public void await() {
    simulation.throwIfOver();
    ahead = 0;
    waiting = true;
    while (waiting) {
      LockSupport.park(this);
    }
    simulation.throwIfOver();
  }

  /** Lets the client go on, now. To be called from an event. */
  public void resume() {
    waiting = false;
    simulation.enter(this);
    if (started) {
      LockSupport.unpark(thread);
    } else {
      started = true;
      thread.start();
    }
    Runnable task = ready;
    ready = null;
    if (task == null) {
      throw new IllegalStateException("client was not waiting: " + describe());
    }
    task.run();
    simulation.leave(this);
    if (!waiting && !ended && !thread.getState().equals(Thread.State.WAITING)) {
      throw new IllegalStateException("client did not hand itself back: " + describe());
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
    }
  }

  /** Takes the thread from whoever woke it. */
  private void accept(Runnable task) {
    simulation.checkThread();
    ready = task;
    if (!simulation.isEntering(this)) {
      // Another client let go of a lock that this one waits for.
      simulation.at(simulation.now(), () -> simulation.continueWith(this, task));
    }
  }

  void goOn(Runnable task) {
    ready = null;
    task.run();
  }
}
