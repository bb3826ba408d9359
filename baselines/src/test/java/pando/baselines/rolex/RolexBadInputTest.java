package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Keys that are hard on models, chains that grow, and pages that say nonsense. */
@Tag("campaign")
@Timeout(300)
class RolexBadInputTest {
  private static final RolexOptions TINY =
      RolexOptions.defaults()
          .withComputeServers(2)
          .with("node-bytes", "384")
          .with("delta", "4")
          .with("epsilon", "4")
          .with("leaves-max", "8");

  private static HookedFabric pool(long seed) {
    return new HookedFabric(Pools.open(2, 16 << 20, seed)).withTasksByHand();
  }

  private static void check(Session session, NavigableMap<Long, Long> model) {
    model.forEach((key, value) -> {
      assertThat(session.get(key)).as("key=%d", key).isTrue();
      assertThat(session.value()).isEqualTo(value);
    });
    NavigableMap<Long, Long> seen = new TreeMap<>();
    session.scan(
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        (key, value) -> {
          seen.put(key, value);
          return true;
        });
    assertThat(seen).isEqualTo(model);
  }

  private static void checkPool(
      HookedFabric fabric, RolexIndex index, NavigableMap<Long, Long> model) {
    Tree tree = TINY.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
    assertThat(tree.bytes()).isEqualTo(index.poolBytes());
  }

  @Test
  void shouldHoldOneKeyBesideAnother() {
    try (HookedFabric fabric = pool(1301);
        RolexIndex index = RolexIndex.create(fabric, TINY);
        Session session = index.session()) {
      session.put(5, 0);
      for (long i = 1; i <= 1_000; i++) {
        assertThat(session.put(6, i)).isEqualTo(i > 1);
      }
      fabric.runTasks();
      NavigableMap<Long, Long> model = new TreeMap<>();
      model.put(5L, 0L);
      model.put(6L, 1_000L);
      check(session, model);
      checkPool(fabric, index, model);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldHoldKeysAtBothEndsOfTheRange(boolean loaded) {
    try (HookedFabric fabric = pool(1302);
        RolexIndex index = RolexIndex.create(fabric, TINY);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = new TreeMap<>();
      for (long i = 0; i < 300; i++) {
        model.put(Long.MIN_VALUE + i, i);
        model.put(Long.MAX_VALUE - i, ~i);
      }
      if (loaded) {
        index.bulkLoad(Entries.of(model), 0.7);
      } else {
        model.forEach(session::put);
      }
      fabric.runTasks();
      check(session, model);
      assertThat(session.floor(0)).isTrue();
      assertThat(session.key()).isEqualTo(Long.MIN_VALUE + 299);
      assertThat(session.ceiling(0)).isTrue();
      assertThat(session.key()).isEqualTo(Long.MAX_VALUE - 299);
      assertThat(session.floor(Long.MIN_VALUE)).isTrue();
      assertThat(session.ceiling(Long.MAX_VALUE)).isTrue();
      assertThat(session.scan(Long.MAX_VALUE, Long.MAX_VALUE, 9, (k, v) -> true)).isEqualTo(1);
      for (long end : new long[] {Long.MIN_VALUE, Long.MAX_VALUE}) {
        assertThat(session.remove(end)).isTrue();
        model.remove(end);
      }
      assertThat(session.floor(Long.MIN_VALUE)).isFalse();
      assertThat(session.ceiling(Long.MAX_VALUE)).isFalse();
      check(session, model);
      checkPool(fabric, index, model);
    }
  }

  @ParameterizedTest
  @EnumSource(KeySets.class)
  void shouldHoldKeysOfAnySpacing(KeySets keySet) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1303));
    try (HookedFabric fabric = pool(1303);
        RolexIndex index = RolexIndex.create(fabric, TINY);
        Session session = index.session()) {
      NavigableMap<Long, Long> model = new TreeMap<>();
      long[] keys = keySet.keys(3_000, random);
      for (int i = 0; i < keys.length; i += 2) {
        model.put(keys[i], (long) i);
      }
      index.bulkLoad(Entries.of(model), 0.7);
      check(session, model);
      for (int i = 1; i < keys.length; i += 2) {
        session.put(keys[i], i);
        model.put(keys[i], (long) i);
        if (i % 99 == 0) {
          fabric.runTasks();
        }
      }
      fabric.runTasks();
      check(session, model);
      checkPool(fabric, index, model);
      System.out.println(keySet + ": bytes to a key=" + index.poolBytes() / model.size());
      assertThat(index.poolBytes() / model.size()).as("bytes to a key").isLessThan(250);
    }
  }

  /** Without retraining a chain grows; all of it is found, and goes again; retraining ends it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldHoldALongChain(boolean removed) {
    RolexOptions off = TINY.with("retraining", "off");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1304), 500);
    try (HookedFabric fabric = pool(1304)) {
      long chained;
      try (RolexIndex index = RolexIndex.create(fabric, off);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(model), 1);
        long loaded = index.poolBytes();
        long first = model.ceilingKey(0L) + 1;
        for (long i = 0; i < 3_000; i++) {
          // From both ends towards the middle, as each is put before those that came before it.
          long key = first + (i % 2 == 0 ? i : 6_000 - i);
          assertThat(session.put(key, i)).isFalse();
          model.put(key, i);
        }
        check(session, model);
        checkPool(fabric, index, model);
        for (long i = 0; removed && i < 3_000; i++) {
          long key = first + (i % 2 == 0 ? i : 6_000 - i);
          assertThat(session.remove(key)).isTrue();
          model.remove(key);
        }
        assertThat(index.poolBytes() == loaded).isEqualTo(removed);
        chained = index.poolBytes();
      }
      try (RolexIndex joined = TINY.join(fabric, 0, 2);
          Session session = joined.session()) {
        long key = model.ceilingKey(0L) + 10_000;
        for (long i = key; i < key + 20; i++) {
          session.put(i, i);
          model.put(i, i);
        }
        fabric.runTasks();
        check(session, model);
        long bytes = chained + joined.poolBytes();
        Tree tree = TINY.walk(fabric);
        assertThat(tree.problems()).isEmpty();
        assertThat(tree.bytes()).isEqualTo(bytes);
        assertThat(joined.cache().admissions()).as("models trained anew").isPositive();
      }
    }
  }

  @Test
  void shouldGiveBackTheLeavesOfAllThatIsDeleted() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1305));
    RolexOptions options = RolexOptions.defaults().withComputeServers(1);
    try (HookedFabric fabric = pool(1305);
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      long empty = index.poolBytes();
      long[] keys = random.longs(50_000).toArray();
      for (int i = 0; i < keys.length; i++) {
        session.put(keys[i], i);
        if (i % 100 == 0) {
          fabric.runTasks();
        }
      }
      fabric.runTasks();
      long full = index.poolBytes();
      for (int i = 0; i < keys.length; i++) {
        session.remove(keys[i]);
        if (i % 100 == 0) {
          fabric.runTasks();
        }
      }
      fabric.runTasks();
      System.out.println(
          "bytes: empty=" + empty + ", full=" + full + ", emptied=" + index.poolBytes());
      assertThat(full).isLessThan(keys.length * 40L);
      assertThat(index.poolBytes()).isLessThan(full / 20);
      assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    }
  }

  /** Models that are due when a bulk load replaces them are forgotten. */
  @Test
  void shouldLoadWhileRetrainingIsDue() {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1306), 500);
    try (HookedFabric fabric = pool(1306);
        RolexIndex index = RolexIndex.create(fabric, TINY);
        Session session = index.session();
        Session other = index.session()) {
      for (int round = 0; round < 3; round++) {
        index.bulkLoad(Entries.of(model), 0.7);
        check(session, model);
        check(other, model);
        model.keySet().forEach(session::remove);
        if (round == 1) {
          fabric.runTasks();
        }
      }
      index.bulkLoad(Entries.of(model), 1);
      fabric.runTasks();
      check(other, model);
      checkPool(fabric, index, model);
    }
  }

  /** The retrainer takes no session's place, however many there are. */
  @Test
  void shouldRetrainThoughThereAreAsManySessionsAsThereCanBe() {
    try (HookedFabric fabric = pool(1307)) {
      RolexIndex index = RolexIndex.create(fabric, TINY.withComputeServers(1));
      List<Session> sessions = new ArrayList<>();
      Throwable refused =
          catchThrowable(() -> {
            while (sessions.size() < 2 * RolexOptions.SESSIONS_MAX) {
              sessions.add(index.session());
            }
          });
      assertThat(refused).isInstanceOf(IllegalStateException.class);
      assertThat(sessions).hasSize(RolexOptions.SESSIONS_MAX);
      for (long key = 0; key < 100; key++) {
        sessions.getFirst().put(key, key);
      }
      fabric.runTasks();
      assertThat(index.cache().admissions()).isPositive();
      index.close();
    }
  }

  /** Ways in which a page of models can say nonsense, its checksum being right. */
  enum Nonsense {
    DESCENDING_LOWS,
    PLACE_OUTSIDE_THE_POOL,
    NO_LEAVES,
    LINE_THAT_IS_NONE,
    NEXT_OUTSIDE_THE_POOL,
    NEXT_IS_ITSELF,
    NEXT_IS_A_LEAF,
    OTHER_HIGH,
    RUN_OF_ANOTHER;

    private ModelPage of(ModelPage page) {
      ModelArrays models = page.models.slice(0, page.models.count());
      long[] lows = models.lows;
      long[] places = models.places;
      long[] lines = models.lines;
      int last = lows.length - 1;
      switch (this) {
        case DESCENDING_LOWS -> lows[last] = lows[last - 1];
        case PLACE_OUTSIDE_THE_POOL -> places[last] = GlobalAddress.of(1, 1L << 40) | 1;
        case NO_LEAVES -> places[last] &= ~63L;
        case LINE_THAT_IS_NONE -> lines[last] = -1;
        case RUN_OF_ANOTHER -> places[last] = places[last - 1];
        default -> {}
      }
      long next =
          switch (this) {
            case NEXT_OUTSIDE_THE_POOL -> GlobalAddress.of(0, 1L << 40);
            case NEXT_IS_ITSELF -> page.address;
            case NEXT_IS_A_LEAF -> RunLayout.address(places[0]) + 64;
            default -> page.next;
          };
      long high = this == OTHER_HIGH ? page.high + 1 : page.high;
      return new ModelPage(page.address, page.edition, high, next, models);
    }
  }

  @ParameterizedTest
  @EnumSource(Nonsense.class)
  void shouldTellOfAPageThatSaysNonsense(Nonsense nonsense) {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(1308), 500);
    try (HookedFabric fabric = pool(1308);
        RolexIndex index = RolexIndex.create(fabric, TINY);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      check(session, model);
      ModelPage damaged;
      try (RolexPokes pokes = new RolexPokes(fabric, TINY)) {
        damaged = pokes.page(0);
        assertThat(damaged.models.count()).isGreaterThan(1);
        pokes.write(nonsense.of(damaged));
      }
      check(session, model);
      try (RolexIndex joined = TINY.join(fabric, 1, 1);
          Session other = joined.session()) {
        int told = 0;
        for (long key : model.keySet()) {
          Throwable failure = catchThrowable(() -> assertThat(other.get(key)).isTrue());
          if (failure != null) {
            assertThat(failure)
                .as("key=%d", key)
                .isInstanceOfAny(CorruptNodeException.class, StalledException.class)
                .hasMessageMatching(".+");
            assertThat(key).isGreaterThanOrEqualTo(damaged.low);
            told++;
          }
          if (told > 3) {
            break;
          }
        }
        assertThat(told).isPositive();
      }
    }
  }
}
