package pando.sim.fabric;

import org.jspecify.annotations.Nullable;
import pando.fabric.Lane;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/** A core of its own whose clients are the threads of the lane. */
final class SimLane implements Lane {
  private final ComputeHost host;
  private final Simulation simulation;
  private final String name;
  private final Resource core = new Resource();
  private int running;
  private boolean closed;
  private @Nullable Client closing;

  SimLane(ComputeHost host, String name) {
    this.host = host;
    this.simulation = host.simulation();
    this.name = name;
  }

  /** Makes a thread that starts, in virtual time, when it is started. */
  @Override
  public Thread newThread(Runnable body) {
    if (closed) {
      throw new IllegalStateException("lane is closed: name=" + name);
    }
    return simulation.unstarted(name, core, host::checkUp, () -> running++, () -> runToEnd(body));
  }

  private void runToEnd(Runnable body) {
    try {
      host.run(body);
    } finally {
      running--;
      if (running == 0 && closing != null) {
        simulation.at(simulation.now(), closing::resume);
      }
    }
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  public void close() {
    Client client = simulation.running();
    if (client != null && client.core() == core) {
      throw new IllegalStateException("a thread of the lane closes it: name=" + name);
    }
    closed = true;
    if (running > 0) {
      if (client == null) {
        throw new IllegalStateException(
            "a lane's threads end in a run alone: name=" + name + ", threads=" + running);
      }
      closing = client;
      client.await();
    }
  }
}
