package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolUsage;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.server.CallFailedException;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.EntryVisitor;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;

/** Indexes that are closed, or loaded, by one thread while others use them. */
@FewRows
@Timeout(300)
class CloseTest {
  private static final int SESSIONS = 3;
  private static final int OPERATIONS = 300;
  private static final int ROUNDS = 3;
  private static final int KEYS = 400;
  private static final int MANY_KEYS = 4_000;

  private static Configuration tiny(SystemUnderTest system) {
    return tiny(system, 10_000);
  }

  private static Configuration tiny(SystemUnderTest system, int lockWaitMillis) {
    return system.tiny(2).withLockWait(lockWaitMillis);
  }

  private static long key(SplittableRandom random) {
    return (random.nextInt(KEYS) - KEYS / 2) * (Long.MAX_VALUE / KEYS * 2);
  }

  /** Operates until the index is closed. */
  private static Void operate(RangeIndex index, long seed, CountDownLatch running) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Session session = index.session()) {
      for (int i = 0; ; i++) {
        operate(session, key(random), random.nextInt(8));
        if (i == OPERATIONS) {
          running.countDown();
        }
      }
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("the index is closed");
    }
    return null;
  }

  private static void operate(Session session, long key, int kind) {
    switch (kind) {
      case 0, 1, 2 -> session.put(key, ~key);
      case 3, 4 -> session.remove(key);
      case 5 -> session.ceiling(key);
      case 6 -> session.floor(key);
      default -> session.scan(key, 20, (visited, value) -> value == ~visited);
    }
  }

  /** Every leaf can be changed, so none is locked. */
  private static void checkUnlocked(Fabric fabric, Configuration configuration) {
    try (RangeIndex index = configuration.join(fabric, 0, 2);
        Session session = index.session()) {
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < 4 * KEYS; i++) {
        long key = key(random);
        session.put(key, ~key);
        assertThat(session.ceiling(key)).isTrue();
      }
      long from = Long.MIN_VALUE;
      session.scan(from, Integer.MAX_VALUE, (key, value) -> value == ~key);
    }
    assertThat(configuration.walk(fabric).problems()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLeaveNoLockBehindWhereSessionsRun(SystemUnderTest system) throws Exception {
    Configuration configuration = tiny(system);
    long seed = Seeds.of(901);
    try (Fabric fabric = Pools.open(2, 16 << 20, seed)) {
      configuration.create(fabric).close();
      for (int round = 0; round < ROUNDS; round++) {
        RangeIndex index = configuration.join(fabric, 0, 2);
        CountDownLatch running = new CountDownLatch(SESSIONS);
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
          long own = seed + 10L * round + i;
          tasks.add(() -> operate(index, own, running));
        }
        for (int i = 0; i < 2; i++) {
          tasks.add(() -> close(index, running));
        }
        Threads.run(tasks);
        checkUnlocked(fabric, configuration);
      }
    }
  }

  private static Void close(RangeIndex index, CountDownLatch running) throws InterruptedException {
    running.await();
    index.close();
    assertThatThrownBy(index::session).hasMessage("the index is closed");
    index.close();
    return null;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedBesideSessionsThatAreClosed(SystemUnderTest system) throws Exception {
    Configuration configuration = tiny(system);
    try (Fabric fabric = Pools.open(2, 16 << 20, 902)) {
      configuration.create(fabric).close();
      for (int round = 0; round < ROUNDS; round++) {
        RangeIndex index = configuration.join(fabric, 0, 2);
        CountDownLatch running = new CountDownLatch(SESSIONS);
        List<Callable<Void>> tasks = new ArrayList<>();
        IntStream.range(0, SESSIONS).forEach(i -> tasks.add(() -> comeAndGo(index, i, running)));
        tasks.add(() -> close(index, running));
        Threads.run(tasks);
        checkUnlocked(fabric, configuration);
      }
    }
  }

  /** Opens and closes sessions until the index is closed. */
  private static Void comeAndGo(RangeIndex index, long seed, CountDownLatch running) {
    SplittableRandom random = new SplittableRandom(seed);
    try {
      for (int i = 0; ; i++) {
        try (Session session = index.session()) {
          operate(session, key(random), random.nextInt(8));
        }
        if (i == OPERATIONS / 10) {
          running.countDown();
        }
      }
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("the index is closed");
    }
    return null;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedByTheVisitorOfAScan(SystemUnderTest system) {
    Configuration configuration = tiny(system);
    try (Fabric fabric = Pools.open(2, 16 << 20, 905)) {
      RangeIndex index = configuration.create(fabric);
      Session session = index.session();
      for (long key = 0; key < MANY_KEYS; key++) {
        session.put(key, ~key);
      }
      List<Long> visited = new ArrayList<>();
      EntryVisitor closing =
          (key, value) -> {
            index.close();
            assertThat(value).isEqualTo(~key);
            return visited.add(key);
          };
      assertThatThrownBy(() -> session.scan(0, MANY_KEYS, closing))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the index is closed");
      assertThat(visited).isNotEmpty().hasSizeLessThan(MANY_KEYS);
      assertThat(visited).isEqualTo(LongStream.range(0, visited.size()).boxed().toList());
      session.close();
      checkUnlocked(fabric, configuration);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldStayOpenWhereItCannotBeClosed(SystemUnderTest system) {
    Configuration configuration = tiny(system);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 903))) {
      RangeIndex index = configuration.create(fabric);
      Session session = index.session();
      session.put(1, ~1L);
      fabric.hookNext(
          CloseTest::isCall,
          posting -> {
            throw new CallFailedException("refused by a test");
          });
      assertThatThrownBy(index::close).hasMessage("refused by a test");
      assertThat(fabric.unhook()).isEqualTo(1);
      assertThat(session.put(2, ~2L)).isFalse();
      index.close();
      assertThatThrownBy(() -> session.get(1)).hasMessage("the index is closed");
      session.close();
      checkUnlocked(fabric, configuration);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedAfterItsFabric(SystemUnderTest system) {
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 906));
    RangeIndex index = tiny(system).create(fabric);
    Session session = index.session();
    for (long key = 0; key < KEYS; key++) {
      session.put(key, ~key);
    }
    fabric.close();
    // The lock of a leaf that a task was retraining stays held: the session may wait for it.
    boolean retrains =
        system.systemName().equals("rolex") || system.systemName().equals("xstore-d");
    Class<?> waiting = retrains ? StalledException.class : IllegalStateException.class;
    // A session may know of a few keys without a verb that they are absent.
    assertThatThrownBy(() -> LongStream.range(KEYS, 4 * KEYS).forEach(key -> session.put(key, 0)))
        .isInstanceOfAny(IllegalStateException.class, waiting);
    assertThatIllegalStateException()
        .isThrownBy(index::close)
        .withMessageContaining("fabric is closed");
    index.close();
    assertThat(fabric.openMemories()).isZero();
    Set<Thread> after = new HashSet<>(Thread.getAllStackTraces().keySet());
    after.removeAll(before);
    assertThat(after).noneMatch(thread -> thread.getName().startsWith("pando"));
    assertThatThrownBy(index::session).hasMessage("the index is closed");
    assertThatIllegalStateException().isThrownBy(() -> session.get(1));
    session.close();
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedAfterItsFabricWhereSessionsRun(SystemUnderTest system) throws Exception {
    Configuration configuration = tiny(system, 2_000);
    for (int round = 0; round < ROUNDS; round++) {
      HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 907)).withThreads();
      RangeIndex index = configuration.create(fabric);
      CountDownLatch running = new CountDownLatch(SESSIONS);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < SESSIONS; i++) {
        long seed = 10L * round + i;
        tasks.add(() -> {
          Throwable failure = catchThrowable(() -> operateUntilItFails(index, seed, running));
          // Also where it failed early: then the fabric closes, and the cause is shown.
          running.countDown();
          Throwable cause =
              failure instanceof UnknownOutcomeException ? failure.getCause() : failure;
          // The lock of a leaf that is written by half stays held: sessions may wait for it.
          assertThat(cause).isInstanceOfAny(IllegalStateException.class, StalledException.class);
          return null;
        });
      }
      tasks.add(() -> {
        running.await();
        fabric.close();
        assertThatIllegalStateException().isThrownBy(index::close);
        index.close();
        assertThat(fabric.openMemories()).isZero();
        return null;
      });
      Threads.run(tasks);
    }
  }

  private static void operateUntilItFails(RangeIndex index, long seed, CountDownLatch running) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Session session = index.session()) {
      for (int i = 0; ; i++) {
        operate(session, key(random), random.nextInt(8));
        if (i == OPERATIONS) {
          running.countDown();
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedWhereAMemoryServerIsLost(SystemUnderTest system) {
    Closed all = closeWithout(-1, system);
    Closed some = closeWithout(0, system);
    Closed others = closeWithout(1, system);
    if (system == SystemUnderTest.ORCA) {
      // Its leaves on one memory server are named by pages on the other.
      return;
    }
    assertThat(some.usage.get(1)).isEqualTo(all.usage.get(1));
    assertThat(some.writes.get(1)).isEqualTo(all.writes.get(1));
    assertThat(others.usage.get(0)).isEqualTo(all.usage.get(0));
    assertThat(others.writes.get(0)).isEqualTo(all.writes.get(0));
  }

  /** What a closed index has left: what is in use at each memory server, WRITEs of the end. */
  private record Closed(List<PoolUsage> usage, List<Integer> writes) {}

  /** Closes an index while a memory server is lost, if that is not -1. */
  private static Closed closeWithout(int memoryServer, SystemUnderTest system) {
    Configuration configuration = tiny(system);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 908)).withTasksByHand()) {
      RangeIndex index = configuration.create(fabric);
      Session session = index.session();
      SplittableRandom random = new SplittableRandom(908);
      index.bulkLoad(Entries.of(Entries.random(random, MANY_KEYS)), 0.7);
      for (int i = 0; i < KEYS; i++) {
        long key = random.nextLong();
        session.put(key, ~key);
      }
      int[] writes = new int[2];
      fabric.hookEach(verbs -> isNoneOf(verbs, writes), HookedFabric.Posting::post);
      fabric.lose(memoryServer);
      Throwable failure = catchThrowable(index::close);
      if (memoryServer < 0) {
        assertThat(failure).isNull();
      } else {
        assertThat(failure)
            .isInstanceOf(MemoryServerLostException.class)
            .hasMessageContaining("server=" + memoryServer);
      }
      index.close();
      assertThatThrownBy(index::session).hasMessage("the index is closed");
      assertThatThrownBy(() -> session.get(1)).hasMessage("the index is closed");
      session.close();
      assertThat(fabric.openMemories()).isZero();
      return new Closed(fabric.usage(), IntStream.of(writes).boxed().toList());
    }
  }

  /** Counts WRITEs at each memory server; returns {@code false}. */
  private static boolean isNoneOf(VerbList verbs, int[] writes) {
    for (int i = 0; i < verbs.size(); i++) {
      if (verbs.kind(i) == Kind.WRITE) {
        writes[GlobalAddress.server(verbs.remote(i))]++;
      }
    }
    return false;
  }

  /** What was given back by a CALL without an answer is not given back again. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedAgainWhereAnAnswerWasLost(SystemUnderTest system) {
    Configuration configuration = tiny(system);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 905)).withTasksByHand()) {
      boolean struck = true;
      configuration.create(fabric).close();
      for (int call = 0; struck; call++) {
        RangeIndex index = configuration.join(fabric, 0, 2);
        try (Session session = index.session()) {
          for (long i = 0; i < KEYS; i++) {
            session.put(i * i, ~(i * i));
          }
        }
        int[] left = {call};
        fabric.hookNext(
            verbs -> isCall(verbs) && left[0]-- == 0,
            posting -> {
              posting.post();
              throw new UnknownOutcomeException("not answered by a test");
            });
        Throwable failure = catchThrowable(index::close);
        struck = fabric.unhook() == 1;
        // EMT-D repeats the CALLs to its trees.
        boolean repeats = system.systemName().equals("emt-d") && failure == null;
        assertThat(failure != null || repeats).as("call=%d", call).isEqualTo(struck || repeats);
        index.close();
        assertThatThrownBy(index::session).hasMessage("the index is closed");
        checkUnlocked(fabric, configuration);
      }
    }
  }

  private static boolean isCall(VerbList verbs) {
    return verbs.size() == 0;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeLoadedBesideSessions(SystemUnderTest system) throws Exception {
    Configuration configuration = tiny(system);
    NavigableMap<Long, Long> model = new TreeMap<>();
    for (long i = -KEYS / 2; i < KEYS / 2; i++) {
      long key = i * (Long.MAX_VALUE / KEYS * 2);
      model.put(key, ~key);
    }
    try (Fabric fabric = Pools.open(2, 16 << 20, 904)) {
      RangeIndex index = configuration.create(fabric);
      CountDownLatch running = new CountDownLatch(SESSIONS);
      List<Callable<Void>> tasks = new ArrayList<>();
      IntStream.range(0, SESSIONS).forEach(i -> tasks.add(() -> read(index, i, running)));
      tasks.add(() -> {
        running.await();
        index.bulkLoad(Entries.of(model), 0.7);
        try (Session session = index.session()) {
          model.keySet().forEach(key -> assertThat(session.get(key)).isTrue());
        }
        index.close();
        return null;
      });
      Threads.run(tasks);
      checkUnlocked(fabric, configuration);
    }
  }

  /** Looks for entries until the index is closed. */
  private static Void read(RangeIndex index, long seed, CountDownLatch running) {
    SplittableRandom random = new SplittableRandom(seed);
    try (Session session = index.session()) {
      for (int i = 0; ; i++) {
        if (session.get(key(random)) || session.ceiling(key(random))) {
          assertThat(session.value()).isEqualTo(~session.key());
        }
        if (i == OPERATIONS) {
          running.countDown();
        }
      }
    } catch (IllegalStateException e) {
      assertThat(e).hasMessage("the index is closed");
    }
    return null;
  }
}
