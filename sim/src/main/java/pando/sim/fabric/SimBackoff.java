package pando.sim.fabric;

import pando.fabric.Backoff;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/**
 * Waits in virtual time: longer for higher attempts, with a random part, so that clients do not
 * retry in step.
 */
final class SimBackoff implements Backoff {
  private static final long PAUSE_NANOS_MIN = 100;
  private static final int DOUBLINGS_MAX = 10;

  private final ComputeHost host;

  SimBackoff(ComputeHost host) {
    this.host = host;
  }

  @Override
  public void pause(int attempt) {
    Client client = host.simulation().running();
    if (client != null) {
      long nanos = PAUSE_NANOS_MIN << Math.min(attempt / 4, DOUBLINGS_MAX);
      long picos = nanos * Simulation.NANO;
      host.sleep(client, picos / 2 + host.random().nextLong(picos));
    }
  }

  @Override
  public long nanoTime() {
    return host.nanoTime();
  }

  @Override
  public void transition() {
    Client client = host.simulation().running();
    if (client != null) {
      host.maybeYield(client);
    }
  }
}
