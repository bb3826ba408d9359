package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Input that is wrong or extreme, and use after the end. */
@FewRows
@Timeout(300)
class BadInputTest {
  private static final int INT_MAX = Integer.MAX_VALUE;
  private static final int SESSIONS_MAX = 1_000;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseWrongScans(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric);
        Session session = index.session()) {
      session.put(1, 2);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(2, 1, 1, (key, value) -> true))
          .withMessageContaining("from=2, to=1");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(1, 2, -1, (key, value) -> true))
          .withMessageContaining("limit=-1");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scanDown(1, 2, 1, (key, value) -> true))
          .withMessageContaining("from=1, to=2");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scanDown(2, 1, -1, (key, value) -> true))
          .withMessageContaining("limit=-1");
      assertThat(session.scan(1, 2, 0, (key, value) -> true)).isZero();
      assertThat(session.scan(2, 2, 9, (key, value) -> true)).isZero();
      assertThat(session.scan(1, 1, 9, (key, value) -> true)).isEqualTo(1);
      assertThat(session.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> false)).isEqualTo(1);
      assertThat(session.scan(Long.MAX_VALUE, Long.MAX_VALUE, 9, (key, value) -> true)).isZero();
      assertThat(session.scanDown(2, 1, 0, (key, value) -> true)).isZero();
      assertThat(session.scanDown(0, 0, 9, (key, value) -> true)).isZero();
      assertThat(session.scanDown(1, 1, 9, (key, value) -> true)).isEqualTo(1);
      assertThat(session.scanDown(Long.MAX_VALUE, Long.MAX_VALUE, (key, value) -> false))
          .isEqualTo(1);
      assertThat(session.scanDown(Long.MIN_VALUE, Long.MIN_VALUE, 9, (key, value) -> true))
          .isZero();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  @SuppressWarnings("NullAway") // Null is what the test is about.
  void shouldRefuseNull(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric);
        Session session = index.session()) {
      assertThatNullPointerException().isThrownBy(() -> session.scan(1, 2, 3, null));
      assertThatNullPointerException().isThrownBy(() -> session.scanDown(2, 1, 3, null));
      assertThatNullPointerException().isThrownBy(() -> index.bulkLoad(null, 0.7));
      assertThat(session.put(1, 2)).isFalse();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldTakeExtremeKeysAndValues(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        RangeIndex index = system.tiny(4).create(fabric);
        Session session = index.session()) {
      assertThat(session.floor(Long.MAX_VALUE)).isFalse();
      assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      for (long key : new long[] {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1}) {
        for (long value : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
          session.put(key, value);
          assertThat(session.get(key)).isTrue();
          assertThat(session.value()).isEqualTo(value);
        }
      }
      assertThat(session.floor(Long.MIN_VALUE)).isTrue();
      assertThat(session.ceiling(Long.MAX_VALUE)).isTrue();
      assertThat(session.remove(Long.MIN_VALUE)).isTrue();
      assertThat(session.floor(Long.MIN_VALUE)).isFalse();
      assertThat(session.remove(Long.MAX_VALUE)).isTrue();
      assertThat(session.ceiling(Long.MAX_VALUE)).isFalse();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldStayEmptyAfterARefusedBulkLoad(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        RangeIndex index = system.tiny(4).create(fabric);
        Session session = index.session()) {
      long empty = index.poolBytes();
      long[] many = new SplittableRandom(1).longs(5_000).sorted().distinct().toArray();
      long[] unordered = many.clone();
      unordered[4_000] = unordered[3_000];
      for (Entries bad : List.of(Entries.keys(1, 1), Entries.keys(2, 1), Entries.keys(unordered))) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.bulkLoad(bad, 0.7))
            .withMessageContaining("keys must ascend");
        assertThat(index.poolBytes()).isEqualTo(empty);
        assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      }
      for (double fill : new double[] {0, -0.1, 1.01, Double.NaN, Double.POSITIVE_INFINITY}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.bulkLoad(Entries.keys(1), fill))
            .withMessageContaining("fill=" + fill);
      }
      assertThat(index.bulkLoad(Entries.keys(many), 0.7)).isEqualTo(many.length);
      assertThatIllegalStateException()
          .isThrownBy(() -> index.bulkLoad(Entries.keys(1), 0.7))
          .withMessageContaining("not empty");
      for (long key : many) {
        assertThat(session.get(key)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldTurnAwayWhatComesAfterTheEnd(SystemUnderTest system) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      RangeIndex index = system.tiny(2).create(fabric);
      Session closed = index.session();
      closed.put(1, 1);
      closed.close();
      closed.close();
      for (Runnable operation : operations(closed)) {
        assertThatIllegalStateException().isThrownBy(operation::run);
      }
      Session open = index.session();
      open.put(1, 1);
      Session unused = index.session();
      index.close();
      index.close();
      for (Session session : List.of(open, unused)) {
        for (Runnable operation : operations(session)) {
          assertThatIllegalStateException().isThrownBy(operation::run);
        }
        session.close();
        session.close();
      }
      assertThatIllegalStateException().isThrownBy(index::session);
      assertThatIllegalStateException().isThrownBy(() -> index.bulkLoad(Entries.keys(1), 0.7));
      assertThat(index.poolBytes()).isPositive();
      assertThat(index.verbs()).isNotNull();
    }
  }

  private static List<Runnable> operations(Session session) {
    return List.of(
        () -> session.get(1),
        () -> session.put(1, 1),
        () -> session.putIfAbsent(1, 1),
        () -> session.update(1, 1),
        () -> session.remove(1),
        () -> session.floor(1),
        () -> session.ceiling(1),
        () -> session.scan(1, 1, (key, value) -> true),
        () -> session.scanDown(1, 1, (key, value) -> true));
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseASecondIndexAndAWrongJoin(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    Configuration other = configuration.with("cache-bytes=1MiB node-bytes=1024");
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> configuration.join(fabric, 0, 2))
          .withMessageContaining("nodeBytes=" + configuration.nodeBytes());
      try (RangeIndex index = configuration.create(fabric)) {
        assertThat(index.name()).isEqualTo(system.systemName());
        assertThatIllegalStateException()
            .isThrownBy(() -> configuration.create(fabric))
            .withMessageContaining("holds an index already");
        assertThatIllegalStateException()
            .isThrownBy(() -> other.join(fabric, 0, 2))
            .withMessageContaining("found=" + configuration.nodeBytes());
        try (Session session = index.session()) {
          assertThat(session.put(1, 1)).isFalse();
        }
      }
      try (RangeIndex again = configuration.join(fabric, 0, 2);
          Session session = again.session()) {
        assertThat(session.get(1)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseComputeServersThatAreNone(SystemUnderTest system) {
    int[][] none = {{-1, 1}, {0, 0}, {0, 3}, {2, 1}, {INT_MAX, 1}, {0, -1}, {1, INT_MAX}};
    Configuration configuration = system.tiny(2);
    for (int[] each : none) {
      int first = each[0];
      int count = each[1];
      try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> configuration.create(fabric, first, count))
            .withMessageContaining("first=" + first);
        try (RangeIndex index = configuration.create(fabric)) {
          assertThatIllegalArgumentException()
              .isThrownBy(() -> configuration.join(fabric, first, count));
          assertThat(index.session().put(1, 1)).isFalse();
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "DEX,       sessions-max=3",
    "SHERMAN,   node-bytes=128",
    "FG,        node-bytes=128",
    "P_SHERMAN, node-bytes=128",
    "SMART,     reserve=steps",
    "DEFT,      validation=auto",
    "ROLEX,     retraining=on",
    "ROLEX,     retraining=off",
  })
  void shouldRefuseTooManySessions(SystemUnderTest system, String settings) {
    List<Session> sessions = new ArrayList<>();
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        RangeIndex index = system.tiny(1).with(settings).create(fabric)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> {
            while (sessions.size() < SESSIONS_MAX) {
              Session session = index.session();
              sessions.add(session);
              session.put(sessions.size(), 1);
            }
          })
          .withMessageContaining("too many sessions");
      sessions.removeFirst().close();
      sessions.getLast().close();
      try (Session session = index.session()) {
        assertThat(session.get(1)).isTrue();
        assertThat(session.put(-1, -1)).isFalse();
      }
      sessions.forEach(Session::close);
    }
  }
}
