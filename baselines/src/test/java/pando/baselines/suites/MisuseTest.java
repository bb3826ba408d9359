package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.TreeCheck;

/** Callers that close twice, are interrupted, or go on where an index is closed. */
@FewRows
@Timeout(300)
class MisuseTest {
  private static final NavigableMap<Long, Long> MODEL = Entries.spaced(2_000, 1_000);

  private static void fill(RangeIndex index) {
    try (Session session = index.session()) {
      MODEL.forEach(session::put);
    }
  }

  /** Checks that all is in the pool, and that another process finds and changes it. */
  private static void checkLeft(Fabric fabric, Configuration configuration) {
    assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(MODEL);
    try (RangeIndex index = configuration.join(fabric, 0, 2);
        Session session = index.session()) {
      MODEL.forEach((key, value) -> assertThat(session.put(key, value)).isTrue());
      assertThat(Entries.scan(session)).isEqualTo(MODEL);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedByTwoThreadsAtOnce(SystemUnderTest system) throws Exception {
    Configuration configuration = system.tiny(2);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1)) {
      RangeIndex index = configuration.create(fabric);
      fill(index);
      CountDownLatch ready = new CountDownLatch(2);
      Callable<Void> close =
          () -> {
            ready.countDown();
            ready.await();
            index.close();
            return null;
          };
      Threads.run(List.of(close, close));
      checkLeft(fabric, configuration);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeClosedByAThreadThatIsInterrupted(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1)) {
      RangeIndex index = configuration.create(fabric);
      fill(index);
      Thread.currentThread().interrupt();
      try {
        index.close();
      } finally {
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
      }
      checkLeft(fabric, configuration);
    }
  }

  private static List<Runnable> operations(Session session) {
    return List.of(
        () -> session.get(1),
        () -> session.put(1, -1),
        () -> session.putIfAbsent(1, -1),
        () -> session.update(1_000, -1),
        () -> session.remove(1_000),
        () -> session.store(1, -1),
        () -> session.discard(1_000),
        () -> session.getAll(new long[2], 0, 2, new long[2], new boolean[2]),
        () -> session.getAll(new long[2], 0, 0, new long[2], new boolean[2]),
        () -> session.putAll(new long[2], 0, 2, new long[2]),
        () -> session.putAll(new long[2], 0, 0, new long[2]),
        () -> session.sizeEstimate(),
        () -> session.replace(1, -1, -2),
        () -> session.remove(1, -2),
        () -> session.floor(1),
        () -> session.ceiling(1),
        () -> session.lower(1),
        () -> session.lower(Long.MIN_VALUE),
        () -> session.higher(1),
        () -> session.higher(Long.MAX_VALUE),
        () -> session.first(),
        () -> session.last(),
        () -> session.scan(1, 9, (_, _) -> true),
        () -> session.scan(1, 0, (_, _) -> true),
        () -> session.scanDown(1, 9, (_, _) -> true),
        () -> session.scanDown(1, 0, (_, _) -> true));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseOperationsOfAClosedSession(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        RangeIndex index = configuration.create(fabric)) {
      fill(index);
      Session session = index.session();
      session.get(1);
      session.close();
      operations(session)
          .forEach(each ->
              assertThatIllegalStateException()
                  .isThrownBy(each::run)
                  .withMessage("the session is closed"));
      session.close();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseOperationsOfAClosedIndex(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1)) {
      RangeIndex index = configuration.create(fabric);
      fill(index);
      Session session = index.session();
      session.get(1);
      index.close();
      operations(session)
          .forEach(each ->
              assertThatIllegalStateException()
                  .isThrownBy(each::run)
                  .withMessage("the index is closed"));
      assertThatIllegalStateException()
          .isThrownBy(index::session)
          .withMessage("the index is closed");
      session.close();
      index.close();
      checkLeft(fabric, configuration);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseArraysThatDoNotFit(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric);
        Session session = index.session()) {
      long[] keys = {1, 2, 3};
      long[] values = {4, 5, 6};
      boolean[] found = new boolean[3];
      checkRefused(session, keys, -1, 1, values, found, "array=keys, length=3, from=-1, count=1");
      checkRefused(session, keys, 1, -1, values, found, "array=keys, length=3, from=1, count=-1");
      checkRefused(session, keys, 4, 0, values, found, "array=keys, length=3, from=4, count=0");
      checkRefused(
          session,
          keys,
          1,
          Integer.MAX_VALUE,
          values,
          found,
          "array=keys, length=3, from=1, count=2147483647");
      checkRefused(session, keys, 1, 2, new long[2], found, "array=values, length=2, from=1");
      checkRefused(session, keys, 2, 1, values, new boolean[2], "array=found, length=2, from=2");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.getAll(keys, 0, 3, keys, found))
          .withMessageContaining("length=3");
      assertThat(values).containsExactly(4, 5, 6);
      assertThat(session.getAll(keys, 3, 0, values, found)).isZero();
      assertThat(session.getAll(keys, 0, 3, values, found)).isZero();
      checkPutRefused(session, keys, -1, 1, values, "array=keys, length=3, from=-1, count=1");
      checkPutRefused(session, keys, 1, -1, values, "array=keys, length=3, from=1, count=-1");
      checkPutRefused(session, keys, 3, Integer.MAX_VALUE, values, "array=keys, length=3, from=3");
      checkPutRefused(session, keys, 1, 2, new long[2], "array=values, length=2, from=1, count=2");
      session.putAll(keys, 3, 0, values);
      assertThat(session.first()).isFalse();
      session.putAll(keys, 0, 3, keys);
      assertThat(session.getAll(keys, 0, 3, values, found)).isEqualTo(3);
      assertThat(values).isEqualTo(keys);
    }
  }

  private static void checkPutRefused(
      Session session, long[] keys, int from, int count, long[] values, String message) {
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> session.putAll(keys, from, count, values))
        .withMessageContaining(message);
  }

  private static void checkRefused(
      Session session,
      long[] keys,
      int from,
      int count,
      long[] values,
      boolean[] found,
      String message) {
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> session.getAll(keys, from, count, values, found))
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  @SuppressWarnings("NullAway") // the mistake under test
  void shouldRefuseArraysThatAreNull(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric);
        Session session = index.session()) {
      long[] keys = {1};
      long[] values = {2};
      assertThatNullPointerException()
          .isThrownBy(() -> session.getAll(null, 0, 1, values, new boolean[1]))
          .withMessage("keys");
      assertThatNullPointerException()
          .isThrownBy(() -> session.getAll(keys, 0, 1, null, new boolean[1]))
          .withMessage("values");
      assertThatNullPointerException()
          .isThrownBy(() -> session.getAll(keys, 0, 1, values, null))
          .withMessage("found");
      assertThatNullPointerException()
          .isThrownBy(() -> session.putAll(null, 0, 1, values))
          .withMessage("keys");
      assertThatNullPointerException()
          .isThrownBy(() -> session.putAll(keys, 0, 1, null))
          .withMessage("values");
    }
  }

  @ParameterizedTest
  @CsvSource({"dex, offloading, off", "xstore-d, writes, one-sided"})
  void shouldRefuseMemoryServersWithoutHandlers(String name, String setting, String without) {
    Configuration configuration = SystemUnderTest.of(name).tiny(2);
    PoolOptions pool = Pools.options(8 << 20).withMemoryServers(2).withHandlers(List.of());
    try (Fabric fabric = LocalFabric.open(pool)) {
      String advice =
          "PoolOptions.withHandlers(Systems.handlers()), in a program that has this system";
      assertThatIllegalArgumentException()
          .isThrownBy(() -> configuration.create(fabric))
          .withMessageContainingAll("memoryServer=0", advice);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> configuration.join(fabric, 0, 1))
          .withMessageContainingAll("memoryServer=0", advice);
      Configuration other = configuration.with(setting, without);
      other.create(fabric).close();
      checkJoinable(fabric, other);
    }
  }

  private static void checkJoinable(Fabric fabric, Configuration configuration) {
    try (RangeIndex index = configuration.join(fabric, 0, 2)) {
      fill(index);
    }
    assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(MODEL);
  }
}
