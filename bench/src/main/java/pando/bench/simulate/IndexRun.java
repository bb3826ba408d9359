package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import pando.bench.console.Progress;
import pando.bench.records.Records;
import pando.bench.workload.Distribution;
import pando.bench.workload.Inserts;
import pando.bench.workload.OperationStream;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.Partitioning;
import pando.index.dex.DexIndex;
import pando.sim.Cluster;

/**
 * A workload on an index in virtual time. Each compute server has an index of its own that joined
 * the pool, as if it were a process, and its clients ask for its own keys. Warming up happens
 * before the clock starts.
 */
public final class IndexRun {
  /** Lets queues fill before anything is measured. */
  private static final long SETTLING_NANOS = 500_000;

  private static final int BATCH = 64;

  private final SimPlan plan;
  private final Records records;
  private final List<DexIndex> indexes = new ArrayList<>();
  private final Inserts inserts;
  private final Sequences sequences;

  private IndexRun(SimPlan plan) {
    this.plan = plan;
    this.records = new Records(plan.seed());
    this.inserts = new Inserts(plan.records(), plan.clients(), 0, plan.clients());
    this.sequences = new Sequences(records, plan.records(), inserts);
  }

  /** Runs a plan on a tree that was built for it, among others. */
  public static SimResult run(SimPlan plan, LoadedTree tree) {
    return new IndexRun(plan).run(tree);
  }

  private SimResult run(LoadedTree tree) {
    try (Cluster cluster = tree.fork(plan.cluster())) {
      join(cluster);
      long begun = System.nanoTime();
      Meter meter = new Meter(cluster, SETTLING_NANOS, SETTLING_NANOS + plan.nanos());
      List<SimClient> clients = clients(cluster, meter);
      warmUp(clients);
      Counts counts = new Counts(cluster, meter);
      counts.spawn();
      spawn(cluster, clients);
      cluster.run(Runs.NANOS_MAX, Runs.EVENTS_MAX);
      return counts.result(clients, System.nanoTime() - begun);
    }
  }

  private void join(Cluster cluster) {
    for (int server = 0; server < plan.cluster().computeServers(); server++) {
      indexes.add(DexIndex.join(cluster.fabric(server), plan.index(), server, 1));
    }
  }

  private List<SimClient> clients(Cluster cluster, Meter meter) {
    Partitioning partitioning = indexes.getFirst().partitioning();
    Distribution.Draw draw =
        plan.workload().distribution(plan.distribution()).over(plan.records(), plan.theta());
    List<SimClient> clients = new ArrayList<>();
    for (int number = 0; number < plan.clients(); number++) {
      int server = number % plan.cluster().computeServers();
      long low = partitioning.lowOfServer(server);
      long high = partitioning.highOfServer(server);
      OperationStream stream =
          new OperationStream(
              plan.workload(), draw, records, inserts, key -> low <= key && key <= high, number);
      clients.add(
          new SimClient(cluster, indexes.get(server).session(), stream, sequences, high, meter));
    }
    return clients;
  }

  /** Runs operations before the clock starts: they take effect at once. */
  private void warmUp(List<SimClient> clients) {
    try (Progress progress = Progress.of("warm-up", plan.warmup())) {
      for (long done = 0; done < plan.warmup(); ) {
        for (SimClient client : clients) {
          int size = (int) Math.min(BATCH, plan.warmup() - done);
          client.warmUp(size);
          done += size;
          progress.step(size);
        }
      }
    }
  }

  private void spawn(Cluster cluster, List<SimClient> clients) {
    int servers = plan.cluster().computeServers();
    // Starts spread over a microsecond, as clients on real machines never begin in step.
    SplittableRandom random = new SplittableRandom(plan.seed());
    for (int i = 0; i < clients.size(); i += servers * plan.coroutines()) {
      for (int server = 0; server < servers; server++) {
        Cluster.Core core = cluster.core(server);
        for (int k = 0; k < plan.coroutines(); k++) {
          SimClient client = clients.get(i + k * servers + server);
          long delay = random.nextLong(1_000);
          core.spawn(
              "client-" + (i + k * servers + server),
              () -> {
                cluster.sleepNanos(delay);
                client.run();
              });
        }
      }
    }
  }

  /** Takes the counts at the start and the end of the time that is measured. */
  private final class Counts {
    private final Cluster cluster;
    private final Meter meter;
    private final VerbCounters verbs = new VerbCounters();
    private long hits;
    private long misses;

    Counts(Cluster cluster, Meter meter) {
      this.cluster = cluster;
      this.meter = meter;
    }

    void spawn() {
      cluster
          .core(0)
          .spawn(
              "counts",
              () -> {
                cluster.sleepNanos(meter.start());
                VerbCounters before = verbs();
                List<CacheCounters> caches = indexes.stream().map(DexIndex::cache).toList();
                cluster.sleepNanos(meter.end() - meter.start());
                verbs.add(verbs());
                verbs.subtract(before);
                for (int i = 0; i < indexes.size(); i++) {
                  CacheCounters cache = indexes.get(i).cache().since(caches.get(i));
                  hits += cache.leafHits();
                  misses += cache.leafMisses();
                }
              });
    }

    private VerbCounters verbs() {
      VerbCounters sum = new VerbCounters();
      indexes.forEach(index -> sum.add(index.verbs()));
      return sum;
    }

    SimResult result(List<SimClient> clients, long cpuNanos) {
      return new SimResult(
          "dex",
          clients.size(),
          meter.operations(),
          plan.nanos(),
          verbs,
          hits,
          misses,
          clients.stream().mapToLong(SimClient::verified).sum(),
          meter.latencies(),
          meter.roundTrips(),
          cluster.utilization(),
          cluster.events(),
          cpuNanos,
          cluster.hash());
    }
  }
}
