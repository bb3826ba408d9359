package pando.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.pool.NodeAllocator;
import pando.sim.fault.Fault;

@Timeout(300)
class ClusterTest {
  private static final long NANOS_MAX = 10_000_000_000L;
  private static final long EVENTS_MAX = 10_000_000;
  private static final long NODE = GlobalAddress.of(0, 32 << 10);
  private static final int NODE_BYTES = 1024;
  private static final int CHUNK_BYTES = 64 << 10;
  private static final int POOL_BYTES = 1 << 20;

  private static ClusterOptions options(long seed, Fault... faults) {
    System.out.println("seed=" + seed);
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(List.of(faults));
    return ClusterOptions.defaults()
        .withServers(2, 2)
        .withBytesPerServer(POOL_BYTES)
        .withChunkBytes(CHUNK_BYTES)
        .withFaults(enabled)
        .withSeed(seed);
  }

  /** Runs one client with a worker. */
  private static void run(Cluster cluster, Consumer<Worker> body) {
    run(cluster, 0, body);
  }

  private static void run(Cluster cluster, int server, Consumer<Worker> body) {
    spawn(cluster, server, body);
    cluster.run(NANOS_MAX, EVENTS_MAX);
  }

  private static void spawn(Cluster cluster, int server, Consumer<Worker> body) {
    Fabric fabric = cluster.fabric(server);
    cluster
        .core(server)
        .spawn(
            "client",
            () -> {
              try (RegisteredMemory memory = fabric.register(8 * NODE_BYTES);
                  Worker worker = fabric.worker(memory)) {
                body.accept(worker);
              }
            });
  }

  @Test
  void shouldWaitForASignalOrForATime() {
    try (Cluster cluster = new Cluster(options(1))) {
      Signal signal = cluster.signal();
      List<Long> times = new ArrayList<>();
      cluster
          .core(0)
          .spawn(
              "waits",
              () -> {
                for (int i = 0; i < 3; i++) {
                  signal.await(5_000);
                  times.add(cluster.nanos());
                }
                signal.give();
                signal.await(5_000);
                times.add(cluster.nanos());
              });
      cluster
          .core(1)
          .spawn(
              "gives",
              () -> {
                cluster.sleepNanos(1_000);
                signal.give();
                cluster.sleepNanos(6_000);
                signal.give();
              });
      cluster.run(NANOS_MAX, EVENTS_MAX);
      assertThat(times).containsExactly(1_000L, 6_000L, 7_000L, 7_000L);
    }
  }

  @Test
  void shouldTakeTwoMicrosecondsForAnUnloadedRead() {
    try (Cluster cluster = new Cluster(options(1))) {
      run(
          cluster,
          worker -> {
            long start = cluster.nanos();
            worker.read(NODE, 0, 64);
            assertThat(cluster.nanos() - start).isBetween(1_700L, 2_400L);
            assertThat(worker.counters().roundTrips).isEqualTo(1);
          });
    }
  }

  @Test
  void shouldDoWhatTheVerbsDoInVirtualTime() {
    try (Cluster cluster = new Cluster(options(2))) {
      run(
          cluster,
          worker -> {
            Words.set(worker.memory(), 0, 42);
            worker.write(NODE, 0, 8);
            assertThat(worker.cas(NODE, 41, 1)).isEqualTo(42);
            assertThat(worker.cas(NODE, 42, 43)).isEqualTo(42);
            assertThat(worker.faa(NODE, 7)).isEqualTo(43);
            assertThat(worker.maskedCas(NODE, 50, 0xFF, 0x100, 0x100)).isEqualTo(50);
            assertThat(worker.maskedFaa(NODE, 1, 0)).isEqualTo(0x132);
            long onChip = GlobalAddress.onChip(1, 64);
            assertThat(worker.faa(onChip, 5)).isZero();
            VerbList list = new VerbList().faa(onChip, 1, 16).read(onChip, 24, 8);
            worker.post(list);
            assertThat(Words.get(worker.memory(), 16)).isEqualTo(5);
            assertThat(Words.get(worker.memory(), 24)).isEqualTo(6);
            assertThat(worker.counters().roundTrips).isEqualTo(8);
            assertThat(worker.counters().atomics).isEqualTo(7);
          });
    }
  }

  @Test
  void shouldForkAPool() {
    ClusterOptions options = options(31);
    try (Cluster cluster = new Cluster(options)) {
      long[] taken = new long[1];
      run(
          cluster,
          worker -> {
            taken[0] = allocate(worker);
            writeWord(worker, taken[0], 41);
          });
      try (Cluster fork = cluster.fork(options.withProcessorThreads(3));
          Cluster sibling = cluster.fork(options.withServers(1, 2))) {
        run(
            fork,
            worker -> {
              assertThat(worker.cas(taken[0], 41, 42)).isEqualTo(41);
              assertThat(allocate(worker)).isNotEqualTo(taken[0]);
            });
        run(sibling, worker -> assertThat(worker.cas(taken[0], 41, 43)).isEqualTo(41));
        run(fork, worker -> assertThat(worker.cas(taken[0], 42, 44)).isEqualTo(42));
        assertThat(cluster.fabric(0).usage().getFirst().usedBytes())
            .isLessThan(fork.fabric(0).usage().getFirst().usedBytes());
      }
      assertThatExceptionOfType(IllegalArgumentException.class)
          .isThrownBy(() -> cluster.fork(options.withServers(2, 1)))
          .withMessageContaining("memoryServers=1");
    }
  }

  private static long allocate(Worker worker) {
    return new NodeAllocator(2, NODE_BYTES).allocate(worker, 0, 0);
  }

  private static void writeWord(Worker worker, long address, long word) {
    Words.set(worker.memory(), 0, word);
    worker.write(address, 0, Long.BYTES);
  }

  @Test
  void shouldTellTheClientWhatWasWrong() {
    try (Cluster cluster = new Cluster(options(3))) {
      run(
          cluster,
          worker -> {
            assertThatExceptionOfType(InvalidAddressException.class)
                .isThrownBy(() -> worker.read(GlobalAddress.of(0, 1L << 40), 0, 8));
            assertThatExceptionOfType(InvalidAddressException.class)
                .isThrownBy(() -> worker.read(GlobalAddress.of(2, 0), 0, 8));
            assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> worker.cas(NODE + 4, 0, 1));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> worker.read(NODE, 8 * NODE_BYTES, 8));
            worker.read(NODE, 0, 8);
          });
    }
  }

  @Test
  void shouldEndLostVerbsWithTypedExceptions() {
    List<Class<?>> seen = new ArrayList<>();
    Fault[] faults = {Fault.LOST_COMPLETION, Fault.CUT, Fault.BROKEN_LIST};
    try (Cluster cluster = new Cluster(options(4, faults))) {
      VerbList list = new VerbList();
      run(
          cluster,
          worker -> {
            for (int i = 0; i < 10_000; i++) {
              try {
                worker.post(list.clear().read(NODE, 0, 8).write(NODE, 0, 8));
              } catch (UnknownOutcomeException | MemoryServerLostException e) {
                seen.add(e.getClass());
              }
            }
          });
      assertThat(seen).contains(UnknownOutcomeException.class, MemoryServerLostException.class);
      assertThat(cluster.faults().values()).allMatch(times -> times > 0);
    }
  }

  @Test
  void shouldTellExactlyWhatBecameOfVerbs() {
    Set<VerbList.Outcome> seen = EnumSet.noneOf(VerbList.Outcome.class);
    Fault[] faults = {Fault.LOST_COMPLETION, Fault.BROKEN_LIST};
    try (Cluster cluster = new Cluster(options(5, faults))) {
      VerbList list = new VerbList();
      run(
          cluster,
          worker -> {
            for (long round = 1; round <= 10_000; round++) {
              Words.set(worker.memory(), 0, round);
              list.clear().write(word(0, 0), 0, 8).read(word(0, 0), 8, 8).write(word(0, 1), 0, 8);
              try {
                worker.post(list);
              } catch (UnknownOutcomeException e) {
                assertOutcome(worker, list, 0, word(0, 0), round);
                assertOutcome(worker, list, 2, word(0, 1), round);
                assertThat(list.outcome(1)).isNotEqualTo(VerbList.Outcome.UNKNOWN);
                seen.addAll(List.of(list.outcome(0), list.outcome(1), list.outcome(2)));
              }
            }
          });
    }
    assertThat(seen).containsExactly(VerbList.Outcome.values());
  }

  private static void assertOutcome(
      Worker worker, VerbList list, int verb, long word, long expected) {
    long found = readPatiently(worker, word);
    switch (list.outcome(verb)) {
      case DONE -> assertThat(found).isEqualTo(expected);
      case NOT_DONE -> assertThat(found).isNotEqualTo(expected);
      case UNKNOWN -> assertThat(found).isLessThanOrEqualTo(expected);
    }
  }

  private static long readPatiently(Worker worker, long word) {
    while (true) {
      try {
        worker.read(word, 16, 8);
        return Words.get(worker.memory(), 16);
      } catch (StalledException e) {
        // READs alone never have an unknown outcome.
      }
    }
  }

  /** What goes to other memory servers is not in the list that breaks. */
  @Test
  void shouldBreakTheListOfOneMemoryServerAlone() {
    Set<Integer> doneOfFour = new TreeSet<>();
    try (Cluster cluster = new Cluster(options(43, Fault.BROKEN_LIST))) {
      run(
          cluster,
          worker -> {
            for (long round = 1; round <= 10_000; round++) {
              try {
                worker.scatter(roundToBoth(worker, round));
              } catch (UnknownOutcomeException e) {
                int first = written(worker, 0, round);
                int second = written(worker, 1, round);
                assertThat(Math.max(first, second)).isEqualTo(4);
                doneOfFour.add(Math.min(first, second));
              }
            }
          });
    }
    assertThat(doneOfFour).containsExactly(0, 1, 2, 3);
  }

  /** WRITEs the number of a round to four words of each memory server, in turn. */
  private static VerbList roundToBoth(Worker worker, long round) {
    Words.set(worker.memory(), 0, round);
    VerbList list = new VerbList();
    for (int i = 0; i < 8; i++) {
      list.write(word(i % 2, i / 2), 0, Long.BYTES);
    }
    return list;
  }

  private static long word(int server, int number) {
    return GlobalAddress.of(server, GlobalAddress.offset(NODE) + (long) number * Long.BYTES);
  }

  /** Returns how many words have the number of a round, which are the first ones. */
  private static int written(Worker worker, int server, long round) {
    worker.read(word(server, 0), 0, 4 * Long.BYTES);
    int words = 0;
    while (words < 4 && Words.get(worker.memory(), (long) words * Long.BYTES) == round) {
      words++;
    }
    for (int i = words; i < 4; i++) {
      assertThat(Words.get(worker.memory(), (long) i * Long.BYTES)).isLessThan(round);
    }
    return words;
  }

  @Test
  void shouldTellClientsThatThePoolIsFullForAWhile() {
    try (Cluster cluster = new Cluster(options(41, Fault.FULL_POOL))) {
      List<String> seen = new ArrayList<>();
      run(
          cluster,
          worker -> {
            NodeAllocator allocator = new NodeAllocator(2, CHUNK_BYTES);
            while (Collections.frequency(seen, "chunk") < 20) {
              try {
                allocator.allocate(worker, 0, 0);
                seen.add("chunk");
              } catch (PoolFullException e) {
                assertThat(e).hasMessageContaining("capacityBytes=" + 2 * POOL_BYTES);
                seen.add("full");
                cluster.sleepNanos(100_000);
              }
            }
          });
      assertThat(seen).containsSubsequence("chunk", "full", "full", "chunk");
    }
  }

  @Test
  void shouldCrashInTheMiddleOfAList() {
    Set<Long> posted = new TreeSet<>();
    for (long seed = 50; seed < 70; seed++) {
      try (Cluster cluster = new Cluster(options(seed, Fault.CRASH_COMPUTE))) {
        VerbList list = new VerbList();
        spawn(
            cluster,
            0,
            worker -> {
              for (long round = 1; ; round++) {
                Words.set(worker.memory(), 0, round);
                list.clear();
                for (int i = 0; i < 4; i++) {
                  list.write(NODE + 8L * i, 0, 8);
                }
                worker.post(list);
              }
            });
        cluster.run(NANOS_MAX, EVENTS_MAX);
        run(
            cluster,
            1,
            worker -> {
              worker.read(NODE, 0, 4 * Long.BYTES);
              long last = Words.get(worker.memory(), 0);
              posted.add(
                  LongStream.range(0, 4)
                      .filter(i -> Words.get(worker.memory(), 8 * i) == last)
                      .count());
            });
      }
    }
    assertThat(posted).contains(1L, 2L, 3L, 4L);
  }

  @Test
  void shouldEndClientsThatWaitWhenTheirServerCrashes() {
    try (Cluster cluster = new Cluster(options(42, Fault.CRASH_COMPUTE))) {
      spawn(
          cluster,
          0,
          worker -> {
            while (true) {
              worker.read(NODE, 0, 8);
            }
          });
      int[] ended = new int[1];
      List<Runnable> waits = List.of(() -> cluster.sleepNanos(100), cluster::settle);
      for (Runnable wait : waits) {
        cluster
            .core(0)
            .spawn(
                "waiter",
                () -> {
                  try {
                    while (true) {
                      cluster.chargeOperation();
                      wait.run();
                    }
                  } finally {
                    ended[0]++;
                  }
                });
      }
      cluster.run(NANOS_MAX, EVENTS_MAX);
      assertThat(ended[0]).isEqualTo(waits.size());
    }
  }

  @Test
  void shouldRunAgainWithFurtherClients() {
    try (Cluster cluster = new Cluster(options(43))) {
      run(cluster, worker -> worker.faa(NODE, 1));
      long first = cluster.nanos();
      run(cluster, worker -> assertThat(worker.faa(NODE, 1)).isEqualTo(1));
      assertThat(first).isPositive();
      assertThat(cluster.nanos()).isBetween(first + 2_000, first + 3_000);
      assertThatExceptionOfType(ArithmeticException.class)
          .isThrownBy(() -> run(cluster, worker -> Math.floorMod(1, 0)));
      assertThatExceptionOfType(IllegalStateException.class)
          .isThrownBy(() -> run(cluster, worker -> {}));
    }
  }

  @Test
  void shouldEndEveryClientOfACrashedServerAndNoOther() {
    try (Cluster cluster = new Cluster(options(5, Fault.CRASH_COMPUTE))) {
      int[] done = new int[2];
      for (int server = 0; server < 2; server++) {
        int number = server;
        spawn(
            cluster,
            server,
            worker -> {
              for (int i = 0; i < 10_000; i++) {
                worker.read(NODE, 0, 8);
                done[number]++;
              }
            });
      }
      cluster.run(NANOS_MAX, EVENTS_MAX);
      int crashed = cluster.isCrashed(0) ? 0 : 1;
      assertThat(cluster.isCrashed(crashed)).isTrue();
      assertThat(done[crashed]).isLessThan(10_000);
      assertThat(done[1 - crashed]).isEqualTo(10_000);
    }
  }

  @Test
  void shouldShowTornReadsOnlyWithTheFault() {
    assertThat(tornReads(Fault.TORN)).isPositive();
    assertThat(tornReads(Fault.DELAY)).isZero();
  }

  /** One client writes nodes whose words are all equal, another reads them. */
  private static int tornReads(Fault fault) {
    int[] torn = new int[1];
    try (Cluster cluster = new Cluster(options(6, fault))) {
      spawn(
          cluster,
          0,
          worker -> {
            for (int i = 0; i < 500; i++) {
              for (int offset = 0; offset < NODE_BYTES; offset += Long.BYTES) {
                Words.set(worker.memory(), offset, i);
              }
              worker.write(NODE, 0, NODE_BYTES);
            }
          });
      spawn(
          cluster,
          1,
          worker -> {
            for (int i = 0; i < 500; i++) {
              worker.read(NODE, 0, NODE_BYTES);
              boolean equal = true;
              for (int line = 0; line < NODE_BYTES; line += 64) {
                long first = Words.get(worker.memory(), line);
                equal &= first == Words.get(worker.memory(), 0);
                // A line lands as one, whatever happens.
                assertThat(Words.get(worker.memory(), line + 56)).isEqualTo(first);
              }
              torn[0] += equal ? 0 : 1;
            }
          });
      cluster.run(NANOS_MAX, EVENTS_MAX);
    }
    return torn[0];
  }

  @Test
  void shouldShowWritesOfAListInOrderUnderEveryHarmlessFault() {
    for (long seed = 10; seed < 40; seed++) {
      Fault[] faults = {Fault.TORN, Fault.LATE_READ, Fault.DELAY, Fault.PAUSE};
      try (Cluster cluster = new Cluster(options(seed, faults))) {
        VerbList list = new VerbList();
        spawn(
            cluster,
            0,
            worker -> {
              for (int i = 1; i < 300; i++) {
                for (int offset = 0; offset < NODE_BYTES; offset += Long.BYTES) {
                  Words.set(worker.memory(), offset, i);
                }
                // First the node, then the word that says so.
                list.clear().write(NODE, 0, NODE_BYTES).write(NODE + NODE_BYTES, 0, 8);
                worker.post(list);
              }
            });
        VerbList reads = new VerbList();
        spawn(
            cluster,
            1,
            worker -> {
              for (int i = 0; i < 300; i++) {
                reads.clear().read(NODE + NODE_BYTES, 0, 8).read(NODE, 64, NODE_BYTES);
                worker.post(reads);
                long published = Words.get(worker.memory(), 0);
                for (int offset = 0; offset < NODE_BYTES; offset += 64) {
                  assertThat(Words.get(worker.memory(), 64 + offset))
                      .isGreaterThanOrEqualTo(published);
                }
              }
            });
        cluster.run(NANOS_MAX, EVENTS_MAX);
      }
    }
  }

  @Test
  void shouldRunTheSameWayForTheSameSeed() {
    assertThat(hashOf(7)).isEqualTo(hashOf(7)).isNotEqualTo(hashOf(8));
  }

  private static long hashOf(long seed) {
    Fault[] harmless = {Fault.TORN, Fault.LATE_READ, Fault.DELAY, Fault.PAUSE, Fault.CLOCK_JUMP};
    try (Cluster cluster = new Cluster(options(seed, harmless))) {
      for (int client = 0; client < 8; client++) {
        spawn(
            cluster,
            client % 2,
            worker -> {
              for (int i = 0; i < 200; i++) {
                for (int attempt = 0; worker.cas(NODE, 0, 1) != 0; attempt++) {
                  worker.backoff().pause(attempt);
                }
                worker.read(NODE + 64, 64, NODE_BYTES);
                worker.write(NODE, 0, 8);
              }
            });
      }
      cluster.run(NANOS_MAX, EVENTS_MAX);
      return cluster.hash();
    }
  }

  @Tag("campaign")
  @Test
  void shouldEndStuckRunsWithEveryStack() {
    try (Cluster cluster = new Cluster(options(9))) {
      assertThatExceptionOfType(StuckException.class)
          .isThrownBy(() -> run(cluster, worker -> LockSupport.park()))
          .withMessageContaining("client")
          .withMessageContaining("ClusterTest");
    }
    try (Cluster cluster = new Cluster(options(9))) {
      assertThatExceptionOfType(StuckException.class)
          .isThrownBy(() ->
              run(
                  cluster,
                  worker -> {
                    while (worker.cas(NODE, 1, 2) != 1) {
                      worker.backoff().pause(0);
                    }
                  }))
          .withMessageContaining("limit");
    }
  }

  @Test
  void shouldFailWithWhatAClientThrew() {
    try (Cluster cluster = new Cluster(options(9))) {
      assertThatExceptionOfType(ArithmeticException.class)
          .isThrownBy(() ->
              run(
                  cluster,
                  worker -> {
                    throw new ArithmeticException("mine");
                  }))
          .withMessage("mine");
    }
  }
}
