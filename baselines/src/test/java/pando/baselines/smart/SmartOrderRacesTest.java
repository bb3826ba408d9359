package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** Another session changes the tree before each READ of a scan or of a search for a neighbour. */
@Timeout(300)
class SmartOrderRacesTest {
  private static final int ROUNDS = Seeds.count(300, 1_000, 20_000);

  private static SmartOptions options(String system) {
    SmartOptions options =
        system.equals("smart") ? SmartOptions.smart() : SmartOptions.partitionedSmart();
    return options.withComputeServers(2).withCacheBytes(64 << 10);
  }

  private static boolean isRead(VerbList verbs) {
    return verbs.kind(0) == Kind.READ;
  }

  private static boolean isReadOfLeaf(VerbList verbs) {
    return isRead(verbs) && verbs.length(0) == LeafLayout.BYTES;
  }

  @Test
  void shouldNotAnswerByALeafThatIsNoLongerTheNearest() {
    NavigableMap<Long, Long> model = new TreeMap<>(Map.of(10L, 1L, 20L, 2L, 30L, 3L));
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 941));
        SmartIndex index = SmartIndex.create(fabric, options("smart"));
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      fabric.hookNext(
          SmartOrderRacesTest::isReadOfLeaf,
          read -> {
            other.put(24, 4);
            other.put(20, 5);
            read.post();
          });
      assertThat(session.floor(25)).isTrue();
      assertThat(fabric.unhook()).isOne();
      assertThat(session.key()).isEqualTo(24);
      assertThat(session.value()).isEqualTo(4);
    }
  }

  @ParameterizedTest(name = "seed={0} {1} keys={2} shift={3}")
  @CsvSource({
    "951, smart,   12,  0",
    "952, smart,   60,  0",
    "953, smart,   200, 5",
    "954, smart,   60,  30",
    "955, p-smart, 12,  0",
    "956, p-smart, 60,  0",
    "957, p-smart, 200, 59",
  })
  void shouldAnswerAsItWasAtSomeMoment(long seed, String system, int keys, int shift) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, seed));
        SmartIndex index = SmartIndex.create(fabric, options(system));
        Session session = index.session();
        Session other = index.session()) {
      Changes changes = new Changes(other, random, keys, shift);
      for (int i = 0; i < 2 * keys; i++) {
        changes.change();
      }
      for (int round = 0; round < ROUNDS; round++) {
        changes.forget();
        long key = changes.key();
        // Some of the READs, so that searches come to their ends.
        int every = random.nextInt(1, 5);
        fabric.hookEach(
            verbs -> isRead(verbs) && random.nextInt(every) == 0,
            read -> {
              for (int i = random.nextInt(4); i >= 0 && changes.states.size() < 60; i--) {
                changes.change();
              }
              read.post();
            });
        String what = "round=%d, key=%d".formatted(round, key);
        switch (random.nextInt(4)) {
          case 0 -> check(what, session, session.floor(key), changes, s -> s.floorEntry(key));
          case 1 -> check(what, session, session.ceiling(key), changes, s -> s.ceilingEntry(key));
          default -> scan(what, session, key, random, changes);
        }
        fabric.unhook();
      }
    }
  }

  private static void check(
      String what,
      Session session,
      boolean found,
      Changes changes,
      Function<NavigableMap<Long, Long>, Map.@Nullable Entry<Long, Long>> answer) {
    Map.Entry<Long, Long> entry = found ? Map.entry(session.key(), session.value()) : null;
    assertThat(changes.states.stream().map(answer)).as(what).contains(entry);
  }

  private static void scan(
      String what, Session session, long from, SplittableRandom random, Changes changes) {
    boolean down = random.nextBoolean();
    long limit = random.nextInt(4) == 0 ? random.nextInt(1, 10) : 1_000;
    long to = down ? Long.MIN_VALUE : Long.MAX_VALUE;
    List<Long> keys = new ArrayList<>();
    NavigableMap<Long, Long> found = new TreeMap<>();
    if (down) {
      session.scanDown(from, to, limit, (key, value) -> keys.add(key) && add(found, key, value));
    } else {
      session.scan(from, to, limit, (key, value) -> keys.add(key) && add(found, key, value));
    }
    NavigableSet<Long> ordered = down ? found.descendingKeySet() : found.navigableKeySet();
    assertThat(keys).as(what).containsExactlyElementsOf(ordered);
    long end = keys.size() == limit ? keys.getLast() : to;
    NavigableSet<Long> all = new TreeSet<>();
    changes.states.forEach(state -> all.addAll(state.keySet()));
    for (long key : all.subSet(Math.min(from, end), true, Math.max(from, end), true)) {
      assertThat(changes.states.stream().map(state -> state.get(key)))
          .as("%s, of the scan: %d", what, key)
          .contains(found.get(key));
    }
  }

  private static boolean add(NavigableMap<Long, Long> found, long key, long value) {
    found.put(key, value);
    return true;
  }

  /** Random changes by another session, and the states that they have led to. */
  private static final class Changes {
    private final Session session;
    private final SplittableRandom random;
    private final int keys;
    private final int shift;
    private final List<NavigableMap<Long, Long>> states = new ArrayList<>(List.of(new TreeMap<>()));
    private long count;

    Changes(Session session, SplittableRandom random, int keys, int shift) {
      this.session = session;
      this.random = random;
      this.keys = keys;
      this.shift = shift;
    }

    long key() {
      return (long) (random.nextInt(keys) - keys / 2) << shift;
    }

    /** Forgets all states but the last one. */
    void forget() {
      states.subList(0, states.size() - 1).clear();
    }

    void change() {
      NavigableMap<Long, Long> next = new TreeMap<>(states.getLast());
      long key = key();
      // The tree grows and shrinks in turn.
      if (random.nextInt(8) < (count / 200 % 2 == 0 ? 5 : 2)) {
        session.put(key, ++count);
        next.put(key, count);
      } else {
        count++;
        session.remove(key);
        next.remove(key);
      }
      states.add(next);
    }
  }
}
