package pando.sim.fabric;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.ComputeServer;
import pando.fabric.FencedException;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/**
 * The name of a fabric, whose epoch a renewal replaces by the next one; or that of a process, which
 * may crash.
 */
final class FabricIdentity {
  private final Simulation simulation;
  private final List<Client> waiting = new ArrayList<>();
  private final boolean isProcess;
  private ComputeServer name;
  private boolean renewing;
  private boolean crashed;

  FabricIdentity(Simulation simulation, ComputeServer name, boolean isProcess) {
    this.simulation = simulation;
    this.name = name;
    this.isProcess = isProcess;
  }

  /** Returns whether it is that of a process, of which the machine may have several. */
  boolean isProcess() {
    return isProcess;
  }

  /** Has the process crash: its threads go on, but nothing of what they do is seen any more. */
  void crash() {
    crashed = true;
  }

  boolean isCrashed() {
    return crashed;
  }

  /** Throws {@link FencedException} if the process has crashed: to its threads that is a fence. */
  void checkUp() {
    if (crashed) {
      throw new FencedException("this process has crashed: " + name);
    }
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
