package pando.bench.simulate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import pando.bench.records.Records;
import pando.bench.run.Footprint;
import pando.bench.run.ScanCheck;
import pando.bench.run.Setup;
import pando.bench.workload.Distribution;
import pando.bench.workload.Inserts;
import pando.bench.workload.OperationStream;
import pando.cli.text.Progress;
import pando.durable.ClusterLog;
import pando.fabric.ComputeServer;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.dex.DexIndex;
import pando.sim.Cluster;

/**
 * A workload on an index in virtual time. Each compute server has its own index that joined the
 * pool, as if it were a process; with partitions, its clients access its own keys. Warming up
 * happens before the clock starts.
 */
public final class IndexRun implements AutoCloseable {
  private static final long SETTLING_NANOS = 500_000;
  private static final long CLOSE_NANOS_MAX = 1_000_000_000_000L;
  private static final int BATCH = 64;

  /** Counts runs with logs, as all runs on one tree share what its memory servers hold. */
  private static final AtomicLong LOGS = new AtomicLong();

  private static final Duration PASS_REST = Duration.ofSeconds(10);

  private final IndexPlan plan;
  private final SimPlan sim;
  private final Cluster cluster;
  private final Meter meter;
  private final Records records;
  private final Inserts inserts;
  private final Sequences sequences;
  private final long treeBytes;
  private final List<RangeIndex> indexes = new ArrayList<>();
  private final List<SimClient> clients = new ArrayList<>();

  /** Bytes of the loaded tree that no compute server counts as its own. */
  private long loadedBytes;

  private IndexRun(IndexPlan plan, Cluster cluster, long treeBytes) {
    this.plan = plan;
    this.cluster = cluster;
    this.treeBytes = treeBytes;
    sim = plan.sim();
    meter = new Meter(cluster, sim, new Counters(), SETTLING_NANOS);
    records = sim.supply();
    inserts = new Inserts(sim.records(), sim.clients(), 0, sim.clients());
    sequences = new Sequences(records, sim.records(), inserts, sim.clients(), sim.values());
  }

  /** Runs a plan on a tree that was built for it, among others. */
  public static SimResult run(IndexPlan plan, LoadedTree tree) {
    try (Cluster cluster = tree.fork(plan.sim().cluster());
        IndexRun run = new IndexRun(plan, cluster, tree.poolBytes())) {
      return run.run();
    }
  }

  @Override
  public void close() {
    if (plan.isLogged()) {
      closeLogged();
    }
    Closing.all(indexes.stream().<Runnable>map(index -> index::close).toList());
  }

  /** In virtual time, in which the holders are told that the pool has all. */
  private void closeLogged() {
    for (int server = 0; server < indexes.size(); server++) {
      cluster.core(server).spawn("close-" + server, indexes.get(server)::close);
    }
    cluster.runWithoutFaults(CLOSE_NANOS_MAX, Long.MAX_VALUE);
  }

  private SimResult run() {
    int servers = sim.cluster().computeServers();
    for (int server = 0; server < servers; server++) {
      indexes.add(plan.index().join(cluster.fabric(server), server, 1));
    }
    // Compute servers of ORCA have taken over the whole tree now, those of others nothing.
    loadedBytes = ownBytes() == 0 ? treeBytes : 0;
    Distribution.Draw draw = sim.distribution().over(sim.records(), sim.theta());
    for (int server = 0; server < servers; server++) {
      addClients(server, draw);
    }
    warmUp();
    if (plan.isLogged()) {
      beginLogs();
    }
    if (plan.splitNanos() > 0) {
      cluster.core(0).spawn("split", this::split);
    }
    Setup setup =
        new Setup(
            plan.index().system(),
            "sim",
            servers,
            sim.cluster().pool().memoryServers(),
            plan.index().cacheBytes());
    SimResult result =
        meter.run(setup, plan.workload().toString(), client -> clients.get(client)::run);
    result.measurement().verified = sequences.verified();
    return result;
  }

  private void addClients(int server, Distribution.Draw draw) {
    Partitioning partitioning = indexes.getFirst().partitioning();
    boolean all = !plan.index().isPartitioned();
    long low = all ? Long.MIN_VALUE : partitioning.lowOfServer(server);
    long high = all ? Long.MAX_VALUE : partitioning.highOfServer(server);
    long lastKey = records.greatestKey(sim.records(), low, high);
    while (clients.size() < sim.clients() && sim.serverOf(clients.size()) == server) {
      int number = clients.size();
      OperationStream stream =
          new OperationStream(
              plan.workload(), draw, records, inserts, key -> low <= key && key <= high, number);
      clients.add(
          new SimClient(
              number,
              cluster,
              indexes.get(server).session(),
              stream,
              sequences,
              new ScanCheck(lastKey, records.seed()),
              high,
              plan.workload().keysAtOnce(),
              meter));
    }
  }

  /** Outside of virtual time nobody would send what is logged. */
  private void beginLogs() {
    long epoch = LOGS.incrementAndGet();
    for (int server = 0; server < indexes.size(); server++) {
      ClusterLog.Opened opened =
          ClusterLog.open(
              indexes.get(server),
              new ComputeServer(server, epoch),
              _ -> false,
              PASS_REST,
              () -> {});
      indexes.set(server, (RangeIndex) opened.index());
    }
    for (int client = 0; client < clients.size(); client++) {
      clients.get(client).useInstead(indexes.get(sim.serverOf(client))::session);
    }
  }

  private void split() {
    cluster.sleepNanos(SETTLING_NANOS + plan.splitNanos());
    DexIndex index = (DexIndex) indexes.getFirst();
    if (index.partitions().orElseThrow().addComputeServer(0) < 0) {
      throw new IllegalStateException("the range of the first compute server is a single leaf");
    }
  }

  private long ownBytes() {
    return indexes.stream().mapToLong(RangeIndex::poolBytes).sum();
  }

  /** Runs operations before the clock starts: they take effect at once. */
  private void warmUp() {
    try (Progress progress = Progress.of("warm-up", plan.warmup())) {
      for (long left = plan.warmup(); left > 0; ) {
        int size = Math.clamp(left / clients.size(), 1, BATCH);
        for (SimClient client : clients.subList(0, (int) Math.min(left, clients.size()))) {
          client.warmUp(size);
          cluster.catchUp();
          left -= size;
        }
        progress.step((long) size * clients.size());
      }
    }
  }

  /** The counters of all compute servers. */
  private final class Counters implements Meter.Counters {
    @Override
    public VerbCounters verbs() {
      VerbCounters sum = new VerbCounters();
      indexes.forEach(index -> sum.add(index.verbs()));
      return sum;
    }

    @Override
    public long cacheHits() {
      return indexes.stream().mapToLong(index -> index.cache().leafHits()).sum();
    }

    @Override
    public long cacheMisses() {
      return indexes.stream().mapToLong(index -> index.cache().leafMisses()).sum();
    }

    @Override
    public long admissions() {
      return indexes.stream().mapToLong(index -> index.cache().admissions()).sum();
    }

    @Override
    public Footprint footprint() {
      return new Footprint(
          sim.records() + clients.stream().mapToLong(SimClient::inserted).sum(),
          loadedBytes + ownBytes(),
          indexes.stream().mapToLong(RangeIndex::cachedBytes).sum());
    }
  }
}
