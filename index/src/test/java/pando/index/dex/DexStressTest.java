package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Session;
import pando.index.Tree;

/** Real threads on one index while its partitions move. */
@Timeout(180)
class DexStressTest {
  private static final int OPERATIONS = Integer.getInteger("pando.test.operations", 20_000);
  private static final int SERVERS_MAX = 8;

  @ParameterizedTest(name = "seed={0} threads={1} memory={2} compute={3} change every {4}, set={5}")
  @CsvSource({
    "101, 4, 1, 1, 0,     offloading=off",
    "102, 4, 2, 4, 0,     offloading=off",
    "103, 6, 3, 4, 400,   offloading=off",
    "104, 4, 2, 4, 0,     contrary=0.5",
    "105, 6, 3, 4, 400,   contrary=0.5",
    "106, 4, 2, 2, 100,   contrary=0.5",
    "107, 8, 2, 4, 1000,  caching=off",
    "108, 5, 4, 6, 300,   admission=1",
  })
  void shouldStayLinearizable(
      long seed, int threads, int memory, int compute, int changeEvery, String setting)
      throws Exception {
    long start = Seeds.of(seed);
    String[] parts = setting.split("=", 2);
    DexOptions options = Pools.tiny(compute).with(parts[0], parts[1]);
    try (Fabric fabric = Pools.open(memory, 8 << 20, start)) {
      TreeMap<Long, Long> expected = new TreeMap<>();
      DexIndex index = DexIndex.create(fabric, options);
      try (index) {
        Stress stress = new Stress(index, start, threads, changeEvery);
        stress.run();
        expected.putAll(stress.expected());
      }
      Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(expected);
      assertThat((long) tree.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
    }
  }

  /** One run: threads that change keys, one that scans, one that changes the partitions. */
  private static final class Stress {
    private final DexIndex index;
    private final SplittableRandom random;
    private final int threads;
    private final int changeEvery;
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger working;
    private final List<StressWorker> workers = new ArrayList<>();
    private final List<StressLog> logs = new ArrayList<>();
    private final StressKeys keys = new StressKeys();

    Stress(DexIndex index, long seed, int threads, int changeEvery) {
      this.index = index;
      this.random = new SplittableRandom(seed);
      this.threads = threads;
      this.changeEvery = changeEvery;
      this.working = new AtomicInteger(threads);
    }

    void run() throws Exception {
      try (Session session = index.session()) {
        keys.steady().forEach(session::put);
      }
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        StressLog log = new StressLog(clock, thread);
        StressWorker worker = new StressWorker(index, log, keys, thread, random.split());
        logs.add(log);
        workers.add(worker);
        tasks.add(() -> work(worker));
      }
      StressReader reader = new StressReader(index, keys, random.split());
      tasks.add(() -> scan(reader));
      SplittableRandom changes = random.split();
      tasks.add(() -> repartition(new Repartitioner(index, changes, SERVERS_MAX)));
      Threads.run(tasks);
      try (Session session = index.session()) {
        workers.getFirst().readHot(session);
      }
      assertThat(StressLog.violations(logs)).isEmpty();
    }

    private Void work(StressWorker worker) {
      try {
        worker.run(OPERATIONS);
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
      }
      System.out.println("scans=" + scans);
      return null;
    }

    @SuppressWarnings("ThreadPriorityCheck") // Others must run for the clock to advance.
    private Void repartition(Repartitioner repartitioner) {
      while (changeEvery > 0 && working.get() > 0) {
        repartitioner.change();
        long next = clock.get() + changeEvery;
        while (clock.get() < next && working.get() > 0) {
          Thread.yield();
        }
      }
      System.out.println("changes=" + repartitioner.changes());
      return null;
    }

    Map<Long, Long> expected() {
      Map<Long, Long> expected = new HashMap<>(keys.steady());
      workers.forEach(worker -> expected.putAll(worker.own()));
      expected.putAll(workers.getFirst().hot());
      return expected;
    }
  }
}
