package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Break;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/**
 * Operations that break again and again, of which nodes are fetched, admitted, written back,
 * offloaded, split and merged. {@link pando.index.VerbFailuresTest} breaks those of small trees,
 * which stay cached, at each of their verbs.
 */
@Timeout(300)
class DexFailuresTest {
  private static final DexOptions OPTIONS =
      Tiny.options(2).with("contrary", "0.5").with("admission", "0.3");

  private static final int OPERATIONS = Seeds.count(2_500, 8_000, 100_000);
  private static final int KEYS = 10_000;
  private static final int POSTINGS = 6;

  @ParameterizedTest
  @EnumSource
  void shouldServeEveryKeyAfterEachFailure(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(891));
    NavigableMap<Long, Long> model = new TreeMap<>();
    int broken = 0;
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 891))) {
      DexIndex index = DexIndex.create(fabric, OPTIONS);
      for (int i = 0; i < KEYS; i += 2) {
        model.put(key(i), (long) i);
      }
      index.bulkLoad(Entries.of(model), 0.9);
      try (Session session = index.session();
          Session other = index.session()) {
        for (int i = 0; i < OPERATIONS; i++) {
          boolean shrinking = i / 1_000 % 2 == 1;
          long key = key(random.nextInt(KEYS));
          broken += breaks(fabric, how, random, session, other, model, key, shrinking) ? 1 : 0;
        }
        Entries.check(other, model, how.toString());
        assertThat(index.cache().offloads()).isPositive();
        assertThat(index.cache().evictions()).isPositive();
      }
      index.close();
      Tree tree = OPTIONS.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
    assertThat(broken).as("operations broken").isGreaterThan(OPERATIONS / 20);
  }

  /** What a CALL that is not answered may yet change stays claimed, unless nothing can read it. */
  @ParameterizedTest
  @ValueSource(classes = {MemoryServerLostException.class, FencedException.class})
  void shouldNotKeepASubtreeThatNoOperationReadsAnyMore(Class<?> kind) {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 892))) {
      DexIndex index = DexIndex.create(fabric, OPTIONS);
      NavigableMap<Long, Long> model = new TreeMap<>();
      for (int i = 0; i < KEYS; i++) {
        model.put(key(i), (long) i);
      }
      index.bulkLoad(Entries.of(model), 0.9);
      try (Session session = index.session();
          Session other = index.session()) {
        boolean[] calls = {false};
        fabric.hookEach(
            verbs -> verbs.size() == 0,
            _ -> {
              boolean isFirst = !calls[0];
              calls[0] = true;
              throw isFirst
                  ? new UnknownOutcomeException("not answered by a test")
                  : kind == FencedException.class
                      ? new FencedException("fenced by a test")
                      : new MemoryServerLostException("lost by a test");
            });
        SplittableRandom random = new SplittableRandom(Seeds.of(892));
        for (int i = 0; i < KEYS && !calls[0]; i++) {
          int number = random.nextInt(KEYS);
          long key = key(number);
          Throwable failure = catchThrowable(() -> session.put(key, -1));
          assertThat(failure == null || calls[0]).as("%s", failure).isTrue();
          if (failure != null) {
            assertThat(failure).isInstanceOf(UnknownOutcomeException.class);
            fabric.unhook();
            assertThat(Entries.get(other, key)).isIn((long) number, -1L);
          }
        }
        assertThat(calls[0]).as("a CALL").isTrue();
      }
      index.close();
    }
  }

  private static long key(int number) {
    return (number - KEYS / 2) * (Long.MAX_VALUE / KEYS);
  }

  /** Has one of the next verbs break; returns whether one did during an operation. */
  private static boolean breaks(
      HookedFabric fabric,
      Break how,
      SplittableRandom random,
      Session session,
      Session other,
      NavigableMap<Long, Long> model,
      long key,
      boolean shrinking) {
    int[] left = {random.nextInt(POSTINGS)};
    long value = random.nextLong();
    boolean removes = random.nextInt(4) == 0 ^ shrinking;
    int kind = random.nextInt(6);
    @Nullable Long before = model.get(key);
    @Nullable Long after = kind < 2 ? before : removes ? null : Long.valueOf(value);
    fabric.hookNext(
        verbs -> left[0]-- == 0,
        posting ->
            how.happen(fabric, posting, random.nextInt(Math.max(1, posting.verbs().size()))));
    Throwable failure =
        catchThrowable(() -> {
          switch (kind) {
            case 0 -> assertThat(Entries.get(session, key)).isEqualTo(before);
            case 1 -> assertThat(floor(session, key)).isEqualTo(model.floorKey(key));
            default -> write(session, key, value, removes, before);
          }
        });
    boolean broken = fabric.unhook() > 0 || failure != null;
    String what = how + ": key=" + key + ", before=" + before + ", after=" + after;
    @Nullable Long found = Entries.get(other, key);
    if (failure == null) {
      assertThat(found).as(what).isEqualTo(after);
    } else if (failure instanceof MemoryServerLostException) {
      assertThat(found).as(what).isEqualTo(before);
    } else {
      if (!(failure instanceof UnknownOutcomeException)) {
        assertThat(failure).as(what).isExactlyInstanceOf(OutOfMemoryError.class);
      }
      assertThat(found).as(what).isIn(before, after);
    }
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
    return broken;
  }

  private static void write(
      Session session, long key, long value, boolean removes, @Nullable Long before) {
    boolean found = removes ? session.remove(key) : session.put(key, value);
    assertThat(found ? (Long) session.value() : null).isEqualTo(before);
  }

  private static @Nullable Long floor(Session session, long key) {
    return session.floor(key) ? (Long) session.key() : null;
  }
}
