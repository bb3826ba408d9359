package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Keys that suit neither hashes nor computed segments, large pools, locks that stay held. */
@Tag("campaign")
@Timeout(300)
class DeftBadInputTest {
  private static final int CROWD = 2_000;
  private static final int DENSE = 10_000;

  private static DeftOptions options(int nodeBytes, String validation) {
    return DeftOptions.defaults()
        .withComputeServers(2)
        .with("node-bytes", Integer.toString(nodeBytes))
        .with("validation", validation)
        .with("cache-bytes", "64KiB");
  }

  private static Tree sound(Fabric fabric, DeftOptions options) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.strays()).isZero();
    return tree;
  }

  private static void shuffle(List<Long> keys, long seed) {
    Collections.shuffle(keys, new Random(seed));
  }

  /** Stores keys in random order, reads them in every way, and removes them all. */
  private static void fillAndEmpty(Fabric fabric, DeftOptions options, List<Long> keys, long seed) {
    NavigableMap<Long, Long> model = new TreeMap<>();
    try (DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      shuffle(keys, seed);
      for (long key : keys) {
        assertThat(session.put(key, ~key)).as("key=%d", key).isFalse();
        model.put(key, ~key);
      }
      for (Session each : List.of(session, other)) {
        for (long key : keys) {
          assertThat(each.get(key)).as("key=%d", key).isTrue();
          assertThat(each.value()).isEqualTo(~key);
        }
        TreeMap<Long, Long> seen = new TreeMap<>();
        each.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> seen.put(key, value) == null);
        assertThat(seen).isEqualTo(model);
      }
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
      shuffle(keys, seed + 1);
      for (long key : keys) {
        assertThat(session.remove(key)).as("key=%d", key).isTrue();
      }
      Tree tree = sound(fabric, options);
      assertThat(tree.entries()).isEmpty();
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
      assertThat(other.ceiling(Long.MIN_VALUE)).isFalse();
    }
  }

  /** Six keys of one bucket fill a leaf of 45; leaves are cut between them then. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"448, auto", "1024, auto", "1024, checksum"})
  void shouldKeepKeysThatAllHashToOneBucket(int nodeBytes, String validation) {
    long seed = Seeds.of(941);
    DeftLeafLayout layout = new DeftLeafLayout(nodeBytes, true);
    int bucket = layout.pairOffset(0);
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> keys = new ArrayList<>(List.of(0L));
    while (keys.size() < CROWD) {
      long key = random.nextLong();
      if (layout.pairOffset(key) == bucket && !keys.contains(key)) {
        keys.add(key);
      }
    }
    try (Fabric fabric = Pools.open(2, 16 << 20, 941)) {
      fillAndEmpty(fabric, options(nodeBytes, validation), keys, seed);
    }
  }

  /** Where dense keys lie. */
  enum Dense {
    BESIDE_THE_GREATEST(i -> Long.MAX_VALUE - i),
    BESIDE_THE_LEAST(i -> Long.MIN_VALUE + i),
    AROUND_ZERO(i -> i - DENSE / 2),
    AT_BOTH_ENDS(i -> i % 2 == 0 ? Long.MIN_VALUE + i : Long.MAX_VALUE - i);

    @SuppressWarnings("ImmutableEnumChecker") // Stateless.
    private final LongUnaryOperator key;

    Dense(LongUnaryOperator key) {
      this.key = key;
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "BESIDE_THE_GREATEST, 448", "BESIDE_THE_GREATEST, 1024",
    "BESIDE_THE_LEAST,    448", "BESIDE_THE_LEAST,    1024",
    "AROUND_ZERO,         448", "AT_BOTH_ENDS,        448",
  })
  void shouldKeepKeysThatLieDenseBetweenWideFences(Dense dense, int nodeBytes) {
    List<Long> keys = new ArrayList<>();
    LongStream.range(0, DENSE).map(dense.key).forEach(keys::add);
    try (Fabric fabric = Pools.open(2, 16 << 20, 942)) {
      fillAndEmpty(fabric, options(nodeBytes, "auto"), keys, Seeds.of(942));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 40})
  void shouldUseMoreMemoryServersThanFourBitsName(int memoryServers) {
    DeftOptions options = options(448, "auto");
    NavigableMap<Long, Long> model =
        Entries.random(new SplittableRandom(Seeds.of(943)), 100 * memoryServers);
    try (Fabric fabric = Pools.open(memoryServers, 1 << 20, 943);
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      long[] used =
          model.keySet().stream()
              .mapToLong(key -> GlobalAddress.server(pokes.path(key)[0]))
              .distinct()
              .sorted()
              .toArray();
      assertThat(used).containsExactly(LongStream.range(0, memoryServers).toArray());
      model.replaceAll((key, value) -> {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value()).isEqualTo(value);
        session.put(key, ~value);
        return ~value;
      });
      for (long key : List.copyOf(model.keySet())) {
        if (model.putIfAbsent(key ^ 1, 1L) == null) {
          assertThat(session.put(key ^ 1, 1)).isFalse();
        }
      }
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** A lock that is never let go of: whoever needs it is told of it, and all else goes on. */
  @ParameterizedTest(name = "{0} sx-locks={1}")
  @CsvSource({"versions, on", "checksum, on", "checksum, off"})
  void shouldTellOfALockThatStaysHeld(String validation, String sxLocks) {
    DeftOptions options =
        options(448, validation).with("sx-locks", sxLocks).with("lock-wait-millis", "20");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(944)), 1_000);
    long key = model.higherKey(0L);
    try (Fabric fabric = Pools.open(2, 8 << 20, 944);
        DeftPokes pokes = new DeftPokes(fabric, options)) {
      try (DeftIndex index = DeftIndex.create(fabric, options);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(model), 0.7);
        long leaf = pokes.path(key)[0];
        boolean shared = sxLocks.equals("on");
        long held = shared ? SxWord.TAKE_EXCLUSIVE : 1L << 63 | 6 << 9 | 7;
        pokes.setLock(leaf, held);
        String holder = shared ? "X_CUR=0, X_TIC=" : "holder=computeServer 5 session 7";
        List<Runnable> operations =
            List.of(
                () -> session.put(key, 1),
                () -> session.update(key, 1),
                () -> session.remove(key),
                () -> session.putIfAbsent(key, 1));
        for (Runnable operation : operations) {
          assertThatThrownBy(operation::run)
              .isInstanceOf(StalledException.class)
              .hasMessageContainingAll(
                  "a node stayed locked",
                  "node=" + GlobalAddress.toString(leaf),
                  "lock=" + GlobalAddress.toString(pokes.lockOf(leaf)),
                  holder,
                  "waitedNanos=");
        }
        if (validation.equals("checksum")) {
          assertThat(session.get(key)).as("readers need no lock").isTrue();
          assertThat(session.value()).isEqualTo(model.get(key));
        } else {
          assertThatThrownBy(() -> session.get(key))
              .isInstanceOf(StalledException.class)
              .hasMessageContainingAll("node=" + GlobalAddress.toString(leaf), holder);
        }
        assertThat(options.walk(fabric).problems()).hasSize(1);
        release(pokes, leaf, shared);
        // Of the tickets that were given up, each is let go of by whoever comes by.
        assertThat(session.put(key, 5)).isTrue();
        model.put(key, 5L);
        model.forEach((each, value) -> assertThat(session.update(each, value)).isTrue());
      }
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Lets go of the lock as its holder would have. */
  private static void release(DeftPokes pokes, long leaf, boolean shared) {
    long held = pokes.lock(leaf);
    pokes.setLock(leaf, shared ? SxWord.add(held, SxWord.LEAVE_EXCLUSIVE) : 0);
  }
}
