package pando.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.base.Fences;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.sim.fabric.ComputeHost;
import pando.sim.fabric.Fencer;
import pando.sim.fabric.Processors;
import pando.sim.fabric.SimFabric;
import pando.sim.fabric.SimPool;
import pando.sim.fault.Fault;
import pando.sim.network.Faults;
import pando.sim.network.Network;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * A cluster in virtual time: compute servers with clients, memory servers, and a network between
 * them. For one thread; the same options and the same clients give the same run.
 */
public final class Cluster implements AutoCloseable {
  private final ClusterOptions options;
  private final Simulation simulation;
  private final LocalPool pool;
  private final Fabric memory;
  private final Network network;
  private final Faults faults;
  private final List<ComputeHost> hosts = new ArrayList<>();
  private final List<SimFabric> fabrics = new ArrayList<>();
  private final Map<ComputeServer, SimFabric> processes = new HashMap<>();

  /** Builds a cluster at time 0, whose pool is empty. */
  public Cluster(ClusterOptions options) {
    this(options, LocalPool.unattended(options.pool()));
  }

  private Cluster(ClusterOptions options, LocalPool pool) {
    this.pool = pool;
    this.options = options;
    simulation = new Simulation(options.seed());
    faults = new Faults(options.faults(), simulation.fork());
    memory = pool.fabric("memory", options.seed());
    try {
      network = Network.of(simulation, options, faults, pool::wipe);
      addComputeServers();
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  private void addComputeServers() {
    SimPool shared =
        new SimPool(
            memory,
            new Processors(pool, simulation, faults),
            network,
            new Fences(),
            options.model(),
            number -> hosts.get(number).isCrashed());
    int count = options.computeServers();
    for (int number = 0; number < count; number++) {
      Fencer fencer =
          new Fencer(shared, simulation, (number + 1) % count, network.anyIncarnations());
      ComputeHost host = new ComputeHost(number, simulation, faults, options, fencer);
      hosts.add(host);
      fabrics.add(new SimFabric(shared, host));
    }
  }

  /**
   * Builds a cluster at time 0 with an independent pool that starts with the contents of this
   * one's. This cluster must not run any more, and must not be closed before the fork.
   *
   * @param other options of the fork; only the pool's memory must be the same
   */
  public Cluster fork(ClusterOptions other) {
    PoolOptions own = options.pool();
    PoolOptions asked =
        other.pool().withProcessorThreads(own.processorThreads()).withHandlers(own.handlers());
    if (!asked.equals(own)) {
      throw new IllegalArgumentException(
          "forks have the same memory: asked=" + asked + ", memory=" + own);
    }
    return new Cluster(other, pool.fork());
  }

  /** Returns the pool as one compute server's fabric; its name has its number, and epoch 1. */
  public Fabric fabric(int computeServer) {
    return fabrics.get(computeServer);
  }

  /**
   * Returns the pool as the fabric of a process that runs on a compute server's machine, and has a
   * name of its own.
   *
   * @param machine number of the compute server whose machine it is
   * @throws pando.fabric.FencedException if the epoch of the name is refused
   */
  public Fabric fabric(int machine, ComputeServer name) {
    SimFabric process = fabrics.get(machine).as(name);
    processes.put(name, process);
    return process;
  }

  /** Returns whether the process of this name has crashed. */
  public boolean isCrashed(ComputeServer process) {
    SimFabric its = processes.get(process);
    return its != null && its.isCrashed();
  }

  /** Returns a core for clients to use. */
  public Core core(int computeServer) {
    return new Core(hosts.get(computeServer));
  }

  /** A processor core of a compute server. Its clients are what the threads of a lane are. */
  public final class Core {
    private final ComputeHost host;
    private final Resource resource = new Resource();

    private Core(ComputeHost host) {
      this.host = host;
    }

    /**
     * Adds a client to the core; it starts now.
     *
     * @param body code of the client; an exception ends the run, except the crash of its compute
     *     server
     */
    public void spawn(String name, Runnable body) {
      simulation.spawn(name, resource, host::checkUp, () -> host.run(body));
    }
  }

  /**
   * Runs until all clients have ended and all background tasks rest. Faults may strike. May be
   * called again with further clients, unless it threw; time continues.
   *
   * @param nanosMax virtual time at which the run counts as stuck
   * @param eventsMax number of events from time 0 after which the run counts as stuck
   * @throws StuckException with the stack of every client
   */
  public void run(long nanosMax, long eventsMax) {
    faults.arm(true);
    try {
      runWithoutFaults(nanosMax, eventsMax);
    } finally {
      faults.arm(false);
    }
  }

  /** As {@link #run}, but no new fault strikes; earlier faults last as long as they would. */
  public void runWithoutFaults(long nanosMax, long eventsMax) {
    simulation.run(nanosMax * Simulation.NANO, eventsMax);
  }

  /**
   * Makes background tasks that were woken outside of a run take their steps at once, in no virtual
   * time: for a warm-up.
   */
  public void catchUp() {
    fabrics.forEach(SimFabric::catchUp);
  }

  /** Makes the running client use its core for the processor time of an operation in the model. */
  public void chargeOperation() {
    client().charge(options.model().picos(ClusterModel.Constant.OPERATION_NANOS));
  }

  /** Makes the running client wait until the processor time that it has charged is over. */
  public void settle() {
    client().waitUntil(client().now());
  }

  /** Makes the running client wait. */
  public void sleepNanos(long nanos) {
    client().waitUntil(client().now() + nanos * Simulation.NANO);
  }

  /** Returns a signal that is not given. */
  public Signal signal() {
    return new Signal(simulation);
  }

  /**
   * Decides whether a fault strikes that is not one of verbs, and for how long, in ns, at least 1;
   * returns 0 if it does not.
   */
  public long faultNanos(Fault fault) {
    return Math.ceilDiv(faults.picosOf(fault), Simulation.NANO);
  }

  /** Decides whether a fault strikes that is not one of verbs, and has no duration. */
  public boolean strikes(Fault fault) {
    return faults.strikes(fault);
  }

  /** Lets no new fault strike for the rest of the run. */
  public void endFaults() {
    faults.arm(false);
  }

  /** Returns the number of round trips that the running client has made. */
  public long roundTrips() {
    return client().roundTrips();
  }

  /** Returns the time in nanoseconds: the running client's, or the simulation's. */
  public long nanos() {
    Client client = simulation.running();
    return (client == null ? simulation.now() : client.now()) / Simulation.NANO;
  }

  private Client client() {
    Client client = simulation.running();
    if (client == null) {
      throw new IllegalStateException("only a client can use time");
    }
    return client;
  }

  /** Returns whether a compute server has crashed. */
  public boolean isCrashed(int computeServer) {
    return hosts.get(computeServer).isCrashed();
  }

  /** Has all processes that have names of their own crash. */
  public void crashProcesses() {
    processes.values().forEach(SimFabric::crash);
  }

  /** Ends a memory server: what is sent to it is lost. */
  public void stopMemoryServer(int number) {
    network.stop(number);
  }

  /**
   * Starts a memory server that has ended, with empty memory. It accepts all epochs. To fabrics of
   * processes that were made before it is lost.
   */
  public void startMemoryServer(int number) {
    network.start(number);
  }

  /**
   * Has one memory server refuse the lower epochs of a compute server.
   *
   * @return whether what was begun is done; if not, the fence must be repeated
   */
  public boolean fence(int memoryServer, int computeServer, long leastEpoch) {
    return network.leastEpochs().raise(memoryServer, computeServer, leastEpoch);
  }

  /** Returns whether a memory server has ended. */
  public boolean isLost(int memoryServer) {
    return network.isLost(memoryServer);
  }

  /** Returns the number of events so far. May be called from any thread. */
  public long events() {
    return simulation.events();
  }

  /** Returns a hash over all events so far: equal for equal runs. */
  public long hash() {
    return simulation.hash();
  }

  /** Returns the stacks of all clients. May be called from any thread. */
  public String stacks() {
    return simulation.stacks();
  }

  /** Returns how often each fault struck. */
  public Map<Fault, Integer> faults() {
    return faults.counts();
  }

  /** Returns the utilization of cards and processors so far. */
  public Utilization utilization() {
    return network.utilization();
  }

  /** Frees the pool. */
  @Override
  public void close() {
    memory.close();
  }
}
