package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import pando.bench.run.Setup;
import pando.bench.workload.Distribution;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.sim.Cluster;

/**
 * Clients that do nothing but take and release locks in one memory server's DRAM: CAS until it
 * succeeds, then WRITE (Sherman, figure 2).
 */
public final class LockRun {
  /** Locks that a run can have. */
  public static final int LOCKS_MAX = 1 << 20;

  private static final long POOL_BYTES = 16 << 20;
  private static final long SETTLING_NANOS = 2_000_000;

  private final SimPlan plan;
  private final Cluster cluster;
  private final Meter meter;
  private final Distribution.Draw draw;

  /** The counters of each client. */
  private final List<VerbCounters> counters = new ArrayList<>();

  private LockRun(SimPlan plan, Cluster cluster) {
    this.plan = plan;
    this.cluster = cluster;
    meter = new Meter(cluster, plan, this::verbs, SETTLING_NANOS);
    draw = plan.distribution().over(plan.records(), plan.theta());
  }

  /** Runs a plan, whose records are the locks, at most {@link #LOCKS_MAX}. */
  public static SimResult run(SimPlan plan) {
    try (Cluster cluster = new Cluster(plan.cluster().withBytesPerServer(POOL_BYTES))) {
      return new LockRun(plan, cluster).run();
    }
  }

  private SimResult run() {
    int memoryServers = plan.cluster().pool().memoryServers();
    Setup setup = new Setup("lock", "sim", plan.cluster().computeServers(), memoryServers, 0);
    return meter.run(setup, "locks", client -> () -> work(client));
  }

  private VerbCounters verbs() {
    VerbCounters sum = new VerbCounters();
    counters.forEach(sum::add);
    return sum;
  }

  private void work(int client) {
    Fabric fabric = cluster.fabric(plan.serverOf(client));
    SplittableRandom random = new SplittableRandom(plan.cluster().seed() * 1_000_003 + client);
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      counters.add(worker.counters());
      while (meter.isRunning()) {
        takeAndRelease(worker, draw.next(random));
      }
    }
  }

  private void takeAndRelease(Worker worker, long lock) {
    long address = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + lock * Long.BYTES);
    long start = cluster.nanos();
    long trips = cluster.roundTrips();
    while (worker.cas(address, 0, 1) != 0) {
      // Spins, as FG does: the card is what slows it.
      if (!meter.isRunning()) {
        return;
      }
    }
    worker.write(address, 0, Long.BYTES);
    meter.record(start, cluster.roundTrips() - trips);
  }
}
