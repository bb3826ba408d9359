package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Session;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/** Processes that reset locks together, in virtual time. */
@Timeout(60)
class DrainTest {
  private static final int PROCESSES = 3;

  /** The machine by which a test looks, which is never fenced. */
  private static final int OBSERVER = PROCESSES - 1;

  private static final int NODE_BYTES = 448;
  private static final long SECOND = 1_000_000_000;
  private static final long NANOS_MAX = 100 * SECOND;
  private static final long EVENTS_MAX = 10_000_000;

  /** Longer than a task looks for drains once, shorter than one is waited for. */
  private static final long DRAIN_NANOS = SECOND / 2;

  private static final DeftOptions OPTIONS =
      DeftOptions.defaults()
          .withComputeServers(PROCESSES)
          .withNodeBytes(NODE_BYTES)
          .withCacheBytes(64 << 10)
          .with("lock-wait-millis", "20");

  private final Cluster cluster =
      new Cluster(
          ClusterOptions.defaults()
              .withServers(PROCESSES, 2)
              .withBytesPerServer(1 << 20)
              .withChunkBytes(64 << 10)
              .withSeed(1));

  private final List<HookedFabric> fabrics = new ArrayList<>();
  private final List<DeftIndex> indexes = new ArrayList<>();

  @BeforeEach
  void open() {
    for (int i = 0; i < PROCESSES; i++) {
      Fabric fabric = cluster.fabric(i, new ComputeServer(i, 1));
      fabrics.add(new HookedFabric(fabric).withDrains());
    }
    DeftIndex first = OPTIONS.create(fabrics.getFirst(), 0, 1);
    first.bulkLoad(Entries.of(entries()), 0.7);
    indexes.add(first);
    for (int i = 1; i < PROCESSES; i++) {
      indexes.add(OPTIONS.join(fabrics.get(i), i, 1));
    }
  }

  private static NavigableMap<Long, Long> entries() {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.range(0, 400).forEach(i -> entries.put(i * 100, i));
    return entries;
  }

  @AfterEach
  void close() {
    indexes.forEach(DeftIndex::close);
    assertThat(OPTIONS.walk(cluster.fabric(OBSERVER)).problems()).isEmpty();
    cluster.close();
  }

  private void spawn(int process, Runnable body) {
    cluster.core(process).spawn("client-" + process, body);
  }

  private void run() {
    cluster.run(NANOS_MAX, EVENTS_MAX);
    try (DrainWords words = new DrainWords(cluster.fabric(OBSERVER))) {
      words.look();
      assertThat(words.asked()).isEqualTo(DrainWords.NOWHERE);
      assertThat(words.isUnderWay()).isFalse();
    }
  }

  private int rounds() {
    try (DrainWords words = new DrainWords(cluster.fabric(OBSERVER))) {
      words.look();
      return words.round();
    }
  }

  /** Stores by a session of its own, and returns how long that takes. */
  private long store(int process, long key) {
    long start = cluster.nanos();
    try (Session session = indexes.get(process).session()) {
      session.put(key, -key);
    }
    return cluster.nanos() - start;
  }

  /** Has the next ticket of a process be lost: taken or not, its session does not learn it. */
  private void loseTicket(int process, boolean taken) {
    fabrics
        .get(process)
        .hookNext(
            DrainTest::takesTicket,
            taking -> {
              if (taken) {
                VerbList verbs = taking.verbs();
                add(process, verbs.remote(0), verbs.operand(0, 0), verbs.operand(0, 1));
              }
              throw new UnknownOutcomeException("by a test");
            });
  }

  private void add(int process, long word, long addend, long boundaries) {
    Fabric fabric = cluster.fabric(process);
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      worker.maskedFaa(word, addend, boundaries);
    }
  }

  private static boolean takesTicket(VerbList verbs) {
    return verbs.size() > 1 && verbs.kind(0) == Kind.MASKED_FAA;
  }

  private static boolean splits(VerbList verbs) {
    return verbs.size() > 1 && verbs.kind(0) == Kind.WRITE && verbs.length(0) == NODE_BYTES;
  }

  /** Has a process lose an exclusive ticket. */
  private void lose(int process, long key, boolean taken) {
    loseTicket(process, taken);
    try (Session session = indexes.get(process).session()) {
      assertThatThrownBy(() -> session.remove(key)).isInstanceOf(UnknownOutcomeException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldResetALockWhoseTicketWasLost(boolean taken) {
    spawn(
        0,
        () -> {
          lose(0, 100, taken);
          assertThat(store(0, 100)).isLessThan(DRAIN_NANOS);
        });
    spawn(1, () -> assertThat(store(1, 101)).isLessThan(DRAIN_NANOS));
    run();
    assertThat(rounds()).isEqualTo(1);
  }

  /** A split goes on to its end before its locks are reset, and others wait for it. */
  @Test
  void shouldWaitForASplit() {
    long[] ended = new long[PROCESSES];
    fabrics
        .get(1)
        .hookNext(
            DrainTest::splits,
            split -> {
              cluster.sleepNanos(DRAIN_NANOS);
              split.post();
              ended[1] = cluster.nanos();
            });
    spawn(1, () -> LongStream.range(1, 60).forEach(i -> store(1, i)));
    spawn(
        0,
        () -> {
          cluster.sleepNanos(DRAIN_NANOS / 10);
          lose(0, 20_000, true);
          store(0, 20_000);
          ended[0] = cluster.nanos();
        });
    spawn(
        2,
        () -> {
          cluster.sleepNanos(DRAIN_NANOS / 5);
          store(2, 39_900);
          ended[2] = cluster.nanos();
        });
    run();
    assertThat(fabrics.get(1).unhook()).isEqualTo(1);
    assertThat(ended[0]).isGreaterThan(ended[1]);
    assertThat(ended[2]).as("kept out").isGreaterThan(ended[1]);
    assertThat(rounds()).isEqualTo(1);
  }

  @Test
  void shouldResetWhatSeveralAskFor() {
    for (int i = 0; i < PROCESSES; i++) {
      int process = i;
      spawn(
          i,
          () -> {
            for (long key = process; key < 40_000; key += 4_000) {
              lose(process, key, process != 1);
              assertThat(store(process, key)).isLessThan(2 * DRAIN_NANOS);
            }
          });
    }
    run();
    assertThat(rounds()).isLessThan(30);
  }

  /** Nobody waits for a process that does not take part. Where it leaves, locks are reset. */
  @Test
  void shouldGiveUpWhereAnOperationDoesNotEnd() {
    long[] stored = new long[1];
    fabrics
        .get(2)
        .hookNext(
            verbs -> verbs.size() > 0 && verbs.length(0) == 128,
            read -> {
              cluster.sleepNanos(3 * SECOND);
              read.post();
            });
    spawn(
        2,
        () -> {
          try (Session session = indexes.get(2).session()) {
            session.get(100);
          }
        });
    spawn(
        0,
        () -> {
          lose(0, 100, true);
          cluster.sleepNanos(DRAIN_NANOS / 10);
          store(0, 39_000);
          stored[0] = cluster.nanos();
          cluster.sleepNanos(10 * SECOND);
          assertThat(store(0, 100)).isLessThan(DRAIN_NANOS);
        });
    run();
    assertThat(stored[0]).isBetween(SECOND, 2 * SECOND);
    assertThat(rounds()).isEqualTo(2);
  }

  /** It would keep sessions out for nothing. */
  @Test
  void shouldBeginNoRoundThatIsInVain() {
    boolean[] begun = new boolean[1];
    spawn(
        1,
        () -> {
          try (DrainWords words = new DrainWords(cluster.fabric(1))) {
            words.sayRefused(2, 1);
            for (long i = 0; i < DRAIN_NANOS; i += 2_000) {
              cluster.sleepNanos(2_000);
              words.look();
              begun[0] |= words.isUnderWay();
            }
            assertThat(words.isGivenUp()).isTrue();
            words.join(2, 1);
          }
        });
    spawn(
        0,
        () -> {
          cluster.sleepNanos(DRAIN_NANOS / 10);
          lose(0, 100, true);
          cluster.sleepNanos(10 * SECOND);
          assertThat(store(0, 100)).isLessThan(DRAIN_NANOS);
        });
    run();
    assertThat(begun[0]).isFalse();
    assertThat(rounds()).isEqualTo(2);
  }

  /** It cannot take part, and nobody else begins a round at once either. */
  @Test
  void shouldNotBeginRoundAfterRoundWhereItRefuses() {
    indexes.getFirst().drains.refuse();
    spawn(
        1,
        () -> {
          try (DrainWords words = new DrainWords(cluster.fabric(1))) {
            words.ask(DrainWords.EVERYWHERE);
            cluster.sleepNanos(4 * SECOND);
          }
        });
    cluster.run(NANOS_MAX, EVENTS_MAX);
    assertThat(rounds()).isBetween(1, PROCESSES);
  }

  /** A fence of earlier processes of its number does not keep it from going on. */
  @Test
  void shouldNotBuryAProcessThatLives() {
    fabrics.get(1).fence(0, 1);
    assertThatThrownBy(() -> indexes.get(1).bury(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("computeServer=0");
    spawn(1, () -> assertThat(store(1, 100)).isLessThan(DRAIN_NANOS));
    run();
    assertThat(rounds()).isZero();
  }

  @Test
  void shouldNotWaitForAProcessThatLeaves() {
    fabrics
        .get(2)
        .hookNext(
            verbs -> verbs.size() > 0 && verbs.length(0) == 128,
            read -> cluster.sleepNanos(DRAIN_NANOS));
    spawn(
        2,
        () -> {
          try (Session session = indexes.get(2).session()) {
            session.get(100);
          }
          // Its gate may be shut by then. If not, it leaves the round that is under way.
          indexes.get(2).close();
        });
    spawn(
        0,
        () -> {
          lose(0, 100, true);
          assertThat(store(0, 100)).isBetween(DRAIN_NANOS, 2 * DRAIN_NANOS);
          assertThat(indexes.get(2).isClosed()).isTrue();
          lose(0, 100, true);
          assertThat(store(0, 100)).isLessThan(DRAIN_NANOS);
        });
    run();
    assertThat(rounds()).isEqualTo(2);
  }

  @Test
  void shouldTakeOverWhereTheLeaderDies() {
    Fabric dead = cluster.fabric(0, new ComputeServer(9, 1));
    NodePlaces places = new NodePlaces(dead, NODE_BYTES);
    PoolChange change = new PoolChange(dead, 0, places, 0, _ -> {});
    assertThat(change.tryLock()).isTrue();
    try (DrainWords words = new DrainWords(dead)) {
      words.ask(DrainWords.at(0));
      words.ask(DrainWords.at(1));
      words.look();
      words.begin();
    }
    spawn(
        0,
        () -> {
          cluster.sleepNanos(DRAIN_NANOS);
          fabrics.getFirst().fence(9, 2);
          lose(0, 100, true);
          assertThat(store(0, 100)).isLessThan(DRAIN_NANOS);
        });
    spawn(1, () -> assertThat(store(1, 20_000)).isGreaterThan(DRAIN_NANOS));
    run();
    assertThat(rounds()).isEqualTo(2);
    assertThatThrownBy(change::close).isInstanceOf(FencedException.class);
  }

  /** Its word lies where those that are written are laid out. */
  @Test
  void shouldBuryTheFirstComputeServer() {
    indexes.getFirst().close();
    try (DrainWords lost = new DrainWords(fabrics.getFirst())) {
      lost.join(0, 1);
    }
    fabrics.get(1).fence(0, 2);
    indexes.get(1).bury(0);
    spawn(1, () -> assertThat(store(1, 100)).isLessThan(DRAIN_NANOS));
    run();
    assertThat(rounds()).isEqualTo(1);
  }

  /** What nobody could release when the last one left is reset by the next one that joins. */
  @Test
  void shouldResetForTheNextOneThatJoins() {
    indexes.forEach(DeftIndex::close);
    try (DrainWords words = new DrainWords(cluster.fabric(OBSERVER))) {
      words.ask(DrainWords.EVERYWHERE);
    }
    indexes.set(0, OPTIONS.join(fabrics.getFirst(), 0, 1));
    spawn(0, () -> store(0, 100));
    run();
    assertThat(rounds()).isEqualTo(1);
  }
}
