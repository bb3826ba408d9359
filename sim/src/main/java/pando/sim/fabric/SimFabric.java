package pando.sim.fabric;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import pando.fabric.BackgroundTask;
import pando.fabric.Capabilities;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;
import pando.fabric.Lane;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.base.Fences;
import pando.fabric.layout.Regions;
import pando.sim.ClusterModel;

/**
 * The fabric of one compute server of a simulated cluster. Verbs of a client take virtual time;
 * verbs outside of clients, such as those of a bulk load before the run, take none.
 */
public final class SimFabric implements Fabric {
  /** What a verb takes by a card that is not busy. */
  private static final long TRIP_NANOS = 2_000;

  private final SimPool pool;
  private final ComputeHost host;
  private final FabricIdentity identity;
  private final Fencer fencer;

  /** The least epochs by which this fabric has fenced. */
  private final long[] fenced = new long[ComputeServer.NUMBER_MAX + 1];

  private final long[] dramBytes;

  /** Of the memory servers that this is connected to. */
  private final int[] incarnations;

  private final List<SimTask> tasks = new CopyOnWriteArrayList<>();

  /** Connects a compute server to the pool. */
  public SimFabric(SimPool pool, ComputeHost host) {
    this(pool, host, host.identity(), pool.network().anyIncarnations());
  }

  private SimFabric(SimPool pool, ComputeHost host, FabricIdentity identity, int[] incarnations) {
    this.pool = pool;
    this.host = host;
    this.identity = identity;
    this.incarnations = incarnations;
    this.fencer = new Fencer(pool, host.simulation(), host.number(), incarnations);
    Fabric memory = pool.memory();
    this.dramBytes =
        IntStream.range(0, memory.memoryServers()).mapToLong(memory::dramBytes).toArray();
  }

  /**
   * Returns a fabric of the same machine under another name.
   *
   * @throws pando.fabric.FencedException if the epoch is refused
   */
  public SimFabric as(ComputeServer name) {
    pool.fences().checkAccepted(name);
    FabricIdentity process = new FabricIdentity(host.simulation(), name, true);
    return new SimFabric(pool, host, process, pool.network().incarnations());
  }

  /** Has the process of this fabric crash. */
  public void crash() {
    identity.crash();
  }

  /** Returns whether the process of this fabric has crashed. */
  public boolean isCrashed() {
    return identity.isCrashed();
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public Capabilities capabilities() {
    Capabilities real = pool.memory().capabilities();
    return new Capabilities(
        pool.network().atomicityBytes(),
        real.cas16(),
        real.onChipBytes(),
        pool.network().hasRemoteProcessor(),
        true,
        true,
        true);
  }

  @Override
  public long tripNanos() {
    return TRIP_NANOS;
  }

  @Override
  public int memoryServers() {
    return pool.memory().memoryServers();
  }

  @Override
  public long dramBytes(int server) {
    return pool.memory().dramBytes(server);
  }

  @Override
  public RegisteredMemory register(long bytes) {
    return pool.memory().register(bytes);
  }

  @Override
  public Worker worker(RegisteredMemory registered) {
    return new SimWorker(
        pool, host, identity, incarnations, pool.memory().worker(registered), dramBytes);
  }

  @Override
  public BackgroundTask background(String task, BooleanSupplier step) {
    return resting(task, step, ClusterModel.Constant.STEP_NANOS);
  }

  @Override
  public BackgroundTask sender(String task, BooleanSupplier step) {
    return resting(task, step, ClusterModel.Constant.SENDER_STEP_NANOS);
  }

  private SimTask resting(String task, BooleanSupplier step, ClusterModel.Constant stepTime) {
    SimTask resting = SimTask.resting(host, task, step, pool.model().picos(stepTime));
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
    return identity.isProcess()
        ? identity.name().process()
        : (host.number() + 1L) << (PROCESS_BITS / 2);
  }

  @Override
  public boolean isGone(long process) {
    return identity.isProcess()
        ? fenced[ComputeServer.numberOf(process)] > ComputeServer.epochOf(process)
        : pool.isCrashed().test((int) (process >>> (PROCESS_BITS / 2)) - 1);
  }

  @Override
  public PoolUsage usage(int server) {
    Regions.checkServer(server, memoryServers());
    return pool.processors().usage(server);
  }

  @Override
  public void fence(int computeServer, long leastEpoch, IntPredicate isLost) {
    Fences.checkRange(computeServer, leastEpoch);
    // Outside of clients, where a list of verbs is done as a whole, or not.
    pool.fences().fence(computeServer, leastEpoch);
    try {
      fencer.fence(computeServer, leastEpoch);
    } catch (FenceFailedException e) {
      e.throwUnlessLost(memoryServers(), isLost);
    }
    fenced[computeServer] = Math.max(fenced[computeServer], leastEpoch);
  }

  @Override
  public boolean hasFenced(int computeServer) {
    return fenced[computeServer] > 0;
  }

  /** Does nothing: the pool ends with its cluster. */
  @Override
  public void close() {}
}
