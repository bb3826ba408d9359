package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.index.TreeCheck;
import pando.index.orca.directory.LeafPointer;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** An index of ORCA is made, loaded, closed, joined and loaded again, in many shapes. */
@Timeout(300)
class OrcaLifeTest {
  private static final int MEMORY_SERVERS = 2;
  private static final int POOL_BYTES = 16 << 20;
  private static final int REGION_BYTES = 16 << 10;
  private static final OrcaOptions TINY =
      ((OrcaOptions) OrcaOptions.ORCA.tiny()).withCacheBytes(32 << 10);

  static Stream<Arguments> shapes() {
    Stream<Arguments> shapes =
        Stream.of(
            // leaf bytes, children of a page, compute servers, records, fill
            Arguments.of(384, 4, 1, 0, 1.0),
            Arguments.of(384, 4, 1, 1, 1.0),
            Arguments.of(384, 4, 3, 2, 0.1),
            Arguments.of(384, 4, 64, 700, 0.7),
            Arguments.of(512, 4, 64, 2_000, 0.7),
            Arguments.of(384, 60, 5, 1_000, 1.0),
            Arguments.of(512, 4, 2, 5_000, 0.9),
            Arguments.of(512, 5, 7, 2_345, 0.1),
            Arguments.of(1024, 7, 4, 5_000, 0.5),
            Arguments.of(4096, 60, 1, 220, 1.0),
            Arguments.of(4096, 60, 4, 20_000, 1.0),
            Arguments.of(4096, 4, 3, 15_000, 0.8),
            Arguments.of(4096, 60, 64, 100, 1.0));
    // Many compute servers take long.
    return shapes.filter(shape -> Seeds.isCampaign() || (int) shape.get()[2] <= 7);
  }

  @ParameterizedTest(name = "leaf={0} children={1} servers={2} records={3} fill={4}")
  @MethodSource("shapes")
  void shouldLoadAndJoinWhatItWasGiven(
      int leafBytes, int children, int servers, int records, double fill) {
    OrcaOptions options =
        TINY.withNodeBytes(leafBytes)
            .with("page-children", Integer.toString(children))
            .withComputeServers(servers);
    int count = Math.min(records, Seeds.count(1_000, records));
    Map<String, NavigableMap<Long, Long>> sets = sets(Seeds.of(1201), count);
    if (servers > 16 || (records > 500 && !Seeds.isCampaign())) {
      // Each set takes long.
      sets.keySet().retainAll(List.of("clusters"));
    }
    sets.forEach((name, model) -> live(options, fill, name, model));
  }

  /** Sets of keys by their names. */
  private static Map<String, NavigableMap<Long, Long>> sets(long seed, int records) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, NavigableMap<Long, Long>> sets = new HashMap<>();
    sets.put("random", records < 2 ? few(records) : Entries.random(random, records));
    sets.put("spaced", Entries.spaced(records, 1));
    sets.put("greatest", run(Long.MAX_VALUE - records + 1, records));
    sets.put("least", run(Long.MIN_VALUE, records));
    sets.put("clusters", clusters(random, records));
    return sets;
  }

  private static NavigableMap<Long, Long> few(int records) {
    return run(Long.MAX_VALUE, records);
  }

  private static NavigableMap<Long, Long> run(long first, int records) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.range(0, records).forEach(i -> entries.put(first + i, -i));
    return entries;
  }

  /** Runs of 10 to 60 neighbours, far from each other: one q has more records than a segment. */
  private static NavigableMap<Long, Long> clusters(SplittableRandom random, int records) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    while (entries.size() < records) {
      long first = random.nextLong();
      int most = Math.min(random.nextInt(10, 60), records - entries.size());
      LongStream.range(0, most).forEach(i -> entries.put(first + i, random.nextLong()));
    }
    return entries;
  }

  private static void live(
      OrcaOptions options, double fill, String name, NavigableMap<Long, Long> model) {
    Configuration configuration = new Configuration(options);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, POOL_BYTES, 1201)) {
      RangeIndex index = options.create(fabric, 0, options.computeServers());
      assertThat(index.bulkLoad(Entries.of(model), fill)).isEqualTo(model.size());
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).as(name).isEqualTo(model);
      try (Session session = index.session()) {
        Entries.check(session, model, name);
      }
      index.close();
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).as(name).isEqualTo(model);
      long used = fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
      assertThat(used).as(name).isEqualTo(checkRegions(fabric, options, name) * REGION_BYTES);
      joinEach(fabric, options, name, model);
    }
  }

  /** Checks that no region has extents of two ranges; returns the number of regions. */
  private static long checkRegions(Fabric fabric, OrcaOptions options, String name) {
    Map<Long, Integer> regions = new HashMap<>();
    NodePlaces places = new NodePlaces(fabric, RootTable.BYTES);
    try (RegisteredMemory registered = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered)) {
      Catalogue catalogue = new Catalogue(worker, 0, places, OrcaServer.SYSTEM);
      Partitioning partitioning = catalogue.readPartitioning();
      long table = Catalogue.rootAddress(catalogue.root());
      regions.put(region(table), 0);
      for (int range = 0; range < partitioning.servers(); range++) {
        checkRegions(fabric, options, partitioning, table, range, regions, name);
      }
    }
    return regions.size();
  }

  private static void checkRegions(
      Fabric fabric,
      OrcaOptions options,
      Partitioning partitioning,
      long table,
      int range,
      Map<Long, Integer> regions,
      String name) {
    try (OrcaServer server =
        new OrcaServer(0, fabric, options, REGION_BYTES, new java.util.Random(1))) {
      server.withContext(context ->
          new TreeReader(context)
              .read(
                  table,
                  range,
                  partitioning.lowOfRange(range),
                  partitioning.highOfRange(range),
                  (pointer, header) -> alone(regions, LeafPointer.address(pointer), range, name))
              .forEach(
                  pages -> pages.forEach(page -> alone(regions, page.address(), range, name))));
    }
  }

  private static void alone(Map<Long, Integer> regions, long address, int range, String name) {
    assertThat(regions.merge(region(address), range, (before, now) -> before))
        .as("%s: owner of the region of %s", name, GlobalAddress.toString(address))
        .isEqualTo(range);
  }

  private static long region(long address) {
    long offset = GlobalAddress.offset(address) - Fabric.CATALOGUE_BYTES;
    return address - offset % REGION_BYTES;
  }

  /** Has each compute server in an index of its own, as if in a process of its own. */
  private static void joinEach(
      Fabric fabric, OrcaOptions options, String name, NavigableMap<Long, Long> model) {
    long bytes = options.walk(fabric).bytes();
    for (int number = 0; number < options.computeServers(); number++) {
      try (OrcaIndex index = options.join(fabric, number, 1);
          Session session = index.session()) {
        bytes -= index.poolBytes();
        model.forEach((key, value) -> {
          if (index.serves(key)) {
            assertThat(Entries.get(session, key)).as("%s: key=%d", name, key).isEqualTo(value);
          }
        });
      }
    }
    assertThat(bytes).as(name).isZero();
  }

  @Test
  void shouldKeepChangesWhenItIsClosed() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1202));
    OrcaOptions options = TINY.withComputeServers(3);
    Configuration configuration = new Configuration(options);
    NavigableMap<Long, Long> model = Entries.random(random, 2_000);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, POOL_BYTES, 1202)) {
      try (OrcaIndex index = options.create(fabric, 0, 3)) {
        index.bulkLoad(Entries.of(model), 0.8);
      }
      for (int round = 0; round < 4; round++) {
        OrcaIndex index = options.join(fabric, 0, 3);
        try (Session session = index.session()) {
          Entries.check(session, model, "round=" + round);
          change(session, model, random);
        }
        index.close();
        Tree tree = TreeCheck.walk(fabric, configuration, index);
        assertThat(tree.entries()).as("round=%d", round).isEqualTo(model);
      }
    }
  }

  private static void change(
      Session session, NavigableMap<Long, Long> model, SplittableRandom random) {
    for (int i = 0; i < 3_000; i++) {
      Long near = model.ceilingKey(random.nextLong());
      long key = near == null || random.nextInt(3) == 0 ? random.nextLong() : near;
      if (random.nextInt(3) == 0) {
        session.remove(key);
        model.remove(key);
      } else {
        session.put(key, i);
        model.put(key, (long) i);
      }
    }
  }

  @Test
  void shouldLoadAgainWhenAllEntriesAreGone() {
    OrcaOptions options = TINY.withComputeServers(3);
    Configuration configuration = new Configuration(options);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, POOL_BYTES, 1203)) {
      OrcaIndex index = options.create(fabric, 0, 3);
      for (int round = 0; round < 4; round++) {
        NavigableMap<Long, Long> model =
            Entries.random(new SplittableRandom(Seeds.of(1203 + round)), 50 + 300 * round);
        index.bulkLoad(Entries.of(model), 0.8);
        try (Session session = index.session()) {
          Entries.check(session, model, "round=" + round);
          assertThatThrownBy(() -> index.bulkLoad(Entries.of(model), 0.8))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("the index is not empty");
          Entries.check(session, model, "round=" + round);
          model.keySet().forEach(key -> assertThat(session.remove(key)).isTrue());
        }
      }
      index.close();
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).isEmpty();
    }
  }

  @Test
  void shouldLoadForComputeServersThatHaveNotJoined() {
    OrcaOptions options = TINY.withComputeServers(4);
    Configuration configuration = new Configuration(options);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1204)), 900);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, POOL_BYTES, 1204);
        OrcaIndex index = options.create(fabric, 1, 2)) {
      index.bulkLoad(Entries.of(model), 0.8);
      assertThat(TreeCheck.walk(fabric, configuration).entries()).isEqualTo(model);
      checkRegions(fabric, options, "before all have joined");
      try (OrcaIndex first = options.join(fabric, 0, 1);
          OrcaIndex last = options.join(fabric, 3, 1)) {
        assertThat(first.poolBytes() + last.poolBytes() + index.poolBytes())
            .isEqualTo(TreeCheck.walk(fabric, configuration).bytes());
      }
    }
  }

  @Test
  void shouldLeaveAnEmptyIndexWhereThePoolIsFull() {
    OrcaOptions options = TINY.withComputeServers(2);
    Configuration configuration = new Configuration(options);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1205)), 60_000);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 512 << 10, 1205)) {
      OrcaIndex index = options.create(fabric, 0, 2);
      long before = fabric.usage().stream().mapToLong(PoolUsage::reservedBytes).sum();
      assertThatThrownBy(() -> index.bulkLoad(Entries.of(model), 0.8))
          .isInstanceOf(PoolFullException.class);
      assertThat(fabric.usage().stream().mapToLong(PoolUsage::reservedBytes).sum())
          .isEqualTo(before);
      NavigableMap<Long, Long> less = Entries.spaced(500, 1L << 50);
      index.bulkLoad(Entries.of(less), 0.8);
      try (Session session = index.session()) {
        Entries.check(session, less, "less");
      }
      index.close();
      assertThat(TreeCheck.walk(fabric, configuration, index).entries()).isEqualTo(less);
    }
  }

  @Test
  void shouldBeClosedWhenAMemoryServerIsLostMeanwhile() {
    OrcaOptions options = TINY.withComputeServers(2);
    boolean lost = true;
    int posting = 0;
    for (; lost; posting++) {
      try (HookedFabric fabric =
          new HookedFabric(Pools.open(MEMORY_SERVERS, POOL_BYTES, 1206)).withTasksByHand()) {
        RangeIndex index = options.create(fabric, 0, 2);
        index.bulkLoad(Entries.of(Entries.spaced(200, 1L << 50)), 0.7);
        try (Session session = index.session()) {
          new SplittableRandom(1206).longs(40).forEach(key -> session.put(key, key));
        }
        int[] left = {posting};
        int server = posting % MEMORY_SERVERS;
        fabric.hookNext(
            _ -> left[0]-- == 0,
            held -> {
              fabric.lose(server);
              held.post();
            });
        Throwable failure = catchThrowable(index::close);
        lost = fabric.unhook() > 0;
        assertThat(failure == null || failure instanceof MemoryServerLostException)
            .as("posting=%d, failure=%s", posting, failure)
            .isTrue();
        assertThatThrownBy(index::session)
            .as("posting=%d", posting)
            .hasMessage("the index is closed");
        assertThat(fabric.openMemories()).isZero();
      }
    }
    assertThat(posting).isGreaterThan(5);
  }

  @Test
  void shouldBeClosedAfterOperationsLostAMemoryServer() {
    OrcaOptions options = TINY.withComputeServers(2);
    for (int served = 0; served < 40; served++) {
      try (HookedFabric fabric =
          new HookedFabric(Pools.open(MEMORY_SERVERS, POOL_BYTES, 1207)).withTasksByHand()) {
        RangeIndex index = options.create(fabric, 0, 2);
        index.bulkLoad(Entries.of(Entries.spaced(200, 1L << 50)), 0.7);
        try (Session session = index.session()) {
          int[] left = {served};
          int server = served % MEMORY_SERVERS;
          fabric.hookNext(
              _ -> left[0]-- == 0,
              held -> {
                fabric.lose(server);
                held.post();
              });
          SplittableRandom random = new SplittableRandom(1207);
          Throwable failure = null;
          while (failure == null) {
            long key = random.nextLong();
            failure = catchThrowable(() -> session.put(key, key));
          }
        }
        assertThat(fabric.unhook()).isPositive();
        assertThat(catchThrowable(index::close))
            .as("served=%d", served)
            .isInstanceOf(MemoryServerLostException.class);
        assertThatThrownBy(index::session)
            .as("served=%d", served)
            .hasMessage("the index is closed");
        assertThat(fabric.openMemories()).isZero();
      }
    }
  }

  @Test
  void shouldFreeItsMemoryWhereAComputeServerCannotBeMade() {
    RandomGenerator failing =
        () -> {
          throw new OutOfMemoryError("a test");
        };
    try (HookedFabric fabric = new HookedFabric(Pools.open(MEMORY_SERVERS, POOL_BYTES, 1208))) {
      assertThatThrownBy(() -> new OrcaServer(0, fabric, TINY, REGION_BYTES, failing))
          .hasMessage("a test");
      assertThat(fabric.openMemories()).isZero();
      // As a region may only have a few sizes.
      assertThatThrownBy(() -> new OrcaServer(0, fabric, TINY, 3, new SplittableRandom(1208)))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(fabric.openMemories()).isZero();
    }
  }
}
