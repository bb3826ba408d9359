package pando.bench.run;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import pando.bench.subject.Access;
import pando.bench.subject.Subject;
import pando.bench.workload.Distribution;
import pando.bench.workload.Inserts;
import pando.bench.workload.OperationStream;
import pando.bench.workload.Workload;
import pando.cli.text.Progress;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;

/** One run of a workload by the clients of this process: a warm-up, then what is measured. */
final class Run {
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private final Subject subject;
  private final Dataset dataset;
  private final Plan plan;
  private final Share share;
  private final Workload workload;
  private final StartSignal start;
  private final Activity activity;
  private final Inserts inserts;
  private final Distribution.Draw distribution;
  private final List<Checker> checkers = new ArrayList<>();

  Run(
      Subject subject,
      Dataset dataset,
      Plan plan,
      Share share,
      Workload workload,
      StartSignal start,
      Activity activity) {
    this.subject = subject;
    this.dataset = dataset;
    this.plan = plan;
    this.share = share;
    this.workload = workload;
    this.start = start;
    this.activity = activity;
    int clients = share.clients(plan.threads());
    inserts =
        new Inserts(plan.records(), plan.threads(), share.firstClient(plan.threads()), clients);
    distribution = workload.distribution(plan.distribution()).over(plan.records(), plan.theta());
    for (int i = 0; i < clients; i++) {
      checkers.add(new Checker(dataset, inserts));
    }
  }

  /** Runs all clients to their end; if one fails, stops the others and throws its failure. */
  Measurement execute() {
    int clients = checkers.size();
    Counts counts = new Counts(clients);
    try (ClientThreads threads = ClientThreads.open(subject, plan, clients);
        Progress progress = Progress.of(workload.toString(), operationsOf(clients))) {
      List<Future<Measurement>> results = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int client = i;
        results.add(submit(threads, client, counts, progress));
      }
      for (Future<Measurement> result : results) {
        counts.total.add(get(result));
      }
    }
    if (plan.lanes() > 0) {
      counts.measureLanes();
    }
    return counts.total;
  }

  /** Starts a client; if that fails, those that have started end, too. */
  private Future<Measurement> submit(
      ClientThreads threads, int client, Counts counts, Progress progress) {
    try {
      return threads.submit(client, () -> runClient(client, counts, progress));
    } catch (RuntimeException | Error e) {
      counts.forceTermination();
      throw e;
    }
  }

  /** Returns the records that an audit may find besides the loaded ones. */
  Inserts inserts() {
    return inserts;
  }

  /** Returns the number of records that this process has inserted. */
  long inserted() {
    return checkers.stream().mapToLong(Checker::inserted).sum();
  }

  private Measurement runClient(int local, Counts counts, Progress progress) {
    int client = share.firstClient(plan.threads()) + local;
    OperationStream stream =
        new OperationStream(
            workload, distribution, dataset.records(), inserts, share::owns, client);
    try (Access access = subject.access()) {
      BenchClient running =
          new BenchClient(
              access,
              stream,
              dataset.ledger(),
              checkers.get(local),
              workload,
              share.high(),
              progress::step,
              activity);
      long nanosMax =
          plan.secondsMax() == 0 ? Long.MAX_VALUE : plan.secondsMax() * NANOS_PER_SECOND;
      running.run(part(plan.warmup(), client), nanosMax, counts::isTerminated);
      counts.arriveAndAwaitAdvance();
      Measurement measured =
          running.run(part(plan.operations(), client), nanosMax, counts::isTerminated);
      counts.arriveAndAwaitAdvance();
      return measured;
    } catch (RuntimeException | Error e) {
      counts.forceTermination();
      throw e;
    }
  }

  private long operationsOf(int clients) {
    long operations = 0;
    for (int i = 0; i < clients; i++) {
      int client = share.firstClient(plan.threads()) + i;
      operations += part(plan.warmup(), client) + part(plan.operations(), client);
    }
    return operations;
  }

  private long part(long operations, int client) {
    return operations * (client + 1) / plan.threads() - operations * client / plan.threads();
  }

  private static Measurement get(Future<Measurement> result) {
    try {
      return result.get();
    } catch (ExecutionException e) {
      Throwable failure = e.getCause();
      if (failure instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw new IllegalStateException("a client failed", failure);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while clients run", e);
    }
  }

  /**
   * Ends the warm-up, then the measured part, for all clients at once, and takes the counts in
   * between. Terminated by the client that fails.
   */
  private final class Counts extends Phaser {
    private static final int WARM = 0;

    final Measurement total = new Measurement();
    private VerbCounters verbs = new VerbCounters();
    private CacheCounters cache = subject.cache();
    private long allocatedBytes;
    private long nanos;

    Counts(int clients) {
      super(clients);
    }

    @Override
    protected boolean onAdvance(int phase, int clients) {
      if (phase == WARM) {
        start.await();
        verbs = subject.verbs().copy();
        cache = subject.cache();
        allocatedBytes = ClientThreads.allocatedBytes();
        nanos = System.nanoTime();
        return false;
      }
      total.verbs.add(subject.verbs());
      total.verbs.subtract(verbs);
      CacheCounters measured = subject.cache().since(cache);
      total.cacheHits = measured.leafHits();
      total.cacheMisses = measured.leafMisses();
      allocatedBytes = ClientThreads.allocatedBytes() - allocatedBytes;
      nanos = System.nanoTime() - nanos;
      return true;
    }

    /**
     * Takes what clients cannot measure that share a thread: the times of their operations overlap,
     * and what they allocate is counted for the whole process.
     */
    void measureLanes() {
      total.allocatedBytes = allocatedBytes;
      total.throughput = nanos == 0 ? 0 : total.operations * (double) NANOS_PER_SECOND / nanos;
    }
  }
}
