package pando.sim.fabric;

import java.util.List;
import java.util.stream.IntStream;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.local.LocalPool;
import pando.sim.nic.Costs;
import pando.sim.nic.Message;
import pando.sim.nic.Network;

/**
 * The memory pool as one compute server of a simulated cluster sees it. Verbs of a client take
 * virtual time; those outside of clients, such as a bulk load before the simulation, take none.
 */
public final class SimFabric implements Fabric {
  private final LocalPool pool;
  private final Fabric memory;
  private final ComputeHost host;
  private final Network network;
  private final Costs costs;

  /**
   * Joins a compute server to the pool.
   *
   * @param memory a fabric over the same pool, through which verbs take effect
   */
  public SimFabric(LocalPool pool, Fabric memory, ComputeHost host, Network network, Costs costs) {
    this.pool = pool;
    this.memory = memory;
    this.host = host;
    this.network = network;
    this.costs = costs;
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public Capabilities capabilities() {
    Capabilities real = memory.capabilities();
    return new Capabilities(
        Message.ATOMICITY_BYTES,
        true,
        real.cas16(),
        real.onChipBytes(),
        Capabilities.AtomicityDomain.VERBS);
  }

  @Override
  public int memoryServers() {
    return memory.memoryServers();
  }

  @Override
  public long dramBytes(int server) {
    return memory.dramBytes(server);
  }

  @Override
  public RegisteredMemory register(long bytes) {
    return memory.register(bytes);
  }

  @Override
  public Worker worker(RegisteredMemory registered) {
    return new SimWorker(pool, memory.worker(registered), memoryServers(), host, network, costs);
  }

  @Override
  public List<PoolUsage> usage() {
    return IntStream.range(0, memoryServers()).mapToObj(i -> pool.server(i).usage()).toList();
  }

  /** Does nothing: the pool ends with its cluster. */
  @Override
  public void close() {}
}
