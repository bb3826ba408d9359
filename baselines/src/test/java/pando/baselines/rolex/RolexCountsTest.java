package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;

/** What runs count, of their leaves without an entry and of synonym leaves, is what there is. */
@Tag("campaign")
@Timeout(300)
class RolexCountsTest {
  private static final long STEP = 1_000;
  private static final int ENTRIES = 40;

  private static RolexOptions options(String system) {
    RolexOptions options = system.equals("rolex") ? RolexOptions.rolex() : RolexOptions.xstoreD();
    return options.withComputeServers(1).with("delta", "4").with("retraining", "off");
  }

  private static void check(Fabric fabric, RolexOptions options) {
    assertThat(options.walk(fabric).problems()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rolex", "xstore-d"})
  void shouldCountTheEmptyLeafOfAnEmptyIndex(String system) {
    RolexOptions options = options(system);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1401);
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      check(fabric, options);
      session.put(1, 1);
      check(fabric, options);
      session.remove(1);
      check(fabric, options);
    }
  }

  /** The last entry is one of a synonym leaf, in a chain whose leaf is empty already. */
  @ParameterizedTest
  @ValueSource(strings = {"rolex", "xstore-d"})
  void shouldCountALeafThatIsEmptyAsItsLastSynonymLeafGoes(String system) {
    RolexOptions options = options(system);
    try (Fabric fabric = Pools.open(2, 8 << 20, 1402);
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.keys(keys()), 1);
      for (int round = 0; round < 3; round++) {
        for (long key = 10 * STEP + 1; key < 10 * STEP + 12; key++) {
          session.put(key, key);
        }
        check(fabric, options);
        for (long key = 0; key < ENTRIES * STEP; key += STEP) {
          session.remove(key);
        }
        check(fabric, options);
        for (long key = 10 * STEP + 1; key < 10 * STEP + 12; key++) {
          session.remove(key);
        }
        check(fabric, options);
      }
    }
  }

  private static long[] keys() {
    long[] keys = new long[ENTRIES];
    for (int i = 0; i < ENTRIES; i++) {
      keys[i] = i * STEP;
    }
    return keys;
  }

  /** The list of a change that counts breaks after each of its verbs. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void shouldCountRightAfterAListThatBroke(int done) {
    RolexOptions options = options("rolex");
    SplittableRandom random = new SplittableRandom(1403);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 1403));
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.keys(keys()), 1);
      int broken = 0;
      for (int i = 0; i < 300; i++) {
        fabric.hookNext(
            verbs -> verbs.size() > done && verbs.kind(0) == Kind.FAA,
            posting -> {
              posting.postFirst(done);
              throw new UnknownOutcomeException("broken by a test");
            });
        long key = random.nextInt(ENTRIES / 2) * (STEP / 2);
        try {
          if (random.nextBoolean()) {
            session.put(key + random.nextInt(5), i);
          } else {
            session.remove(key + random.nextInt(5));
          }
        } catch (UnknownOutcomeException _) {
          broken++;
        }
        fabric.unhook();
        check(fabric, options);
      }
      System.out.println("broken: " + broken);
      assertThat(broken).isPositive();
    }
  }
}
