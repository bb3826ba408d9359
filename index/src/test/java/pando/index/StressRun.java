package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Real threads on one index: some that change keys, one that scans, and what else there is. */
public final class StressRun {
  private final Supplier<Session> sessions;
  private final SplittableRandom random;
  private final int operations;
  private final AtomicLong clock = new AtomicLong();
  private final AtomicInteger working;
  private final List<StressWorker> workers = new ArrayList<>();
  private final List<StressLog> logs = new ArrayList<>();
  private final List<Callable<Void>> tasks = new ArrayList<>();
  private final StressKeys keys = new StressKeys();
  private Runnable betweenScans = () -> {};
  private int loaders = 1;

  /** Prepares a run of so many threads that change keys, each so many times. */
  public StressRun(RangeIndex index, long seed, int threads, int operations) {
    this(index::session, seed, threads, operations);
  }

  /** Prepares a run whose threads open sessions by a function. */
  public StressRun(Supplier<Session> sessions, long seed, int threads, int operations) {
    this.sessions = sessions;
    this.operations = operations;
    this.random = new SplittableRandom(seed);
    this.working = new AtomicInteger(threads);
    for (int thread = 0; thread < threads; thread++) {
      StressLog log = new StressLog(clock, thread);
      StressWorker worker = new StressWorker(sessions, log, keys, thread, random.split());
      logs.add(log);
      workers.add(worker);
      tasks.add(() -> work(worker));
    }
    StressReader reader = new StressReader(sessions, keys, random.split());
    tasks.add(() -> scan(reader));
  }

  /** Has a thread besides do something each time that so many operations began or ended. */
  public void besides(int every, Runnable task) {
    tasks.add(() -> repeat(every, task));
  }

  /** Has the thread that scans do something after each scan. */
  public void betweenScans(Runnable action) {
    betweenScans = action;
  }

  /** Has so many threads load the keys that stay, for an index whose operations take long. */
  public void loadBy(int threads) {
    loaders = threads;
  }

  /** Runs tasks side by side until all have ended. */
  public interface Runner {
    /** Runs them. */
    void run(List<Callable<Void>> tasks) throws Exception;
  }

  /** Runs on real threads, and checks what they saw. */
  public void run() throws Exception {
    run(Threads::run);
  }

  /** Runs, and checks that an order of all operations explains what each saw. */
  public void run(Runner runner) throws Exception {
    load(runner);
    runner.run(tasks);
    try (Session session = sessions.get()) {
      workers.getFirst().readHot(session);
    }
    assertThat(StressLog.violations(logs)).isEmpty();
  }

  private void load(Runner runner) throws Exception {
    if (loaders == 1) {
      // Not by the runner: the seeds of a simulation would run another way.
      load(0);
    } else {
      runner.run(
          IntStream.range(0, loaders)
              .<Callable<Void>>mapToObj(first -> () -> load(first))
              .toList());
    }
  }

  /** Stores every {@code loaders}-th of the keys that stay, beginning with number {@code first}. */
  private Void load(int first) {
    List<Map.Entry<Long, Long>> steady = List.copyOf(keys.steady().entrySet());
    try (Session session = sessions.get()) {
      for (int i = first; i < steady.size(); i += loaders) {
        session.put(steady.get(i).getKey(), steady.get(i).getValue());
      }
    }
    return null;
  }

  private Void work(StressWorker worker) {
    try {
      worker.run(operations);
    } finally {
      working.decrementAndGet();
    }
    return null;
  }

  private Void scan(StressReader reader) {
    int scans = 0;
    while (working.get() > 0 || scans == 0) {
      reader.read();
      scans++;
      betweenScans.run();
    }
    System.out.println("scans=" + scans);
    return null;
  }

  @SuppressWarnings("ThreadPriorityCheck") // Others must run for the clock to advance.
  private Void repeat(int every, Runnable task) {
    while (working.get() > 0) {
      task.run();
      long next = clock.get() + every;
      while (clock.get() < next && working.get() > 0) {
        Thread.yield();
      }
    }
    return null;
  }

  /** Returns what the index must hold after the run. */
  public Map<Long, Long> expected() {
    Map<Long, Long> expected = new HashMap<>(keys.steady());
    workers.forEach(worker -> expected.putAll(worker.own()));
    expected.putAll(workers.getFirst().hot());
    return expected;
  }
}
