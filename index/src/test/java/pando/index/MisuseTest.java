package pando.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;

/** Callers that close twice, are interrupted, or go on where an index is closed. */
@Timeout(120)
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
    assumeFalse(
        system == SystemUnderTest.DEX, "does not hold today: one uses what the other freed");
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
      List<Runnable> operations =
          List.of(
              () -> session.get(1),
              () -> session.put(1, -1),
              () -> session.remove(1_000),
              () -> session.floor(1),
              () -> session.scan(1, 9, (key, value) -> true),
              index::session);
      operations.forEach(
          each -> assertThatThrownBy(each::run).isInstanceOf(IllegalStateException.class));
      session.close();
      index.close();
      checkLeft(fabric, configuration);
    }
  }
}
