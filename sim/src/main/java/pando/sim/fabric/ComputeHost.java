package pando.sim.fabric;

import java.util.random.RandomGenerator;
import pando.fabric.ComputeServer;
import pando.fabric.FenceFailedException;
import pando.sim.ClusterOptions;
import pando.sim.ComputeServerCrash;
import pando.sim.fault.Fault;
import pando.sim.network.Faults;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/** A compute server's machine: the state that its clients share, except the card. */
public final class ComputeHost {
  private static final long YIELD_NANOS_MIN = 500;
  private static final int YIELD_DOUBLINGS = 8;

  private final int number;
  private final Simulation simulation;
  private final Faults faults;
  private final RandomGenerator random;
  private final double yieldShare;
  private final int crashesMax;
  private final Fencer fencer;
  private final FabricIdentity identity;
  private boolean crashed;
  private long clockOffset;

  /**
   * Creates a machine.
   *
   * @param number of the compute server
   * @param options of the cluster
   * @param fencer by which another compute server fences this one
   */
  public ComputeHost(
      int number, Simulation simulation, Faults faults, ClusterOptions options, Fencer fencer) {
    this.number = number;
    this.simulation = simulation;
    this.faults = faults;
    this.yieldShare = options.yieldShare();
    this.crashesMax = options.crashesMax();
    this.fencer = fencer;
    this.identity = new FabricIdentity(simulation, new ComputeServer(number, 1), false);
    this.random = simulation.fork();
  }

  /** Returns whether the machine has crashed. */
  public boolean isCrashed() {
    return crashed;
  }

  /** Throws {@link ComputeServerCrash} if the machine has crashed. */
  public void checkUp() {
    if (crashed) {
      throw new ComputeServerCrash(number);
    }
  }

  /** Runs what a client does; what it throws when the machine has crashed is ignored. */
  public void run(Runnable body) {
    try {
      body.run();
    } catch (ComputeServerCrash crash) {
      assert crashed;
    } catch (RuntimeException | AssertionError e) {
      // A process that died has no state left that could be wrong.
      if (!crashed) {
        throw e;
      }
    }
  }

  int number() {
    return number;
  }

  /** Returns the name of the compute server. */
  FabricIdentity identity() {
    return identity;
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

  /**
   * Lets faults strike when a client posts verbs.
   *
   * @param sender in whose name; a process crashes alone, not with the machine
   * @return the number of verbs that it still posts: all, or a random number if it crashes
   */
  int strike(Client client, FabricIdentity sender, int verbs) {
    checkUp();
    sender.checkUp();
    long pause = faults.picosOf(Fault.PAUSE);
    if (pause > 0) {
      sleep(client, pause);
    }
    long jump = faults.picosOf(Fault.CLOCK_JUMP) / Simulation.NANO;
    clockOffset += random.nextBoolean() ? jump : -jump;
    if (!identity.isRenewing() && faults.strikes(Fault.FENCE)) {
      identity.beginRenewal();
      simulation.spawn(client.now(), "fence-" + number, new Resource(), () -> {}, this::beFenced);
    }
    return crashes(sender) ? (int) faults.draw(verbs + 1L) : verbs;
  }

  private boolean crashes(FabricIdentity sender) {
    if (sender.isProcess()) {
      if (faults.strikesAgain(Fault.CRASH_COMPUTE)) {
        sender.crash();
      }
      return sender.isCrashed();
    }
    crashed = faults.strikes(Fault.CRASH_COMPUTE, crashesMax);
    return crashed;
  }

  private void beFenced() {
    ComputeServer name = identity.name();
    try {
      fencer.fence(name.number(), name.epoch() + 1);
    } catch (FenceFailedException e) {
      // A memory server that is lost or cut off goes on to accept the old epoch as well.
    } finally {
      identity.renew();
    }
  }

  /** Makes a client wait. */
  void sleep(Client client, long picos) {
    client.waitUntil(client.now() + picos);
  }

  /**
   * Yields to other clients at random: mostly for a short time, sometimes for as long as many verbs
   * take.
   */
  void maybeYield(Client client) {
    if (yieldShare > 0 && random.nextDouble() < yieldShare) {
      long nanos = random.nextLong(YIELD_NANOS_MIN) << random.nextInt(YIELD_DOUBLINGS);
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
