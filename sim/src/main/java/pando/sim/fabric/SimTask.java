package pando.sim.fabric;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import pando.fabric.BackgroundTask;
import pando.sim.ComputeServerCrash;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * A task whose steps take virtual time on a core of its own: a client that starts when the task is
 * woken and ends when it rests.
 *
 * <p>The simulation does not know a resting task, so a run ends without it, and no thread stays
 * behind; a virtual thread that is parked for ever would. A wake outside of a run takes effect in
 * the next run, or in {@link #catchUp}.
 */
final class SimTask implements BackgroundTask {
  private final ComputeHost host;
  private final Simulation simulation;
  private final String name;
  private final BooleanSupplier step;
  private final long stepPicos;
  private final Resource core = new Resource();
  private final Runnable startOfRun = this::start;

  /** Held during a step. */
  private final ReentrantLock stepping = new ReentrantLock();

  /** Volatile, as outside of runs any thread may wake the task. */
  private volatile boolean woken;

  private boolean working;
  private boolean closed;

  /** Counts alarms: the last one counts. */
  private long alarms;

  private SimTask(ComputeHost host, String name, BooleanSupplier step, long stepPicos) {
    this.stepPicos = stepPicos;
    this.host = host;
    this.simulation = host.simulation();
    this.name = name;
    this.step = step;
  }

  /**
   * Creates a task that rests.
   *
   * @param stepPicos time for which a step that found work uses the core
   */
  static SimTask resting(ComputeHost host, String name, BooleanSupplier step, long stepPicos) {
    SimTask task = new SimTask(host, name, step, stepPicos);
    task.simulation.addStartOfRun(task.startOfRun);
    return task;
  }

  @Override
  public void wake() {
    woken = true;
    if (simulation.isRunning() && simulation.checkThread(name)) {
      start();
    }
  }

  /** {@inheritDoc} A run does not wait for that time: what is left of it passes in the next run. */
  @Override
  public void wakeAfter(long nanos) {
    Client client = simulation.running();
    long now = client == null ? simulation.now() : client.now();
    long alarm = ++alarms;
    simulation.at(
        now + nanos * Simulation.NANO,
        () -> {
          if (alarm == alarms && !closed) {
            wake();
          }
        });
  }

  private void start() {
    if (woken && !working && !closed && !host.isCrashed()) {
      working = true;
      Client waker = simulation.running();
      long time = waker == null ? simulation.now() : waker.now();
      simulation.spawn(time, name, core, host::checkUp, this::work);
    }
  }

  /** Takes the steps for which the task was woken, outside of runs. */
  void catchUp() {
    while (!simulation.isRunning() && woken && !closed && !host.isCrashed()) {
      woken = false;
      boolean more = true;
      while (more) {
        more = takeStep();
      }
    }
  }

  private void work() {
    try {
      while (woken) {
        woken = false;
        boolean more = true;
        while (more) {
          host.checkUp();
          more = takeStep();
        }
      }
    } catch (ComputeServerCrash crash) {
      assert host.isCrashed();
    } finally {
      working = false;
    }
  }

  /** Takes a step after the one under way, if any; none if the task has ended. */
  private boolean takeStep() {
    stepping.lock();
    try {
      boolean more = !closed && step.getAsBoolean();
      Client client = simulation.running();
      if (more && client != null) {
        client.charge(stepPicos);
      }
      return more;
    } finally {
      stepping.unlock();
    }
  }

  @Override
  public void close() {
    if (stepping.isHeldByCurrentThread()) {
      throw new IllegalStateException("a step ends its own task: name=" + name);
    }
    closed = true;
    simulation.removeStartOfRun(startOfRun);
    if (simulation.running() != null) {
      // A client must wait in virtual time. Outside of runs no step is under way.
      boolean more = takeStep();
      assert !more;
    }
  }
}
