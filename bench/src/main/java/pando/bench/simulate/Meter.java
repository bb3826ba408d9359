package pando.bench.simulate;

import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.run.Setup;
import pando.bench.trial.TrialWatchdog;
import pando.fabric.VerbCounters;
import pando.sim.Cluster;

/**
 * Runs a plan's clients, and measures the operations that end and the verbs that are issued within
 * a span of virtual time.
 */
final class Meter {
  private static final int ROUND_TRIPS_MAX = 1_000_000;
  private static final int DIGITS = 3;

  /**
   * Clients start at random times within a microsecond, as on real machines they never start in
   * step.
   */
  private static final int START_NANOS = 1_000;

  private final Cluster cluster;
  private final SimPlan plan;
  private final Counters counters;
  private final long start;
  private final long end;
  private final Measurement measurement = new Measurement();
  private final Windows windows;
  private final LongSupplier admissions;
  private final Histogram roundTrips = new Histogram(1, ROUND_TRIPS_MAX, DIGITS);

  /** The counters of a run. */
  interface Counters {
    /** Returns the verbs of all clients. */
    VerbCounters verbs();

    /** Returns the operations that found their leaf cached. */
    default long cacheHits() {
      return 0;
    }

    /** Returns the operations that did not. */
    default long cacheMisses() {
      return 0;
    }

    /** Returns the number of nodes, or of retrained models, that caches have admitted. */
    default long admissions() {
      return 0;
    }

    /** Returns the memory that is taken. */
    default Footprint footprint() {
      return Footprint.NONE;
    }
  }

  /**
   * Creates a meter of nothing.
   *
   * @param counters read at the start and at the end of what is measured
   * @param settlingNanos before that start, in which queues fill
   */
  Meter(Cluster cluster, SimPlan plan, Counters counters, long settlingNanos) {
    this.cluster = cluster;
    this.plan = plan;
    this.counters = counters;
    start = settlingNanos;
    end = settlingNanos + plan.nanos();
    windows = new Windows(plan.nanos());
    admissions = counters::admissions;
  }

  /**
   * Runs all clients to their end.
   *
   * @param setup what runs
   * @param workload what it does
   * @param clients what each client does, by its number, while {@link #isRunning()}
   */
  SimResult run(Setup setup, String workload, IntFunction<Runnable> clients) {
    cluster.core(0).spawn("meter", this::count);
    spawn(clients);
    long begun = System.nanoTime();
    TrialWatchdog.run(cluster);
    long realNanos = System.nanoTime() - begun;
    return new SimResult(
        setup,
        workload,
        plan,
        measurement,
        roundTrips,
        windows,
        counters.footprint(),
        cluster.utilization(),
        cluster.events(),
        realNanos,
        cluster.hash());
  }

  private void spawn(IntFunction<Runnable> clients) {
    SplittableRandom random = new SplittableRandom(plan.cluster().seed());
    for (int first = 0; first < plan.clients(); first += plan.coroutines()) {
      Cluster.Core core = cluster.core(plan.serverOf(first));
      for (int client = first; client < first + plan.coroutines(); client++) {
        Runnable body = clients.apply(client);
        long delay = random.nextLong(START_NANOS);
        core.spawn(
            "client-" + client,
            () -> {
              cluster.sleepNanos(delay);
              body.run();
            });
      }
    }
  }

  private void count() {
    cluster.sleepNanos(start);
    VerbCounters verbs = counters.verbs();
    long hits = counters.cacheHits();
    long misses = counters.cacheMisses();
    cluster.sleepNanos(plan.nanos());
    measurement.verbs.add(counters.verbs());
    measurement.verbs.subtract(verbs);
    measurement.cacheHits = counters.cacheHits() - hits;
    measurement.cacheMisses = counters.cacheMisses() - misses;
    measurement.throughput = measurement.operations * 1e9 / plan.nanos();
  }

  /** Returns whether clients should continue. */
  boolean isRunning() {
    return cluster.nanos() < end;
  }

  /**
   * Notes operations that have ended now. Each has its share of their time and round trips.
   *
   * @param began when they began, in nanoseconds of virtual time
   * @param trips their round trips
   * @param operations how many there are
   */
  void record(long began, long trips, int operations) {
    long now = cluster.nanos();
    if (now >= start && now < end) {
      measurement.operations += operations;
      for (int i = 0; i < operations; i++) {
        windows.record(now - start, admissions);
      }
      measurement.recordLatency((now - began) / operations);
      roundTrips.recordValue(Math.min(trips / operations, ROUND_TRIPS_MAX));
    }
  }
}
