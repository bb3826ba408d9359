package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.bench.subject.IndexSubject;
import pando.fabric.PandoException;
import pando.index.EntrySource;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOptions;
import pando.index.dex.TreeWalk;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.Operation;

/**
 * One seed of a small DEX cluster: tiny nodes and caches, so that splits, merges and evictions
 * happen all the time, partitions that move, and whatever faults are asked for. Records what every
 * client saw and checks it; at the end walks the tree in the pool, and takes what is there as a
 * last read of every key.
 *
 * <p>Even seeds have all compute servers in one process, which adds and removes some; odd seeds
 * have one in each.
 */
public final class Trial {
  private static final long NANOS_MAX = 600_000_000_000L;
  private static final long EVENTS_MAX = 20_000_000;
  private static final int CHUNK_BYTES = 64 << 10;
  private static final long BYTES_PER_SERVER = 4 << 20;
  private static final int NODE_BYTES = 192;
  private static final int FRAMES = 64;
  private static final double YIELD_SHARE = 0.05;
  private static final int CHANGES_MAX = 12;
  private static final int FINAL_CLIENT = 1_000;

  private final TrialPlan plan;
  private final long seed;
  private final SplittableRandom random;
  private final DexOptions options;
  private final TrialKeys keys;
  private final History history = new History();
  private final TrialClock clock = new TrialClock();
  private final List<DexIndex> indexes = new ArrayList<>();
  private final List<TrialClient> clients = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private int changes;
  private int working;

  /** The cluster while it runs, for whoever watches. */
  private volatile @Nullable Cluster watched;

  private volatile boolean audited;

  Trial(TrialPlan plan, long seed) {
    this.plan = plan;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.keys = new TrialKeys();
    this.options = options();
  }

  /** Runs a seed. */
  public static TrialResult run(TrialPlan plan, long seed) {
    return new Trial(plan, seed).run();
  }

  private DexOptions options() {
    DexOptions tiny =
        DexOptions.defaults()
            .with("node-bytes", String.valueOf(NODE_BYTES))
            .with("cache-bytes", String.valueOf((long) FRAMES * NODE_BYTES))
            .with("compute-servers", String.valueOf(plan.computeServers()))
            .with("contrary", random.nextBoolean() ? "0.01" : "0.3")
            .with("admission", random.nextBoolean() ? "0.1" : "0.7");
    for (String setting : plan.settings()) {
      String[] parts = setting.split("=", 2);
      tiny = tiny.with(parts[0], parts[1]);
    }
    return tiny;
  }

  long seed() {
    return seed;
  }

  /** Returns a number that changes while the trial goes on. May be asked from any thread. */
  long progress() {
    Cluster cluster = watched;
    // The check at the end is bounded by itself.
    return audited ? System.nanoTime() : cluster == null ? -1 : cluster.events();
  }

  /** Returns the stacks of all clients. May be asked from any thread. */
  String stacks() {
    Cluster cluster = watched;
    return cluster == null ? "not running" : cluster.stacks();
  }

  TrialResult run() {
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(plan.computeServers(), plan.memoryServers())
            .withBytesPerServer(BYTES_PER_SERVER)
            .withChunkBytes(CHUNK_BYTES)
            .withHandlers(IndexSubject.handlers())
            .withFaults(plan.faults())
            .withYieldShare(YIELD_SHARE)
            .withSeed(seed);
    try (Cluster running = new Cluster(cluster)) {
      open(running);
      spawn(running);
      watched = running;
      runToEnd(running);
      audited = true;
      audit(running);
      return new TrialResult(
          seed,
          violations,
          history,
          running.faults(),
          clients.stream().mapToInt(TrialClient::unknown).sum(),
          changes,
          running.events(),
          running.hash());
    }
  }

  private void open(Cluster cluster) {
    boolean together = seed % 2 == 0;
    int servers = plan.computeServers();
    indexes.add(DexIndex.create(cluster.fabric(0), options, 0, together ? servers : 1));
    TreeMap<Long, Long> initial = new TreeMap<>();
    for (int i = 0; i < TrialKeys.COUNT; i++) {
      if (random.nextBoolean()) {
        initial.put(keys.key(i), -1L - i);
      }
    }
    initial.forEach(history::addInitial);
    indexes.getFirst().bulkLoad(new MapSource(initial), 0.7);
    for (int server = 1; server < servers && !together; server++) {
      indexes.add(DexIndex.join(cluster.fabric(server), options, server, 1));
    }
  }

  private void spawn(Cluster cluster) {
    int count = plan.computeServers() * plan.clients();
    working = count;
    for (int number = 0; number < count; number++) {
      int server = number % plan.computeServers();
      DexIndex index = indexes.get(server % indexes.size());
      TrialClient client =
          new TrialClient(number, index, keys, history, clock, random.split(), plan.isHarmless());
      clients.add(client);
      int operations = plan.operations() / count;
      cluster
          .core(server)
          .spawn(
              "client-" + number,
              () -> {
                try {
                  client.run(operations);
                } finally {
                  working--;
                }
              });
    }
    for (int i = 0; i < indexes.size(); i++) {
      DexIndex index = indexes.get(i);
      TrialChanges changing = new TrialChanges(index, keys, random.split());
      cluster.core(i).spawn("changes-" + i, () -> change(cluster, changing));
    }
  }

  private void change(Cluster cluster, TrialChanges changing) {
    for (int i = 0; i < CHANGES_MAX && working > 0; i++) {
      cluster.sleepNanos(random.nextLong(200_000));
      try {
        if (changing.change()) {
          changes++;
        }
      } catch (PandoException e) {
        if (plan.isHarmless()) {
          violations.add("partitions could not be changed: " + e);
        }
      }
    }
  }

  private void runToEnd(Cluster cluster) {
    try {
      cluster.run(NANOS_MAX, EVENTS_MAX);
    } catch (RuntimeException | AssertionError e) {
      violations.add("the run ended early: " + e + trace(e));
    }
    clients.forEach(client -> violations.addAll(client.failures()));
  }

  private static String trace(Throwable e) {
    StringBuilder text = new StringBuilder();
    for (StackTraceElement frame : e.getStackTrace()) {
      if (text.length() < 2_000) {
        text.append("\n    at ").append(frame);
      }
    }
    return text.toString();
  }

  /** Checks the tree in the pool, and the history with what is in it as a last read. */
  private void audit(Cluster cluster) {
    long poolBytes = indexes.stream().mapToLong(DexIndex::poolBytes).sum();
    for (int i = 0; i < indexes.size(); i++) {
      close(indexes.get(i), cluster.isCrashed(i));
    }
    TreeWalk.Tree tree = TreeWalk.of(cluster.fabric(0), options);
    violations.addAll(tree.problems());
    if (plan.isHarmless() && poolBytes != (long) tree.nodes() * NODE_BYTES) {
      violations.add(
          "nodes were leaked: allocated=" + poolBytes / NODE_BYTES + ", reached=" + tree.nodes());
    }
    for (int i = 0; i < TrialKeys.COUNT; i++) {
      long key = keys.key(i);
      long start = clock.tick();
      Long found = tree.entries().get(key);
      history.add(Operation.read(FINAL_CLIENT, start, clock.tick(), key, found));
    }
    violations.addAll(HistoryCheck.violations(history));
  }

  /** Has an index write back what it caches, but for one that is no more. */
  private void close(DexIndex index, boolean crashed) {
    if (crashed) {
      return;
    }
    try {
      index.close();
    } catch (RuntimeException e) {
      if (plan.isHarmless()) {
        violations.add("an index could not be closed: " + e + trace(e));
      }
    }
  }

  /** The entries of a map, for a bulk load. */
  private static final class MapSource implements EntrySource {
    private final List<Map.Entry<Long, Long>> entries;
    private int next;

    MapSource(SortedMap<Long, Long> map) {
      entries = List.copyOf(map.entrySet());
    }

    @Override
    public boolean next() {
      next++;
      return next <= entries.size();
    }

    @Override
    public long key() {
      return entries.get(next - 1).getKey();
    }

    @Override
    public long value() {
      return entries.get(next - 1).getValue();
    }

    @Override
    public long sizeHint() {
      return entries.size();
    }
  }
}
