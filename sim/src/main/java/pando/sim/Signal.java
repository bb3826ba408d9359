package pando.sim;

import org.jspecify.annotations.Nullable;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/** What one client at a time waits for, in virtual time, for as long as it wants. */
public final class Signal {
  private final Simulation simulation;
  private @Nullable Client waiting;

  /** How many clients have waited. */
  private long turn;

  private boolean given;

  Signal(Simulation simulation) {
    this.simulation = simulation;
  }

  /** Lets the client that waits go on, or else the next one that would wait. */
  public void give() {
    given = true;
    if (waiting != null) {
      goOnAt(simulation.now(), turn);
    }
  }

  /** Waits until the signal is given, or a time is over; after that it is not given any more. */
  public void await(long nanosMax) {
    Client client = simulation.running();
    if (client == null) {
      throw new IllegalStateException("only a client can wait");
    }
    if (!given) {
      waiting = client;
      goOnAt(client.now() + nanosMax * Simulation.NANO, ++turn);
      client.await();
    }
    given = false;
  }

  private void goOnAt(long time, long itsTurn) {
    simulation.at(
        time,
        () -> {
          Client client = waiting;
          if (client != null && turn == itsTurn) {
            waiting = null;
            client.resume();
          }
        });
  }
}
