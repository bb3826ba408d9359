package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Break;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Threads;
import pando.index.Tree;

/** Background tasks merge while memory for deltas is short; sessions never depend on them. */
@Timeout(300)
class OrcaMergersTest {
  private static final long STEP = 1_000;
  private static final int ENTRIES = 20_000;
  private static final int INSERTED = 12_000;
  private static final int NO_SERVER = -1;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);
  private final SplittableRandom random = new SplittableRandom(Seeds.of(2601));
  private final HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 1)).withTasksByHand();

  /** Keys that a session could not store. */
  private int refused;

  /** WRITEs of sessions. */
  private long writes;

  private boolean inTask;

  @AfterEach
  void close() {
    fabric.close();
  }

  private static OrcaOptions options(int mergers) {
    return OrcaOptions.defaults()
        .withComputeServers(1)
        .withNodeBytes(896)
        .withCacheBytes(256 << 10)
        .with("delta-share", "0.9")
        .with("shares-move", "off")
        .with("lock-wait-millis", "2")
        .with("mergers", Integer.toString(mergers));
  }

  private OrcaIndex open(int mergers) {
    OrcaIndex index = OrcaIndex.create(fabric, options(mergers));
    index.bulkLoad(Entries.of(model), 0.7);
    return index;
  }

  /** Stores keys; after each the tasks run, if they are to. */
  private void insert(OrcaIndex index, Session session, Runnable tasks) {
    insert(index, session, tasks, INSERTED);
  }

  private void insert(OrcaIndex index, Session session, Runnable tasks, int count) {
    for (int i = 0; i < count; i++) {
      long key = random.nextLong(ENTRIES * STEP);
      writes += Costs.of(index, () -> store(session, key)).writes;
      tasks.run();
    }
  }

  private void store(Session session, long key) {
    try {
      session.store(key, ~key);
      model.put(key, ~key);
    } catch (StalledException | MemoryServerLostException _) {
      // A merge comes before the change, so there is none.
      refused++;
    }
  }

  private void runTasks() {
    inTask = true;
    fabric.runTasks();
    inTask = false;
  }

  /** Returns whether the verbs are those of a task, and one has merged. */
  private boolean mayFail(OrcaIndex index) {
    return inTask && index.merges().done() > 0;
  }

  private void checkClosed(OrcaIndex index) {
    assertThat(index.audit()).isEmpty();
    index.close();
    Tree tree = options(0).walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }

  /** Sessions merge those leaves alone whose deltas are full. */
  @Test
  void shouldMergeInPlaceOfSessions() {
    OrcaIndex index = open(1);
    try (Session session = index.session()) {
      insert(index, session, this::runTasks);
      assertThat(writes).isLessThan(1_000);
      assertThat(index.merges().done()).isGreaterThan(300);
      assertThat(index.merges().failed()).isZero();
      Entries.check(session, model, "merged");
    }
    checkClosed(index);
  }

  /** Without tasks, and with tasks that never get to run. */
  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void shouldLeaveMergingToSessionsWhereNoTaskDoesIt(int mergers) {
    OrcaIndex index = open(mergers);
    try (Session session = index.session()) {
      insert(index, session, () -> {});
      assertThat(writes).isGreaterThan(1_000);
      assertThat(refused).isZero();
      assertThat(index.merges().done()).isZero();
      Entries.check(session, model, "merged");
    }
    checkClosed(index);
  }

  /** Each way to fail at one of a task's first verbs; in a campaign, at each. */
  static Stream<Arguments> failures() {
    return Stream.of(Break.values())
        .flatMap(failure ->
            IntStream.range(0, 3)
                .filter(verb -> Seeds.isCampaign() || verb == failure.place() % 3)
                .mapToObj(verb -> Arguments.of(failure, verb)));
  }

  @Tag("campaign")
  @ParameterizedTest(name = "{0} verb {1}")
  @MethodSource("failures")
  void shouldLetSessionsGoOnWhereATaskFails(Break failure, int verb) {
    OrcaIndex index = open(2);
    try (Session session = index.session()) {
      int[] left = {verb};
      fabric.hookNext(
          _ -> mayFail(index) && left[0]-- == 0, posting -> failure.happen(fabric, posting, 0));
      insert(index, session, this::runTasks);
      fabric.unhook();
      assertThat(index.merges().done()).isGreaterThan(300);
      assertThat(refused).isLessThan(INSERTED / 100);
      Entries.check(session, model, "where a task failed");
    }
    checkClosed(index);
  }

  /** It is not known whether the pool has the change of a leaf, which stays latched. */
  @Test
  void shouldLetSessionsGoOnWhereATaskStopsHalfWay() {
    OrcaIndex index = open(2);
    try (Session session = index.session()) {
      fabric.hookEach(
          verbs -> mayFail(index) && index.merges().failed() == 0 && isWord(verbs),
          word -> {
            throw new UnknownOutcomeException("by a test");
          });
      insert(index, session, this::runTasks);
      fabric.unhook();
      assertThat(index.merges().lastFailure()).isInstanceOf(StalledException.class);
      assertThat(index.merges().done()).isGreaterThan(300);
      assertThat(refused).isBetween(1, INSERTED / 100);
      Entries.check(session, model, "where a task stopped");
    }
    assertThatThrownBy(index::close)
        .isInstanceOf(MemoryServerLostException.class)
        .hasMessageContaining("is not written back");
  }

  private static boolean isWord(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) != Kind.READ && verbs.length(0) == Long.BYTES;
  }

  @Tag("campaign")
  @Test
  void shouldTellSessionsOfALostMemoryServerAndGoOnAfterwards() {
    OrcaIndex index = open(2);
    try (Session session = index.session()) {
      insert(index, session, this::runTasks);
      long merged = index.merges().done();
      fabric.lose(0);
      // Fewer, as those that are refused have waited for 2 ms.
      insert(index, session, this::runTasks, INSERTED / 4);
      assertThat(refused).isPositive();
      assertThat(index.merges().lastFailure()).isInstanceOf(MemoryServerLostException.class);
      fabric.lose(NO_SERVER);
      insert(index, session, this::runTasks);
      assertThat(index.merges().done()).isGreaterThan(merged + 300);
      Entries.check(session, model, "after the loss");
    }
    checkClosed(index);
  }

  /** What a task READs, and the delta that it merges, stay where they are meanwhile. */
  @Test
  void shouldEndTheirStepBeforeMemoryMoves() throws Exception {
    OrcaIndex index = open(1);
    OrcaServer server = index.servers().getFirst();
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch awaited = new CountDownLatch(1);
    long[] merged = {0};
    try (Session session = index.session()) {
      while (!server.store.deltas.isNearlyShort()) {
        store(session, random.nextLong(ENTRIES * STEP));
      }
      fabric.hookNext(
          OrcaMergersTest::isRead,
          leaf -> {
            reading.countDown();
            await(awaited);
            leaf.post();
          });
      fabric.hookPause(0, awaited::countDown);
      Callable<Void> task =
          () -> {
            fabric.runTasks();
            return null;
          };
      Callable<Void> move =
          () -> {
            await(reading);
            try {
              server.withContext(
                  context -> moveMemory(server, context, () -> merged[0] = index.merges().done()));
            } finally {
              awaited.countDown();
            }
            return null;
          };
      Threads.run(List.of(task, move));
      assertThat(fabric.unhook()).isEqualTo(1);
      assertThat(merged[0]).as("merged before memory moved").isPositive();
      Entries.check(session, model, "merged");
    }
    checkClosed(index);
  }

  /** Tries again where the task that moves memory by itself comes first. */
  private static void moveMemory(OrcaServer server, OrcaContext context, Runnable step) {
    while (!server.alone(context.worker, step)) {
      Thread.onSpinWait();
    }
  }

  private static boolean isRead(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) == Kind.READ;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
