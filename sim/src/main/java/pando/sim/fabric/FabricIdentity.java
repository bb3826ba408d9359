package pando.sim.fabric;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.ComputeServer;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/** The name of a fabric, whose epoch a renewal replaces by the next one. */
final class FabricIdentity {
  private final Simulation simulation;
  private final List<Client> waiting = new ArrayList<>();
  private ComputeServer name;
  private boolean renewing;

  FabricIdentity(Simulation simulation, ComputeServer name) {
    this.simulation = simulation;
    this.name = name;
  }

  ComputeServer name() {
    return name;
  }

  /** Returns whether a renewal has begun and not ended. */
  boolean isRenewing() {
    return renewing;
  }

  /** Begins a renewal: from now on clients wait for its end if they are refused. */
  void beginRenewal() {
    renewing = true;
  }

  /** Ends the renewal. */
  void renew() {
    name = new ComputeServer(name.number(), name.epoch() + 1);
    renewing = false;
    waiting.forEach(client -> simulation.at(simulation.now(), client::resume));
    waiting.clear();
  }

  /** Waits for the end of a renewal, if one is under way; returns whether the name has changed. */
  boolean awaitOther(ComputeServer refused, Client client) {
    if (renewing && name.equals(refused)) {
      waiting.add(client);
      client.await();
    }
    return !name.equals(refused);
  }
}
