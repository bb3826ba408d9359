package pando.sim.fabric;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import pando.fabric.BackgroundTask;
import pando.fabric.Capabilities;
import pando.fabric.Capabilities.MaskedAtomics;
import pando.fabric.Capabilities.OnChip;
import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.layout.Regions;
import pando.sim.ClusterModel;
import pando.sim.network.Network;

/**
 * The fabric of one compute server of a simulated cluster. Verbs of a client take virtual time;
 * verbs outside of clients, such as those of a bulk load before the run, take none.
 */
public final class SimFabric implements Fabric {
  private final Fabric memory;
  private final long[] dramBytes;
  private final Processors processors;
  private final ComputeHost host;
  private final Network network;
  private final ClusterModel model;
  private final IntPredicate isCrashed;
  private final List<SimTask> tasks = new CopyOnWriteArrayList<>();

  /**
   * Connects a compute server to the pool.
   *
   * @param memory a fabric over the pool, through which verbs take effect
   * @param processors of the same pool
   * @param isCrashed returns whether a compute server has crashed
   */
  public SimFabric(
      Fabric memory,
      Processors processors,
      ComputeHost host,
      Network network,
      ClusterModel model,
      IntPredicate isCrashed) {
    this.memory = memory;
    this.dramBytes =
        IntStream.range(0, memory.memoryServers()).mapToLong(memory::dramBytes).toArray();
    this.processors = processors;
    this.host = host;
    this.network = network;
    this.model = model;
    this.isCrashed = isCrashed;
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public Capabilities capabilities() {
    Capabilities real = memory.capabilities();
    return new Capabilities(
        network.atomicityBytes(),
        MaskedAtomics.NATIVE,
        real.cas16(),
        network.hasRemoteProcessor() ? OnChip.HOST : OnChip.CARD,
        real.onChipBytes(),
        network.hasRemoteProcessor(),
        false,
        true);
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
    return new SimWorker(memory.worker(registered), dramBytes, processors, host, network);
  }

  @Override
  public BackgroundTask background(String task, BooleanSupplier step) {
    SimTask resting =
        SimTask.resting(host, task, step, model.picos(ClusterModel.Constant.STEP_NANOS));
    tasks.add(resting);
    return resting;
  }

  @Override
  public Lane lane(String lane) {
    return new SimLane(host, lane);
  }

  /**
   * Makes background tasks that were woken outside of a run take their steps, in no virtual time.
   */
  public void catchUp() {
    tasks.forEach(SimTask::catchUp);
  }

  @Override
  public long process() {
    return (host.number() + 1L) << (PROCESS_BITS / 2);
  }

  @Override
  public boolean isGone(long process) {
    return isCrashed.test((int) (process >>> (PROCESS_BITS / 2)) - 1);
  }

  @Override
  public PoolUsage usage(int server) {
    Regions.checkServer(server, memoryServers());
    return processors.usage(server);
  }

  @Override
  public void fence(int computeServer, long leastEpoch) {
    throw new UnsupportedOperationException("the simulation has no fences yet");
  }

  /** Does nothing: the pool ends with its cluster. */
  @Override
  public void close() {}
}
