package pando.sim.fabric;

import java.util.random.RandomGenerator;
import pando.sim.ComputeServerCrash;
import pando.sim.fault.Fault;
import pando.sim.fault.Faults;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/** A compute server's machine: what its clients share beside their card. */
public final class ComputeHost {
  private static final long PAUSE_NANOS_MAX = 10_000_000;
  private static final long SWITCH_NANOS_MIN = 500;
  private static final int SWITCH_DOUBLINGS = 8;
  private static final long JUMP_NANOS_MAX = 1_000_000_000;

  private final int number;
  private final Simulation simulation;
  private final Faults faults;
  private final RandomGenerator random;
  private final double switching;
  private boolean crashed;
  private long clockOffset;

  /**
   * Creates a machine.
   *
   * @param number of the compute server
   * @param switching chance that a client gives way at a transition of a local lock or cache
   */
  public ComputeHost(int number, Simulation simulation, Faults faults, double switching) {
    this.number = number;
    this.simulation = simulation;
    this.faults = faults;
    this.switching = switching;
    this.random = simulation.fork();
  }

  /** Returns the number of the compute server. */
  public int number() {
    return number;
  }

  /** Tells whether the machine has crashed. */
  public boolean isCrashed() {
    return crashed;
  }

  Simulation simulation() {
    return simulation;
  }

  Faults faults() {
    return faults;
  }

  RandomGenerator random() {
    return random;
  }

  /** Stops a client whose machine has crashed. */
  void checkUp() {
    if (crashed) {
      throw new ComputeServerCrash(number);
    }
  }

  /** Lets faults strike at the boundary of a verb. */
  void strike(Client client) {
    checkUp();
    if (faults.strikesOnce(Fault.CRASH_COMPUTE)) {
      crashed = true;
      checkUp();
    }
    if (faults.strikes(Fault.PAUSE)) {
      sleep(client, faults.draw(PAUSE_NANOS_MAX * Simulation.NANO));
    }
    if (faults.strikes(Fault.CLOCK_JUMP)) {
      clockOffset += faults.draw(2 * JUMP_NANOS_MAX) - JUMP_NANOS_MAX;
    }
  }

  /** Has a client wait. */
  void sleep(Client client, long picos) {
    client.waitUntil(client.now() + picos);
    checkUp();
  }

  /** Lets other clients go first, now and then: mostly shortly, sometimes for many verbs. */
  void maybeSwitch(Client client) {
    if (switching > 0 && random.nextDouble() < switching) {
      long nanos = random.nextLong(SWITCH_NANOS_MIN) << random.nextInt(SWITCH_DOUBLINGS);
      sleep(client, nanos * Simulation.NANO);
    }
  }

  /** Returns the machine's clock in nanoseconds. */
  long nanoTime() {
    Client client = simulation.running();
    long picos = client == null ? simulation.now() : client.now();
    return picos / Simulation.NANO + clockOffset;
  }
}
