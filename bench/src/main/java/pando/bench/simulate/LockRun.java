package pando.bench.simulate;

import java.util.SplittableRandom;
import pando.bench.workload.Distribution;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/**
 * Clients that do nothing but take and release locks in one memory server's DRAM: CAS until it
 * succeeds, then WRITE (Sherman, figure 2).
 *
 * @param cluster the cluster
 * @param locks how many there are
 * @param theta skew of the Zipfian choice among them
 * @param clients in all
 * @param nanos virtual time that is measured
 * @param seed of the choices
 */
public record LockRun(
    ClusterOptions cluster, int locks, double theta, int clients, long nanos, long seed) {
  private static final long WARM_NANOS = 2_000_000;

  /** Runs it. */
  public SimResult run() {
    long begun = System.nanoTime();
    try (Cluster running = new Cluster(cluster)) {
      Meter meter = new Meter(running, WARM_NANOS, WARM_NANOS + nanos);
      Distribution.Draw draw = Distribution.ZIPFIAN.over(locks, theta);
      VerbCounters verbs = new VerbCounters();
      for (int client = 0; client < clients; client++) {
        int server = client % cluster.computeServers();
        SplittableRandom random = new SplittableRandom(seed * 1_000_003 + client);
        Fabric fabric = running.fabric(server);
        running
            .core(server)
            .spawn("client-" + client, () -> work(running, fabric, meter, draw, random, verbs));
      }
      running.run(Runs.NANOS_MAX, Runs.EVENTS_MAX);
      return new SimResult(
          "lock",
          clients,
          meter.operations(),
          nanos,
          verbs,
          0,
          0,
          0,
          meter.latencies(),
          meter.roundTrips(),
          running.utilization(),
          running.events(),
          System.nanoTime() - begun,
          running.hash());
    }
  }

  private static void work(
      Cluster cluster,
      Fabric fabric,
      Meter meter,
      Distribution.Draw draw,
      SplittableRandom random,
      VerbCounters verbs) {
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory);
        AutoCloseableCounts _ = () -> verbs.add(worker.counters())) {
      while (meter.isRunning()) {
        long lock = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + draw.next(random) * Long.BYTES);
        long start = cluster.nanos();
        long before = worker.counters().roundTrips;
        while (worker.cas(lock, 0, 1) != 0) {
          // Spins, as FG does: the card is what slows it.
          if (!meter.isRunning()) {
            return;
          }
        }
        worker.write(lock, 0, Long.BYTES);
        meter.record(start, worker.counters().roundTrips - before);
      }
    }
  }

  /** Adds a client's verbs to the others' when it ends. */
  private interface AutoCloseableCounts extends AutoCloseable {
    @Override
    void close();
  }
}
