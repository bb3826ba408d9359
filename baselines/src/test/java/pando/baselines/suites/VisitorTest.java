package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** What a visitor may do, and what becomes of a scan whose visitor fails. */
@FewRows
@Timeout(300)
class VisitorTest {
  private static void scanning(SystemUnderTest system, Consumer<Session> inside) {
    Configuration configuration = system.tiny(2);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(911)), 500);
    try (Fabric fabric = Pools.open(2, 16 << 20, 911);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      assertThatThrownBy(() ->
              session.scan(
                  Long.MIN_VALUE,
                  100,
                  (_, _) -> {
                    inside.accept(session);
                    return true;
                  }))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("visitor");
      long[] visited = {0};
      long scanned =
          session.scan(
              Long.MIN_VALUE,
              300,
              (_, _) -> {
                other.put(0, ++visited[0]);
                return true;
              });
      assertThat(scanned).isEqualTo(300);
      for (long key : model.keySet()) {
        assertThat(other.update(key, key)).isTrue();
        assertThat(session.ceiling(key)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseTheScanningSession(SystemUnderTest system) {
    scanning(system, session -> session.scan(0, 10, (_, _) -> true));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseScansDown(SystemUnderTest system) {
    scanning(system, session -> session.scanDown(10, 0, 10, (_, _) -> true));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseChangesWithoutAnAnswer(SystemUnderTest system) {
    scanning(system, session -> session.store(0, 10));
    scanning(system, session -> session.discard(0));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseLookupsOfSeveralKeys(SystemUnderTest system) {
    scanning(system, session -> session.getAll(new long[1], 0, 1, new long[1], new boolean[1]));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseToStoreSeveralKeys(SystemUnderTest system) {
    scanning(system, session -> session.putAll(new long[1], 0, 1, new long[1]));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseToEstimateTheSize(SystemUnderTest system) {
    scanning(system, Session::sizeEstimate);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseToCloseTheScanningSession(SystemUnderTest system) {
    scanning(system, Session::close);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLeaveNothingLockedWhereItThrows(SystemUnderTest system) {
    scanning(
        system,
        _ -> {
          throw new IllegalStateException("the visitor fails");
        });
  }
}
