package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.PoolUsage;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.orca.parts.CacheParts;

/** The directory of a compute server is counted in its cache. */
@Timeout(300)
class OrcaBudgetTest {
  private static final int POOL_BYTES = 32 << 20;
  private static final Pattern NEEDED = Pattern.compile("needed: cache-bytes=(\\d+)");

  private final HookedFabric fabric =
      new HookedFabric(Pools.open(2, POOL_BYTES, 1)).withTasksByHand();
  private final OrcaOptions options =
      ((OrcaOptions) OrcaOptions.ORCA.tiny())
          .with("delta-changes", "4")
          .withCacheBytes(256 << 10)
          .withComputeServers(1);

  private static long total(CacheShares shares) {
    return shares.recordBytes()
        + shares.deltaBytes()
        + shares.imageBytes()
        + shares.setAsideBytes();
  }

  private static void checkSetAside(OrcaIndex index) {
    CacheShares shares = index.shares();
    assertThat(shares.directoryBytes()).isPositive().isLessThanOrEqualTo(shares.setAsideBytes());
    assertThat(shares.moves().failed()).isZero();
    assertThat(index.audit()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"4096, 20000", "512, 20000", "512, 0"})
  void shouldShareOutWhatTheDirectoryLeaves(int nodeBytes, int records) {
    OrcaOptions shared =
        options
            .withNodeBytes(nodeBytes)
            .withCacheBytes(512 << 10)
            .with("delta-share", "0.5")
            .with("image-share", "0.25");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1401)), records);
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, shared)) {
      long part = index.shares().setAsideBytes();
      long all = total(index.shares());
      assertThat(all).isBetween((512L << 10) - 64 * 256 - CacheParts.SLACK_BYTES, 512L << 10);
      index.bulkLoad(Entries.of(model), 0.7);
      CacheShares shares = index.shares();
      checkSetAside(index);
      assertThat(shares.setAsideBytes() - shares.directoryBytes()).isLessThan(part);
      assertThat(total(shares)).isEqualTo(all);
      long left = all - shares.setAsideBytes();
      assertThat(shares.deltaBytes()).as("the others are lent").isEqualTo(part);
      assertThat(shares.imageBytes()).isBetween(left / 4 - part, left / 4 + part);
      try (Session session = index.session()) {
        Entries.check(session, model, "loaded");
        assertThat(session.remove(7)).isFalse();
        for (long key : model.keySet().stream().limit(100).toList()) {
          session.put(key, -key);
          model.put(key, -key);
        }
        fabric.runTasks();
        assertThat(index.shares().deltaBytes()).as("updates need none").isEqualTo(part);
        session.put(7, 8);
        model.put(7L, 8L);
        fabric.runTasks();
        assertThat(index.shares().deltaBytes()).isBetween(left / 2 - part, left / 2 + part);
        Entries.check(session, model, "changed");
      }
    }
  }

  /** A move fails where an operation takes long, or a memory server is lost for a while. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldGiveDeltasTheirPartsThoughMovesFailAtFirst(boolean isLost) {
    OrcaOptions shared = options.withCacheBytes(512 << 10).with("delta-share", "0.5");
    SplittableRandom random = new SplittableRandom(Seeds.of(1406));
    NavigableMap<Long, Long> model = Entries.random(random, 20_000);
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, shared);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      CacheShares shares = index.shares();
      long part = shares.deltaBytes();
      long left = total(shares) - shares.setAsideBytes();
      for (long key : model.keySet().stream().limit(2_000).toList()) {
        session.put(key, -key);
      }
      session.put(7, 8);
      if (isLost) {
        fabric.lose(1);
        fabric.runTasks();
        fabric.runTasks();
        fabric.runTasks();
        assertThat(index.shares().moves().failed()).isOne();
        fabric.lose(-1);
      } else {
        fabric.hookNext(
            verbs -> verbs.size() > 0 && verbs.kind(0) == Kind.READ,
            posting -> {
              fabric.runTasks(); // while the session is in the middle of an operation
              posting.post();
            });
        assertThat(session.get(9)).isFalse();
        assertThat(fabric.unhook()).isOne();
      }
      assertThat(index.shares().deltaBytes()).isEqualTo(part);
      for (int i = 0; i < 1_000; i++) {
        session.put(random.nextLong(), i);
        fabric.runTasks();
      }
      assertThat(index.shares().deltaBytes()).isGreaterThan(left / 2 - 2 * part);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "off"})
  void shouldFollowTheDirectoryAsItGrowsAndShrinks(String move) {
    TreeMap<Long, Long> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(Seeds.of(1402));
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, options.with("shares-move", move));
        Session session = index.session()) {
      long part = index.shares().setAsideBytes();
      long all = total(index.shares());
      for (int i = 0; i < 12_000; i++) {
        long key = random.nextLong();
        session.put(key, ~key);
        model.put(key, ~key);
        fabric.runTasks();
        CacheShares shares = index.shares();
        assertThat(shares.directoryBytes()).as("%s", i).isLessThanOrEqualTo(shares.setAsideBytes());
        assertThat(shares.setAsideBytes()).isLessThan(shares.directoryBytes() + 3 * part);
        assertThat(total(shares)).isEqualTo(all);
      }
      long grown = index.shares().setAsideBytes();
      assertThat(grown).isGreaterThan(8 * part);
      checkSetAside(index);
      Entries.check(session, model, "inserted");

      for (long key : model.keySet().stream().mapToLong(key -> key).toArray()) {
        assertThat(session.remove(key)).isTrue();
        fabric.runTasks();
        CacheShares shares = index.shares();
        assertThat(shares.setAsideBytes()).isLessThan(shares.directoryBytes() + 3 * part);
      }
      assertThat(index.shares().setAsideBytes()).isLessThan(grown / 4);
      assertThat(total(index.shares())).isEqualTo(all);
      checkSetAside(index);
    }
  }

  /** What the caches need they keep; nothing is refused. */
  @Test
  void shouldGoOverTheBudgetWhereNoCacheCanGiveMore() {
    TreeMap<Long, Long> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(Seeds.of(1403));
    OrcaOptions least = options.withCacheBytes(options.cacheBytesMin());
    try (fabric) {
      try (OrcaIndex index = OrcaIndex.create(fabric, least);
          Session session = index.session()) {
        CacheShares before = index.shares();
        assertThat(before.recordBytes())
            .isEqualTo(before.deltaBytes())
            .isEqualTo(before.setAsideBytes());
        for (int i = 0; i < 3_000; i++) {
          long key = random.nextLong();
          session.put(key, ~key);
          model.put(key, ~key);
          fabric.runTasks();
        }
        CacheShares after = index.shares();
        assertThat(after.setAsideBytes()).isEqualTo(before.setAsideBytes());
        assertThat(after.directoryBytes()).isGreaterThan(4 * after.setAsideBytes());
        assertThat(index.audit()).isEmpty();
        Entries.check(session, model, "over the budget");
      }
      // Opened anew, it would be over the budget from the start.
      assertThatThrownBy(() -> least.join(fabric, 0, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cache-bytes=" + least.cacheBytes());
    }
  }

  private static long needed(Throwable failure) {
    assertThat(failure).isInstanceOf(IllegalArgumentException.class);
    Matcher matcher = NEEDED.matcher(failure.getMessage());
    assertThat(matcher.find()).as(failure.getMessage()).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  private long usedBytes() {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  /** Clusters of keys, too, whose leaves have heads of several bytes. */
  private static NavigableMap<Long, Long> entries(String keys) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1404));
    NavigableMap<Long, Long> entries = Entries.random(random, 5_000);
    if (keys.equals("clustered")) {
      for (long first : entries.keySet().stream().limit(100).toList()) {
        for (int i = 1; i < 60; i++) {
          entries.put(first + i, random.nextLong());
        }
      }
    }
    return entries;
  }

  @ParameterizedTest
  @CsvSource({
    "random,    4096, 1",
    "random,    512,  1",
    "random,    512,  3",
    "clustered, 4096, 1",
    "clustered, 1024, 2",
  })
  void shouldLoadOnlyWhatLeavesTheCachesTheirLeast(String keys, int nodeBytes, int servers) {
    NavigableMap<Long, Long> model = entries(keys);
    OrcaOptions small =
        options
            .withNodeBytes(nodeBytes)
            .withComputeServers(servers)
            .withCacheBytes(options.cacheBytesMin());
    try (fabric) {
      long needed;
      try (OrcaIndex index = OrcaIndex.create(fabric, small);
          Session session = index.session()) {
        int memories = fabric.openMemories();
        long used = usedBytes();
        needed = needed(catchThrowable(() -> index.bulkLoad(Entries.of(model), 0.7)));
        assertThat(needed).isGreaterThan(small.cacheBytes());
        assertThat(fabric.openMemories()).isEqualTo(memories);
        assertThat(usedBytes()).isEqualTo(used);
        // The index is as it was: without entries, and of use.
        assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
        session.put(1, 1);
        assertThat(session.remove(1)).isTrue();
        assertThat(index.audit()).isEmpty();
      }
      load(small.withCacheBytes(needed - 1), model, needed);
      load(small.withCacheBytes(needed), model, 0);
    }
  }

  /**
   * Joins with another cache, and loads: fails if it needs another one, and leaves nothing then.
   */
  private void load(OrcaOptions opened, NavigableMap<Long, Long> model, long needed) {
    int memories = fabric.openMemories();
    try (OrcaIndex index = opened.join(fabric, 0, opened.computeServers())) {
      if (needed > 0) {
        Throwable failure = catchThrowable(() -> index.bulkLoad(Entries.of(model), 0.7));
        assertThat(needed(failure)).isEqualTo(needed);
      } else {
        index.bulkLoad(Entries.of(model), 0.7);
        checkSetAside(index);
        try (Session session = index.session()) {
          Entries.check(session, model, "loaded");
        }
      }
    }
    assertThat(fabric.openMemories()).isEqualTo(memories);
  }

  @Test
  void shouldJoinOnlyWhatLeavesTheCachesTheirLeast() {
    NavigableMap<Long, Long> model = entries("clustered");
    try (fabric) {
      try (OrcaIndex index = OrcaIndex.create(fabric, options)) {
        index.bulkLoad(Entries.of(model), 0.7);
      }
      int memories = fabric.openMemories();
      long used = usedBytes();
      long needed =
          needed(
              catchThrowable(
                  () -> options.withCacheBytes(options.cacheBytesMin()).join(fabric, 0, 1)));
      assertThat(fabric.openMemories()).isEqualTo(memories);
      OrcaOptions less = options.withCacheBytes(needed - 1);
      assertThat(needed(catchThrowable(() -> less.join(fabric, 0, 1)))).isEqualTo(needed);
      assertThat(fabric.openMemories()).isEqualTo(memories);
      assertThat(usedBytes()).isEqualTo(used);
      try (OrcaIndex index = options.withCacheBytes(needed).join(fabric, 0, 1);
          Session session = index.session()) {
        checkSetAside(index);
        Entries.check(session, model, "joined");
      }
    }
  }

  /** Compares the least memory with what parts there are. */
  @Test
  void shouldKnowTheLeastMemoryBesideADirectory() {
    try (fabric) {
      SplittableRandom random = new SplittableRandom(Seeds.of(1405));
      for (int i = 0; i < 2_000; i++) {
        long directory = 1 + random.nextLong(1L << random.nextInt(1, 24));
        long needed = CacheParts.bytesBeside(directory);
        assertThat(leftOf(needed, directory))
            .as("directory=%s", directory)
            .isGreaterThanOrEqualTo(2);
        assertThat(leftOf(needed - 1, directory)).as("directory=%s", directory).isLessThan(2);
        assertThat(leftOf(needed + random.nextInt(1, 10_000), directory)).isGreaterThanOrEqualTo(2);
      }
    }
  }

  /** Returns how many parts are left; none if there are no such parts. */
  private long leftOf(long bytes, long directory) {
    if (bytes < CacheParts.BYTES_MIN) {
      return 0;
    }
    try (CacheParts parts = CacheParts.create(fabric, bytes)) {
      return parts.count() - parts.partsFor(directory);
    }
  }
}
