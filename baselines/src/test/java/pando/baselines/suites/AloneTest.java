package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;

/** Actions during which no other thread operates on the index. */
@FewRows
@Timeout(120)
class AloneTest {
  private static final int THREADS = 3;
  private static final int ROUNDS = Seeds.count(300, 600, 20_000);
  private static final int ACCOUNTS = 40;
  private static final long BALANCE = 100;

  /** Amounts go to and fro; all together they stay the same. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldShowOthersAllChangesOfAnActionOrNone(SystemUnderTest system) throws Exception {
    long seed = Seeds.of(3201);
    try (Fabric fabric = Pools.open(2, 16 << 20, 3202);
        RangeIndex index = system.tiny(2).create(fabric)) {
      try (Session session = index.session()) {
        for (long account = 0; account < ACCOUNTS; account++) {
          session.put(key(account), BALANCE);
        }
      }
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        SplittableRandom random = new SplittableRandom(seed + thread);
        tasks.add(() -> transfer(index, random));
      }
      Threads.run(tasks);
    }
  }

  /** Returns a key of either partition. */
  private static long key(long account) {
    return (account % 2 == 0 ? -1_000 : 1_000) - account;
  }

  private static Void transfer(RangeIndex index, SplittableRandom random) {
    try (Session session = index.session()) {
      for (int i = 0; i < ROUNDS; i++) {
        long from = key(random.nextLong(ACCOUNTS));
        long to = key(random.nextLong(ACCOUNTS));
        session.alone(() -> {
          long[] sum = new long[1];
          session.scan(
              Long.MIN_VALUE,
              Long.MAX_VALUE,
              (_, balance) -> {
                sum[0] += balance;
                return true;
              });
          assertThat(sum[0]).isEqualTo(ACCOUNTS * BALANCE);
          session.get(from);
          session.put(from, session.value() - 1);
          session.get(to);
          session.put(to, session.value() + 1);
        });
      }
    }
    return null;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldGoOnAfterAnActionThatFails(SystemUnderTest system) throws Exception {
    try (Fabric fabric = Pools.open(1, 16 << 20, 3203);
        RangeIndex index = system.tiny(1).create(fabric);
        Session session = index.session();
        Session another = index.session()) {
      assertThatThrownBy(() ->
              session.alone(() -> {
                another.put(1, 1);
                throw new StackOverflowError("action");
              }))
          .isInstanceOf(StackOverflowError.class);
      session.alone(() -> {
        assertRefused(() -> another.alone(() -> {}));
        assertRefused(index::close);
        assertRefused(index::space);
        assertRefused(() -> index.bulkLoad(Entries.keys(), 1));
        assertThat(another.get(1)).isTrue();
      });
      Threads.run(
          List.of(() -> {
            assertThat(another.get(1)).isTrue();
            return null;
          }));
      close(index);
      assertThatIllegalStateException()
          .isThrownBy(() -> session.alone(() -> {}))
          .withMessage("the index is closed");
      close(session);
      assertThatIllegalStateException()
          .isThrownBy(() -> session.alone(() -> {}))
          .withMessage("the session is closed");
    }
  }

  private static void close(AutoCloseable open) throws Exception {
    open.close();
  }

  private static void assertRefused(Runnable call) {
    assertThatIllegalStateException()
        .isThrownBy(call::run)
        .withMessage("this thread keeps others out of the index");
  }
}
