package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.Tree;

/** Input that is wrong or extreme, and use after the end. */
@Timeout(120)
class BadInputTest {
  @Test
  void shouldRefuseWrongScans() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(2));
        Session session = index.session()) {
      session.put(1, 2);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(2, 1, 1, (key, value) -> true))
          .withMessageContaining("from=2, to=1");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> session.scan(1, 2, -1, (key, value) -> true))
          .withMessageContaining("limit=-1");
      assertThat(session.scan(1, 2, 0, (key, value) -> true)).isZero();
      assertThat(session.scan(2, 2, 9, (key, value) -> true)).isZero();
      assertThat(session.scan(1, 1, 9, (key, value) -> true)).isEqualTo(1);
      assertThat(session.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> false)).isEqualTo(1);
      assertThat(session.scan(Long.MAX_VALUE, Long.MAX_VALUE, 9, (key, value) -> true)).isZero();
    }
  }

  @Test
  @SuppressWarnings("NullAway") // Null is what the test is about.
  void shouldRefuseNull() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(2));
        Session session = index.session()) {
      assertThatNullPointerException().isThrownBy(() -> session.scan(1, 2, 3, null));
      assertThatNullPointerException().isThrownBy(() -> index.bulkLoad(null, 0.7));
      assertThat(session.put(1, 2)).isFalse();
    }
  }

  @Test
  void shouldTakeExtremeKeysAndValues() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(4));
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

  @Test
  void shouldStayEmptyAfterARefusedBulkLoad() {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(4));
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

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({
    "node-bytes,      100",
    "node-bytes,      64",
    "node-bytes,      1000",
    "node-bytes,      1MiB",
    "node-bytes,      4294968320",
    "cache-bytes,     12095",
    "cache-bytes,     lots",
    "cache-bytes,     -1",
    "cache-bytes,     1.5GiB",
    "cache-bytes,     999999999999999TiB",
    "compute-servers, 0",
    "compute-servers, 65",
    "compute-servers, many",
    "cooling-share,   0",
    "cooling-share,   NaN",
    "cooling-share,   ten",
    "admission,       1.1",
    "admission,       -0.1",
    "contrary,        2",
    "caching,         yes",
    "offloading,      true",
    "subtree-level,   32",
    "merge-share,     0.9",
    "sessions-max,    0",
    "samples,         99999999999",
    "no-such-option,  1",
  })
  void shouldRefuseOptions(String name, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pools.tiny(1).with(name, value))
        .satisfies(e ->
            assertThat(e.getMessage()).contains(name.equals("node-bytes") ? "nodeBytes" : name));
  }

  @Test
  void shouldTurnAwayWhatComesAfterTheEnd() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      DexIndex index = DexIndex.create(fabric, Pools.tiny(2));
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
      assertThatIllegalStateException().isThrownBy(() -> index.moveBoundary(1, 0));
      assertThatIllegalStateException().isThrownBy(() -> index.addComputeServer(0));
      assertThatIllegalStateException().isThrownBy(() -> index.removeComputeServer(0));
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
        () -> session.scan(1, 1, (key, value) -> true));
  }

  @Test
  void shouldRefuseASecondIndexAndAWrongJoin() {
    DexOptions options = Pools.tiny(2);
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> DexIndex.join(fabric, options, 0, 2))
          .withMessageContaining("nodeBytes=192");
      try (DexIndex index = DexIndex.create(fabric, options)) {
        assertThat(index.name()).isEqualTo("dex");
        assertThatIllegalStateException()
            .isThrownBy(() -> DexIndex.create(fabric, options))
            .withMessageContaining("holds an index already");
        assertThatIllegalStateException()
            .isThrownBy(() -> DexIndex.join(fabric, options.with("node-bytes", "128"), 0, 2))
            .withMessageContaining("found=192");
        try (Session session = index.session()) {
          assertThat(session.put(1, 1)).isFalse();
        }
      }
      try (DexIndex again = DexIndex.join(fabric, options, 0, 2);
          Session session = again.session()) {
        assertThat(session.get(1)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"-1, 1", "0, 0", "0, 3", "2, 1", "2147483647, 1", "0, -1", "1, 2147483647"})
  void shouldRefuseComputeServersThatAreNone(int first, int count) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> DexIndex.create(fabric, Pools.tiny(2), first, count))
          .withMessageContaining("first=" + first);
      try (DexIndex index = DexIndex.create(fabric, Pools.tiny(2))) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> DexIndex.join(fabric, Pools.tiny(2), first, count));
        assertThat(index.partitioning().servers()).isEqualTo(2);
      }
    }
  }

  @Test
  void shouldRefuseWrongPartitions() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(3));
        Session session = index.session()) {
      Partitioning before = index.partitioning();
      for (int server : new int[] {-1, 3, 64, Integer.MAX_VALUE}) {
        assertThatIllegalArgumentException().isThrownBy(() -> index.moveBoundary(server, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> index.split(server, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> index.addComputeServer(server));
        assertThatIllegalArgumentException().isThrownBy(() -> index.removeComputeServer(server));
      }
      assertThatIllegalArgumentException().isThrownBy(() -> index.moveBoundary(0, 5));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.moveBoundary(1, Long.MIN_VALUE))
          .withMessageContaining("low=" + Long.MIN_VALUE);
      assertThatIllegalArgumentException().isThrownBy(() -> index.moveBoundary(1, Long.MAX_VALUE));
      assertThatIllegalArgumentException().isThrownBy(() -> index.split(1, before.lowOfServer(1)));
      assertThat(index.moveBoundary(1, before.lowOfServer(1))).isEqualTo(before.lowOfServer(1));
      assertThat(index.moveBoundary(1, before.lowOfServer(1) + 1)).isEqualTo(before.lowOfServer(1));
      assertThat(index.moveBoundary(1, before.lowOfServer(1) - 1)).isEqualTo(before.lowOfServer(1));
      assertThat(index.split(1, before.highOfServer(1))).isEqualTo(-1);
      assertThat(index.addComputeServer(1)).isEqualTo(-1);
      index.removeComputeServer(1);
      index.removeComputeServer(0);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.removeComputeServer(2))
          .withMessageContaining("server=2");
      assertThat(session.put(1, 1)).isFalse();
      assertThat(session.put(Long.MIN_VALUE, 1)).isFalse();
    }
  }

  @Test
  void shouldRefuseTooManySessions() {
    DexOptions options = Pools.tiny(2).with("sessions-max", "3");
    List<Session> sessions = new ArrayList<>();
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, options)) {
      for (int i = 0; i < 3; i++) {
        Session session = index.session();
        sessions.add(session);
        session.put(i, i);
      }
      assertThatIllegalStateException()
          .isThrownBy(() -> {
            try (Session session = index.session()) {
              session.put(9, 9);
            }
          })
          .withMessageContaining("max=3");
      index.removeComputeServer(0);
      sessions.removeFirst().close();
      try (Session session = index.session()) {
        assertThat(session.get(1)).isTrue();
        assertThat(session.put(-1, -1)).isFalse();
      }
      sessions.forEach(Session::close);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"offloading=off", "contrary=0.5"})
  void shouldSurviveAFullPool(String setting) {
    String[] parts = setting.split("=", 2);
    DexOptions options = Pools.tiny(3).with(parts[0], parts[1]);
    TreeMap<Long, Long> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(Seeds.of(601));
    try (Fabric fabric = Pools.open(2, 128 << 10, 1)) {
      DexIndex index = DexIndex.create(fabric, options);
      try (index;
          Session session = index.session()) {
        for (int round = 0; round < 5; round++) {
          fill(session, model, random);
          checkAll(session, model);
          List<Long> keys = new ArrayList<>(model.keySet());
          for (int i = 0; i < keys.size(); i++) {
            if (random.nextInt(10) < 8) {
              assertThat(session.remove(keys.get(i))).isTrue();
              model.remove(keys.get(i));
            }
          }
          checkAll(session, model);
        }
      }
      Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(model);
      assertThat((long) tree.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
    }
  }

  private static void fill(Session session, Map<Long, Long> model, SplittableRandom random) {
    int stored = 0;
    int refused = 0;
    while (refused < 20) {
      long key = random.nextLong();
      try {
        session.put(key, ~key);
        model.put(key, ~key);
        stored++;
      } catch (PoolFullException e) {
        assertThat(e).hasMessageContaining("capacityBytes=");
        refused++;
      }
    }
    assertThat(stored).isGreaterThan(500);
  }

  private static void checkAll(Session session, Map<Long, Long> model) {
    model.forEach((key, value) -> {
      assertThat(session.get(key)).isTrue();
      assertThat(session.value()).isEqualTo(value);
    });
    TreeMap<Long, Long> seen = new TreeMap<>();
    session.scan(
        Long.MIN_VALUE,
        Long.MAX_VALUE,
        (key, value) -> {
          seen.put(key, value);
          return true;
        });
    assertThat(seen).isEqualTo(model);
  }

  @Test
  void shouldBeUsableAfterAnIndexDidNotFit() {
    try (Fabric fabric = Pools.open(1, 128 << 10, 1)) {
      DexOptions tooLarge =
          DexOptions.defaults()
              .with("cache-bytes", "8MiB")
              .with("node-bytes", "65536")
              .with("compute-servers", "8");
      assertThatThrownBy(() -> DexIndex.create(fabric, tooLarge))
          .isInstanceOf(RuntimeException.class);
      try (DexIndex index = DexIndex.create(fabric, Pools.tiny(1));
          Session session = index.session()) {
        assertThat(session.put(1, 1)).isFalse();
      }
    }
  }

  @Test
  void shouldStayEmptyAfterABulkLoadThatDidNotFit() {
    try (Fabric fabric = Pools.open(1, 128 << 10, 1);
        DexIndex index = DexIndex.create(fabric, Pools.tiny(2));
        Session session = index.session()) {
      long empty = index.poolBytes();
      long[] many = new SplittableRandom(1).longs(50_000).sorted().distinct().toArray();
      assertThatThrownBy(() -> index.bulkLoad(Entries.keys(many), 0.7))
          .isInstanceOf(PoolFullException.class);
      assertThat(index.poolBytes()).isEqualTo(empty);
      assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      assertThat(index.bulkLoad(Entries.keys(1, 2, 3), 0.7)).isEqualTo(3);
      assertThat(session.get(2)).isTrue();
    }
  }

  @Test
  void shouldSurviveAFullPoolWithSeveralThreads() throws Exception {
    DexOptions options = Pools.tiny(3).with("contrary", "0.3");
    List<TreeMap<Long, Long>> models = new ArrayList<>();
    SplittableRandom seeds = new SplittableRandom(Seeds.of(700));
    TreeMap<Long, Long> all = new TreeMap<>();
    try (Fabric fabric = Pools.open(2, 128 << 10, 1)) {
      DexIndex index = DexIndex.create(fabric, options);
      try (index) {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++) {
          TreeMap<Long, Long> model = new TreeMap<>();
          models.add(model);
          SplittableRandom random = seeds.split();
          tasks.add(() -> fillAndEmpty(index, model, random));
        }
        Threads.run(tasks);
        models.forEach(all::putAll);
        try (Session session = index.session()) {
          checkAll(session, all);
        }
      }
      Tree tree = TreeCheck.walk(fabric, options);
      assertThat(tree.entries()).isEqualTo(all);
      assertThat((long) tree.nodes() * options.nodeBytes()).isEqualTo(index.poolBytes());
    }
  }

  private static Void fillAndEmpty(
      DexIndex index, NavigableMap<Long, Long> model, SplittableRandom random) {
    try (Session session = index.session()) {
      for (int i = 0; i < 20_000; i++) {
        long key = random.nextLong();
        try {
          session.put(key, ~key);
          model.put(key, ~key);
        } catch (PoolFullException e) {
          while (model.size() > 100) {
            long first = model.firstKey();
            assertThat(session.remove(first)).isTrue();
            model.remove(first);
          }
        }
      }
      return null;
    }
  }
}
