package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.server.CallFailedException;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Threads;

/** Memory moves between records and deltas, and nothing is lost meanwhile. */
@Timeout(300)
class OrcaSharesTest {
  private static final int POOL_BYTES = 32 << 20;
  private static final int CACHE_BYTES = 128 << 10;
  private static final OrcaOptions OPTIONS =
      ((OrcaOptions) OrcaOptions.ORCA.tiny())
          .withNodeBytes(2048)
          .withCacheBytes(CACHE_BYTES)
          .with("shares-move", "on")
          .with("delta-changes", "255")
          .withComputeServers(1);

  private final TreeMap<Long, Long> model = new TreeMap<>();
  private final SplittableRandom random = new SplittableRandom(Seeds.of(2301));
  private final Fabric pool = Pools.open(2, POOL_BYTES, 1);
  private final HookedFabric fabric = new HookedFabric(pool).withTasksByHand();

  private void insert(Session session, int count) {
    for (int i = 0; i < count; i++) {
      long key = random.nextLong();
      session.put(key, ~key);
      model.put(key, ~key);
      fabric.runTasks();
    }
  }

  /** Updates and looks keys up that do not all fit the cache. */
  private void use(Session session, int count) {
    List<Long> keys = new ArrayList<>(model.keySet()).subList(0, 12_000);
    for (int i = 0; i < count; i++) {
      long key = keys.get(Math.min(random.nextInt(keys.size()), random.nextInt(keys.size())));
      if (random.nextInt(4) == 0) {
        session.put(key, i);
        model.put(key, (long) i);
      } else {
        assertThat(session.get(key)).isTrue();
        assertThat(session.value()).isEqualTo(model.get(key));
      }
      fabric.runTasks();
    }
  }

  private void checkAll(Session session) {
    for (Map.Entry<Long, Long> entry : model.entrySet()) {
      assertThat(session.get(entry.getKey())).isTrue();
      assertThat(session.value()).isEqualTo(entry.getValue());
    }
  }

  @Tag("campaign")
  @Test
  void shouldMoveMemoryToWhereItSavesMore() {
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, OPTIONS.with("filters", "off"));
        Session session = index.session()) {
      CacheShares before = index.shares();
      assertThat(before.recordBytes() + before.deltaBytes()).isBetween(120_000L, 128L << 10);
      insert(session, 20_000);
      CacheShares inserted = index.shares();
      assertThat(inserted.deltaBytes()).isGreaterThan(2 * before.deltaBytes());
      assertThat(index.audit()).isEmpty();
      use(session, 60_000);
      CacheShares used = index.shares();
      assertThat(used.deltaBytes()).isLessThan(inserted.deltaBytes() / 4);
      assertThat(used.moves().failed()).isZero();
      assertThat(used.moves().done()).isGreaterThan(20);
      assertThat(index.audit()).isEmpty();
      checkAll(session);
    }
  }

  @Tag("campaign")
  @Test
  void shouldMoveMemoryToFiltersWhereKeysAreInserted() {
    OrcaOptions large = OPTIONS.withCacheBytes(8 * OPTIONS.cacheBytes());
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, large);
        Session session = index.session()) {
      insert(session, 60_000);
      assertThat(index.shares().imageBytes()).isPositive();
      assertThat(index.audit()).isEmpty();
      long reads = index.verbs().reads;
      insert(session, 1_000);
      assertThat(index.verbs().reads - reads).as("READs of 1,000 inserts").isLessThan(500);
      checkAll(session);
    }
  }

  @Test
  void shouldMoveMemoryToImagesWhereOnlyNeighboursAreAskedFor() {
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, OPTIONS.with("filters", "off"));
        Session session = index.session()) {
      model.putAll(Entries.random(random, 5_000));
      index.bulkLoad(Entries.of(model), 0.7);
      assertThat(index.shares().imageBytes()).isZero();
      for (int i = 0; i < 20_000; i++) {
        long key = random.nextLong();
        assertThat(session.floor(key)).isEqualTo(model.floorKey(key) != null);
        fabric.runTasks();
      }
      assertThat(index.shares().imageBytes()).isGreaterThan(CACHE_BYTES / 2);
      assertThat(index.audit()).isEmpty();
      checkAll(session);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"segments", "leaves"})
  void shouldMoveMemoryToImagesWhereTheyServeLookups(String cache) {
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, OPTIONS.with("cache", cache));
        Session session = index.session()) {
      model.putAll(Entries.random(random, 12_000));
      index.bulkLoad(Entries.of(model), 0.7);
      use(session, 20_000);
      assertThat(index.shares().imageBytes()).isGreaterThan(CACHE_BYTES / 2);
      assertThat(index.audit()).isEmpty();
      checkAll(session);
    }
  }

  @Test
  void shouldStayWhereTheyAreIfTheyDoNotMove() {
    OrcaOptions fixed = OPTIONS.with("shares-move", "off");
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, fixed);
        Session session = index.session()) {
      CacheShares before = index.shares();
      insert(session, 2_000);
      CacheShares after = index.shares();
      assertThat(after.deltaBytes()).isEqualTo(before.deltaBytes());
      assertThat(after.imageBytes()).isEqualTo(before.imageBytes());
      // The directory has grown.
      long taken = after.setAsideBytes() - before.setAsideBytes();
      assertThat(after.recordBytes()).isEqualTo(before.recordBytes() - taken);
      assertThat(after.moves().done()).isEqualTo(taken / before.setAsideBytes());
      assertThat(before.deltaBytes() * 4).isBetween(before.recordBytes() - 8_192, 128L << 10);
    }
  }

  /** Values that are newer than the leaf are written before their records move: that may fail. */
  @Tag("campaign")
  @Test
  void shouldLoseNothingWhereAMoveFails() {
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      breakMoves(index, session, new CallFailedException("broken by a test"), null);
      assertThat(index.shares().moves().failed()).isPositive();
    }
  }

  /**
   * A bug is thrown, for the task to end and for closing to say so, and is seen before. There are
   * no mergers: where it stops a merge half-way, it is the cause of a failure that they survive.
   */
  @Tag("campaign")
  @Test
  void shouldShowWhatEndsItsTask() {
    try (fabric;
        OrcaIndex index = OrcaIndex.create(fabric, OPTIONS.with("mergers", "0"));
        Session session = index.session()) {
      RuntimeException bug = new IllegalArgumentException("by a test");
      int broken = breakMoves(index, session, bug, bug);
      assertThat(index.shares().moves().failed()).isEqualTo(broken);
      assertThat(index.shares().moves().lastFailure()).isEqualTo(bug);
    }
  }

  /**
   * Has memory move while WRITEs of the task fail, and checks that nothing is lost.
   *
   * @param thrown what the task throws then
   * @return how many have failed
   */
  private int breakMoves(
      OrcaIndex index, Session session, RuntimeException failure, @Nullable Throwable thrown) {
    insert(session, 14_000);
    int broken = 0;
    for (int round = 0; round < 300; round++) {
      change(session, 100);
      int[] left = {random.nextInt(6)};
      fabric.hookNext(
          verbs -> isWrite(verbs) && left[0]-- == 0,
          _ -> {
            throw failure;
          });
      Throwable caught = catchThrowable(fabric::runTasks);
      int failed = fabric.unhook();
      assertThat(caught).isEqualTo(failed == 0 ? null : thrown);
      broken += failed;
    }
    assertThat(broken).isPositive();
    assertThat(index.shares().moves().done()).isPositive();
    assertThat(index.audit()).isEmpty();
    checkAll(session);
    return broken;
  }

  private static boolean isWrite(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE;
  }

  private void change(Session session, int count) {
    List<Long> keys = new ArrayList<>(model.keySet()).subList(0, 12_000);
    for (int i = 0; i < count; i++) {
      long key = keys.get(random.nextInt(keys.size()));
      session.put(key, i);
      model.put(key, (long) i);
    }
  }

  @Test
  void shouldAnswerRightWhileMemoryMoves() throws Exception {
    int threads = 4;
    OrcaOptions options = OPTIONS.withComputeServers(2);
    try (fabric;
        OrcaIndex index = OrcaIndex.create(pool, options)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int own = i;
        tasks.add(() -> {
          operate(index, own, threads);
          return null;
        });
      }
      Threads.run(tasks);
      assertThat(index.audit()).isEmpty();
      assertThat(index.shares().moves().done()).isPositive();
      assertThat(index.shares().moves().lastFailure()).isNull();
      assertThat(index.merges().done()).isPositive();
      assertThat(index.merges().lastFailure()).isNull();
    }
  }

  /** Works on the keys that belong to one thread, and checks each answer. */
  private static void operate(OrcaIndex index, int own, int threads) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2310 + own));
    TreeMap<Long, Long> expected = new TreeMap<>();
    try (Session session = index.session()) {
      for (int i = 0; i < Seeds.count(20_000, 100_000, 3_000_000); i++) {
        boolean inserts = i / 10_000 % 2 == 0;
        long key = mixed(random.nextInt(20_000) * (long) threads + own);
        Long before = expected.get(key);
        if (random.nextInt(8) < (inserts ? 6 : 1)) {
          assertThat(session.put(key, i)).isEqualTo(before != null);
          expected.put(key, (long) i);
        } else if (random.nextInt(20) == 0) {
          assertThat(session.remove(key)).isEqualTo(before != null);
          expected.remove(key);
        } else {
          assertThat(session.get(key)).isEqualTo(before != null);
          assertThat(before == null || session.value() == before).isTrue();
        }
      }
    }
  }

  private static long mixed(long number) {
    return number * 0x9E3779B97F4A7C15L;
  }
}
