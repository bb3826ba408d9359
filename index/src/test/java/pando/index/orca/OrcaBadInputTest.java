package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Keys that are hard to tell apart, and a pool that has no more room in the middle of a merge. */
@Timeout(300)
class OrcaBadInputTest {
  private static final int OPERATIONS = 6_000;
  private static final int KEYS = 400;

  private static OrcaOptions options() {
    return ((OrcaOptions) OrcaOptions.ORCA.tiny())
        .withComputeServers(2)
        .withCacheBytes(16 << 10)
        .with("delta-changes", "5");
  }

  /** Sets of keys, by number. */
  enum Keys {
    /** The least there are. */
    LEAST {
      @Override
      long key(int number) {
        return Long.MIN_VALUE + number;
      }
    },
    /** The greatest there are. */
    GREATEST {
      @Override
      long key(int number) {
        return Long.MAX_VALUE - number;
      }
    },
    /** Both ends, and nothing between. */
    BOTH_ENDS {
      @Override
      long key(int number) {
        return number % 2 == 0 ? LEAST.key(number / 2) : GREATEST.key(number / 2);
      }
    },
    /** Where one compute server's range ends and the next begins. */
    AT_A_FENCE {
      @Override
      long key(int number) {
        return (long) number - KEYS / 2;
      }
    },
    /** Such as differ in one bit. */
    BITS {
      @Override
      long key(int number) {
        return (1L << number % Long.SIZE) * (number / Long.SIZE % 2 == 0 ? 1 : -1)
            ^ number / (2 * Long.SIZE);
      }
    },
    /** Runs of neighbours far from each other: many keys of one number in a leaf. */
    RUNS {
      @Override
      long key(int number) {
        return ((long) (number / 40) << 58) + number % 40;
      }
    };

    abstract long key(int number);
  }

  @ParameterizedTest
  @EnumSource
  void shouldTellKeysApart(Keys keys) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1321));
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1321)).withTasksByHand()) {
      OrcaIndex index = OrcaIndex.create(fabric, options());
      try (Session session = index.session()) {
        for (int i = 0; i < OPERATIONS; i++) {
          boolean grows = i / (OPERATIONS / 6) % 2 == 0;
          long key = keys.key(random.nextInt(KEYS));
          if (random.nextInt(4) > 0) {
            change(session, model, key, i, grows);
          } else {
            look(session, model, key);
          }
        }
        Entries.check(session, model, keys.toString());
        assertThat(index.audit()).isEmpty();
      }
      index.close();
      Tree tree = options().walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  private static void change(
      Session session, Map<Long, Long> model, long key, long value, boolean adds) {
    if (adds) {
      assertThat(session.put(key, value)).isEqualTo(model.containsKey(key));
      model.put(key, value);
    } else {
      assertThat(session.remove(key)).isEqualTo(model.containsKey(key));
      model.remove(key);
    }
  }

  private static void look(Session session, NavigableMap<Long, Long> model, long key) {
    assertThat(Entries.get(session, key)).isEqualTo(model.get(key));
    Map.Entry<Long, Long> floor = model.floorEntry(key);
    assertThat(session.floor(key)).isEqualTo(floor != null);
    assertThat(floor == null || session.key() == floor.getKey()).isTrue();
    Map.Entry<Long, Long> ceiling = model.ceilingEntry(key);
    assertThat(session.ceiling(key)).isEqualTo(ceiling != null);
    assertThat(ceiling == null || session.value() == ceiling.getValue()).isTrue();
  }

  /** A CALL for more of the pool. */
  private static boolean calls(VerbList verbs) {
    return verbs.size() == 0;
  }

  /** Nothing is lost where merges find no room, again and again, and changes go on later. */
  @Test
  void shouldLoseNothingWhereThePoolIsFullInTheMiddleOfAMerge() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1322));
    NavigableMap<Long, Long> model = new TreeMap<>();
    int refused = 0;
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1322)).withTasksByHand()) {
      OrcaIndex index = OrcaIndex.create(fabric, options());
      try (Session session = index.session()) {
        for (int i = 0; i < 8_000; i++) {
          if (i % 1_000 == 0) {
            // Two thirds of the time there is room.
            fabric.unhook();
            if (i / 1_000 % 3 == 1) {
              fabric.hookEach(
                  OrcaBadInputTest::calls,
                  _ -> {
                    throw new PoolFullException("by a test");
                  });
            }
          }
          long key = random.nextInt(4) == 0 ? random.nextLong() : i * 1_000L;
          long value = i;
          Throwable failure =
              catchThrowable(() -> {
                session.store(key, value);
                model.put(key, value);
              });
          if (failure != null) {
            assertThat(failure).isInstanceOf(PoolFullException.class);
            refused++;
            for (long near :
                model.headMap(key, false).descendingKeySet().stream().limit(3).toList()) {
              session.discard(near);
              model.remove(near);
            }
          }
        }
        fabric.unhook();
        Entries.check(session, model, "in the end");
        assertThat(index.audit()).isEmpty();
        assertThat(refused).as("refused").isGreaterThan(10);
      }
      index.close();
      Tree tree = options().walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
      assertThat(tree.bytes()).as("nothing is left over").isEqualTo(index.poolBytes());
    }
  }
}
