package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/** What operations cost where all inner nodes are cached (DEFT section 4, tables of verbs). */
@Tag("campaign")
@Timeout(300)
class DeftVerbsTest {
  private static final int ENTRIES = 1_000;
  private static final int SHARE = 10;
  private static final int OPERATIONS = ENTRIES / SHARE;
  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(10);
  private static final long EVENTS_MAX = 100_000_000;

  private final NavigableMap<Long, Long> model =
      Entries.random(new SplittableRandom(Seeds.of(931)), ENTRIES);

  /** Operations, each on a key of a tenth, which split and merge no leaf. */
  enum Case {
    GET,
    GET_OF_NOTHING,
    UPDATE,
    PUT,
    PUT_IF_ABSENT,
    UPDATE_OF_NOTHING,
    INSERT,
    REMOVE,
    REMOVE_OF_NOTHING;

    private void run(Session session, long key) {
      switch (this) {
        case GET -> assertThat(session.get(key)).isTrue();
        case GET_OF_NOTHING -> assertThat(session.get(key ^ 1)).isFalse();
        case UPDATE -> assertThat(session.update(key, ~key)).isTrue();
        case PUT -> assertThat(session.put(key, ~key)).isTrue();
        case PUT_IF_ABSENT -> assertThat(session.putIfAbsent(key, ~key)).isFalse();
        case UPDATE_OF_NOTHING -> assertThat(session.update(key ^ 1, 1)).isFalse();
        case INSERT -> assertThat(session.put(key ^ 1, 1)).isFalse();
        case REMOVE -> assertThat(session.remove(key)).isTrue();
        case REMOVE_OF_NOTHING -> assertThat(session.remove(key ^ 1)).isFalse();
      }
    }
  }

  private static DeftOptions options(String validation) {
    return DeftOptions.defaults()
        .withComputeServers(1)
        .with("validation", validation)
        .with("merge-share", "0");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    // validation, operation,   reads, writes, atomics, trips, bytes out, bytes in
    "opdv,     GET,               1,   0,      0,       1,     0,         128",
    "opdv,     GET_OF_NOTHING,    1,   0,      0,       1,     0,         128",
    "opdv,     UPDATE,            1,   0,      3,       2,     0,         128",
    "opdv,     PUT,               1,   0,      3,       2,     0,         128",
    "opdv,     PUT_IF_ABSENT,     1,   0,      2,       2,     0,         128",
    "opdv,     UPDATE_OF_NOTHING, 1,   0,      2,       2,     0,         128",
    "opdv,     INSERT,            1,   0,      3,       2,     0,         128",
    "opdv,     REMOVE,            1,   1,      2,       2,     8,         1024",
    "opdv,     REMOVE_OF_NOTHING, 1,   0,      2,       2,     0,         1024",
    "versions, GET,               3,   0,      0,       1,     0,         144",
    "versions, GET_OF_NOTHING,    3,   0,      0,       1,     0,         144",
    "versions, UPDATE,            1,   0,      3,       2,     0,         128",
    "versions, INSERT,            1,   0,      3,       2,     0,         128",
    "versions, REMOVE,            1,   1,      2,       2,     8,         1024",
    "checksum, GET,               1,   0,      0,       1,     0,         1024",
    "checksum, UPDATE,            1,   2,      2,       2,     16,        1024",
    "checksum, REMOVE,            1,   2,      2,       2,     16,        1024",
  })
  void shouldCostOnAFabricThatLandsLines(
      String validation,
      Case operation,
      long reads,
      long writes,
      long atomics,
      long roundTrips,
      long bytesOut,
      long bytesIn) {
    ClusterOptions cluster =
        ClusterOptions.defaults()
            .withServers(1, 2)
            .withBytesPerServer(8 << 20)
            .withChunkBytes(64 << 10)
            .withSeed(931);
    VerbCounters[] verbs = new VerbCounters[1];
    try (Cluster running = new Cluster(cluster)) {
      running
          .core(0)
          .spawn(
              "client", () -> verbs[0] = cost(running.fabric(0), options(validation), operation));
      running.run(NANOS_MAX, EVENTS_MAX);
    }
    check(verbs[0], reads, writes, atomics, roundTrips, bytesOut, bytesIn);
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    // Where 8 bytes land as one, a pair is read twice; and an absent value once more.
    "versions, GET,               4,   0,      0,       1,     0,         272",
    "versions, GET_OF_NOTHING,    4,   0,      0,       1,     0,         272",
    "versions, UPDATE,            1,   0,      3,       2,     0,         128",
    "versions, PUT,               1,   0,      3,       2,     0,         128",
    "versions, PUT_IF_ABSENT,     2,   0,      2,       2,     0,         136",
    "versions, UPDATE_OF_NOTHING, 1,   0,      2,       2,     0,         128",
    "versions, INSERT,            1,   0,      3,       2,     0,         128",
    "versions, REMOVE,            1,   1,      2,       2,     8,         1024",
    "checksum, GET,               1,   0,      0,       1,     0,         1024",
    "checksum, INSERT,            1,   2,      2,       2,     24,        1024",
  })
  void shouldCostOnAFabricThatLandsWords(
      String validation,
      Case operation,
      long reads,
      long writes,
      long atomics,
      long roundTrips,
      long bytesOut,
      long bytesIn) {
    try (Fabric fabric = Pools.open(2, 8 << 20, 932)) {
      check(
          cost(fabric, options(validation), operation),
          reads,
          writes,
          atomics,
          roundTrips,
          bytesOut,
          bytesIn);
    }
  }

  private VerbCounters cost(Fabric fabric, DeftOptions options, Case operation) {
    try (DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.3);
      model.keySet().forEach(session::get);
      VerbCounters before = index.verbs();
      int number = 0;
      for (long key : model.keySet()) {
        if (number++ % SHARE == 0) {
          operation.run(session, key);
        }
      }
      VerbCounters verbs = index.verbs();
      verbs.subtract(before);
      return verbs;
    }
  }

  /** Compares the costs of one operation; what atomics carry and return is left out. */
  private static void check(
      VerbCounters verbs,
      long reads,
      long writes,
      long atomics,
      long roundTrips,
      long bytesOut,
      long bytesIn) {
    assertThat(verbs.calls).as("calls").isZero();
    assertThat(verbs.reads).as("reads").isEqualTo(reads * OPERATIONS);
    assertThat(verbs.writes).as("writes").isEqualTo(writes * OPERATIONS);
    assertThat(verbs.atomics).as("atomics").isEqualTo(atomics * OPERATIONS);
    assertThat(verbs.roundTrips).as("round trips").isEqualTo(roundTrips * OPERATIONS);
    if (atomics == 0) {
      assertThat(verbs.bytesOut).as("bytes out").isEqualTo(bytesOut * OPERATIONS);
      assertThat(verbs.bytesIn).as("bytes in").isEqualTo(bytesIn * OPERATIONS);
    } else {
      assertThat(verbs.bytesOut).as("bytes out").isGreaterThanOrEqualTo(bytesOut * OPERATIONS);
      assertThat(verbs.bytesIn).as("bytes in").isGreaterThanOrEqualTo(bytesIn * OPERATIONS);
      assertThat(verbs.bytesIn).as("bytes in").isLessThan((bytesIn + 64) * OPERATIONS);
    }
  }

  @ParameterizedTest(name = "segments={0} fill={1} added={2}: {3} parts")
  @CsvSource({
    "on, 0.6, 0, 4, 256",
    "on, 1, 4000, 2, 496",
    "on, 1, 4000, 1, 1024",
    "off, 0.6, 0, 1, 1024"
  })
  void shouldReadThePartOfAnInnerNodeThatItsShapeHas(
      String segments, double fill, int added, int parts, int bytes) {
    DeftOptions options = options("opdv").with("caching", "off").with("segments", segments);
    SplittableRandom random = new SplittableRandom(Seeds.of(933));
    NavigableMap<Long, Long> many = Entries.random(random, 12 * ENTRIES);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 933));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(many), fill);
      // Inner nodes get children as full leaves are split.
      random.longs(added).forEach(key -> session.put(key, key));
      List<Integer> lengths = new ArrayList<>();
      int checked = 0;
      int number = 0;
      for (long key : many.keySet()) {
        long[] path = pokes.path(key);
        assertThat(path).as("the root's pointer has no shape").hasSize(3);
        if (number++ % (5 * SHARE) != 0 || shapeOf(pokes, path[1]) != parts) {
          continue;
        }
        lengths.clear();
        fabric.hookEach(
            verbs -> verbs.size() == 1 && verbs.kind(0) == Kind.READ,
            read -> {
              lengths.add(read.verbs().length(0));
              read.post();
            });
        assertThat(session.get(key)).isTrue();
        fabric.unhook();
        assertThat(lengths.subList(lengths.size() - 2, lengths.size())).containsExactly(bytes, 128);
        checked++;
      }
      assertThat(checked).as("keys below a node of %d parts", parts).isGreaterThan(SHARE);
    }
  }

  private static int shapeOf(DeftPokes pokes, long node) {
    long descriptor = ByteBuffer.wrap(pokes.peek(node)).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    return DeftShape.parts(InnerLayout.shape(descriptor));
  }

  /** A scan of a few leaves is one round trip, of a READ for each leaf. */
  @Test
  void shouldReadTheLeavesOfAScanTogether() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 934));
        DeftPokes pokes = new DeftPokes(fabric, options("opdv"));
        DeftIndex index = DeftIndex.create(fabric, options("opdv"));
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.6);
      model.keySet().forEach(session::get);
      long leaves = model.keySet().stream().map(key -> pokes.path(key)[0]).distinct().count();
      VerbCounters before = index.verbs();
      assertThat(session.scan(Long.MIN_VALUE, ENTRIES, (key, value) -> true)).isEqualTo(ENTRIES);
      VerbCounters verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.reads).isEqualTo(leaves);
      assertThat(verbs.bytesIn).isEqualTo(leaves * 1_024);
      assertThat(verbs.roundTrips).isEqualTo((leaves + 15) / 16);
      before = index.verbs();
      assertThat(session.scan(model.firstKey(), 20, (key, value) -> true)).isEqualTo(20);
      verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.reads).as("of what a short scan takes").isEqualTo(1);
      assertThat(verbs.roundTrips).isEqualTo(1);
      before = index.verbs();
      assertThat(session.scanDown(Long.MAX_VALUE, ENTRIES, (_, _) -> true)).isEqualTo(ENTRIES);
      verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.reads).isEqualTo(leaves);
      assertThat(verbs.roundTrips).isEqualTo((leaves + 15) / 16);
    }
  }
}
