package pando.bench.trial;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import pando.bench.records.MapEntries;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;

/** One seed of a simulated cluster, whose clients' operations are recorded, and then checked. */
abstract class RecordedTrial {
  static final int FINAL_CLIENT = 1_000;

  private static final int CHUNK_BYTES = 64 << 10;

  /** Compute servers ask for space more often, so that a full pool is met in more places. */
  private static final int SMALL_CHUNK_BYTES = 16 << 10;

  static final long BYTES_PER_SERVER = 8 << 20;

  /** So many that verbs of different connections take effect between each other. */
  private static final int TCP_PROCESSOR_THREADS = 4;

  private static final double YIELD_SHARE = 0.05;

  final TrialPlan plan;
  final long seed;
  final Cluster cluster;
  final SplittableRandom random;
  final TrialKeys keys;
  final History history = new History();
  final TrialClock clock = new TrialClock();
  final List<TrialClient> clients = new ArrayList<>();
  final List<String> violations = new ArrayList<>();
  final TrialHangs hangs = new TrialHangs();

  /** Clients that have not ended. */
  int working;

  RecordedTrial(TrialPlan plan, long seed, Cluster cluster) {
    this.plan = plan;
    this.seed = seed;
    this.cluster = cluster;
    this.random = new SplittableRandom(seed);
    this.keys = new TrialKeys(plan.keys());
  }

  /** Returns the cluster of a plan. */
  static ClusterOptions shape(TrialPlan plan, long seed) {
    return ClusterOptions.defaults()
        .withServers(plan.computeServers(), plan.memoryServers())
        .withBytesPerServer(BYTES_PER_SERVER)
        .withChunkBytes(plan.fillsPool() ? SMALL_CHUNK_BYTES : CHUNK_BYTES)
        .withHandlers(Systems.handlers())
        .withNetwork(plan.network())
        .withProcessorThreads(plan.network() == NetworkKind.TCP ? TCP_PROCESSOR_THREADS : 1)
        .withFaults(plan.faults())
        .withModel(plan.model())
        .withYieldShare(YIELD_SHARE)
        .withSeed(seed);
  }

  /** Loads about half of the keys. */
  final void load(RangeIndex index) {
    index.bulkLoad(new MapEntries(initial()), 0.7);
  }

  /** Returns about half of the keys, with which the history begins. */
  final SortedMap<Long, Long> initial() {
    TreeMap<Long, Long> initial = new TreeMap<>();
    for (int i = 0; i < keys.count(); i++) {
      if (random.nextBoolean()) {
        initial.put(keys.key(i), -1L - i);
      }
    }
    initial.forEach(history::addInitial);
    return initial;
  }

  /** Runs the cluster under supervision; returns whether it ended as it should. */
  final boolean runToEnd(Runnable simulation) {
    try {
      TrialWatchdog.run(cluster, simulation);
      return true;
    } catch (HangException e) {
      throw new HangException("seed=" + seed + ": " + e.getMessage());
    } catch (RuntimeException | AssertionError e) {
      violations.add("the run ended early: " + StackText.of(e));
      return false;
    }
  }

  final Set<Long> allKeys() {
    Set<Long> all = new TreeSet<>();
    for (int i = 0; i < keys.count(); i++) {
      all.add(keys.key(i));
    }
    return all;
  }

  /** Records what is there as a last read. */
  final void readLast(Map<Long, Long> entries) {
    Set<Long> all = allKeys();
    all.addAll(entries.keySet());
    for (long key : all) {
      long start = clock.tick();
      Long found = entries.get(key);
      history.add(RecordedOperation.read(FINAL_CLIENT, start, clock.tick(), key, found));
    }
  }

  final void checkHistory() {
    violations.addAll(HistoryCheck.violations(history));
  }

  final TrialResult result(int changes, Map<String, Long> counts) {
    return new TrialResult(
        seed,
        violations,
        hangs,
        history,
        cluster.faults(),
        clients.stream().mapToInt(TrialClient::unknown).sum(),
        changes,
        cluster.events(),
        cluster.hash(),
        counts);
  }
}
