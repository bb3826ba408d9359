package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.DeepChanges;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.TreeCheck;

/** Operations at the end of the stack: no entry is lost, nothing stays locked. */
@Timeout(300)
class StackEndTest {
  private static final int ROUNDS = Seeds.count(1, 100);

  private static Configuration tiny(SystemUnderTest system) {
    return system.tiny(2).withLockWait(2_000);
  }

  private static long key(int number) {
    return ((long) number - DeepChanges.KEYS / 2) << 55;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldLoseNothingWhereTheStackEnds(SystemUnderTest system) throws Exception {
    Configuration configuration = tiny(system);
    DeepChanges changes = new DeepChanges(4401);
    try (Fabric fabric = Pools.open(2, 16 << 20, 4402)) {
      try (RangeIndex index = configuration.create(fabric);
          Session other = index.session()) {
        for (int round = 0; round < ROUNDS; round++) {
          try (Session session = index.session()) {
            changes.descend(new Operations(session));
            changes.check(new Operations(other));
          }
          assertThat(Entries.scan(other)).isEqualTo(expected());
        }
      }
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(expected());
    }
  }

  private static NavigableMap<Long, Long> expected() {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    DeepChanges.checked().forEach((key, value) -> entries.put(key(key), value));
    return entries;
  }

  /** Those of a session. */
  private record Operations(Session session) implements DeepChanges.Target, DeepChanges.Entries {
    @Override
    public long get(int key) {
      return session.get(key(key)) ? session.value() : -1;
    }

    @Override
    public void store(int key, long value) {
      session.put(key(key), value);
    }

    @Override
    public void remove(int key) {
      session.remove(key(key));
    }

    @Override
    public void read(int kind, int key) {
      switch (kind) {
        case 0 -> session.get(key(key));
        case 1 -> session.ceiling(key(key));
        default -> session.scan(key(key), 10, (_, _) -> true);
      }
    }
  }

  /** What the caller gives to run ends the stack: it is called where nothing is held. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldGoOnAfterTheCallerHasEndedTheStack(SystemUnderTest system) {
    Configuration configuration = tiny(system);
    NavigableMap<Long, Long> model = Entries.spaced(300, 1L << 50);
    try (Fabric fabric = Pools.open(2, 16 << 20, 4403);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session();
        Session other = index.session()) {
      ends(() -> index.bulkLoad(new EndlessSource(), 0.7));
      index.bulkLoad(Entries.of(model), 0.7);
      ends(() -> session.scan(0, 10, (_, value) -> endless(value) > 0));
      ends(() -> session.scanDown(Long.MAX_VALUE, 10, (_, value) -> endless(value) > 0));
      ends(() -> session.alone(() -> session.put(1, endless(1))));
      model.put(1L, 1L);
      session.put(1, 1);
      Entries.check(other, model, "other session");
      Entries.check(session, model, "the same session");
    }
  }

  private static void ends(Runnable call) {
    assertThatThrownBy(call::run).isInstanceOf(StackOverflowError.class);
  }

  @SuppressWarnings("InfiniteRecursion")
  private static long endless(long value) {
    return endless(value + 1) + 1;
  }

  /** Has a source call itself until the stack ends. */
  private static final class EndlessSource implements EntrySource {
    private long next;

    @Override
    public boolean next() {
      return next++ < 100 || endless(next) > 0;
    }

    @Override
    public long key() {
      return next;
    }

    @Override
    public long value() {
      return next;
    }
  }
}
