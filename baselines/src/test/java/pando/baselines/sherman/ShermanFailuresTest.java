package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static pando.baselines.blink.HiddenLeaves.assertReadOrStalled;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.baselines.lock.LockTables;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Operations whose verbs fail half-way. */
@Tag("campaign")
@Timeout(300)
class ShermanFailuresTest {
  private static final long STEP = 10;
  private static final long HOLDER = (5L << LockTables.SESSION_BITS) | 7;

  private static MemoryServerLostException lost() {
    return new MemoryServerLostException("lost by a test");
  }

  private static ShermanOptions options(String system, String validation) {
    return ShermanOptions.of(system)
        .withComputeServers(2)
        .with("node-bytes", "192")
        .with("validation", validation)
        .with("cache-bytes", "64KiB")
        .with("lock-wait-millis", "20");
  }

  /** Returns so many entries, whose keys have gaps between them. */
  private static NavigableMap<Long, Long> entries(int count) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.rangeClosed(1, count).forEach(i -> entries.put(i * STEP, i));
    return entries;
  }

  private static Tree sound(HookedFabric fabric, ShermanOptions options) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    return tree;
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? session.value() : null;
  }

  private static boolean writesEntry(VerbList verbs) {
    return verbs.size() > 0
        && verbs.kind(0) == Kind.WRITE
        && verbs.length(0) == BLinkLayout.ENTRY_BYTES;
  }

  /** Tells whether verbs write a whole node. */
  private static boolean writesNode(VerbList verbs, long node) {
    return verbs.size() > 0
        && verbs.kind(0) == Kind.WRITE
        && verbs.remote(0) == node + BLinkLayout.IMAGE;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void shouldMakeALeafWholeBeforeItsLockIsLetGo(int written) {
    ShermanOptions options = options("sherman", "checksum");
    NavigableMap<Long, Long> model = entries(12);
    long key = 5 * STEP;
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 861));
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      fabric.hookNext(
          ShermanFailuresTest::writesEntry,
          update -> {
            assertThat(update.verbs().size()).as("entry, checksum, unlock").isEqualTo(3);
            update.post(0, written);
            fabric.hookNext(
                verbs -> verbs.size() == 1 && verbs.kind(0) == Kind.MASKED_CAS,
                unlock -> {
                  assertThat(get(other, key)).as("before the unlock").isEqualTo(-1);
                  unlock.post();
                });
            throw new UnknownOutcomeException("broken by a test: done=" + written);
          });
      assertThatThrownBy(() -> session.put(key, -1)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isOne();
      model.put(key, -1L);
      assertThat(get(other, key)).isEqualTo(-1);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  @ParameterizedTest
  @CsvSource({"sherman, lines", "sherman, checksum", "sherman, versions", "fg, checksum"})
  void shouldLeaveALockAloneThatAnotherHasMeanwhile(String system, String validation) {
    ShermanOptions options = options(system, validation);
    NavigableMap<Long, Long> model = entries(12);
    long key = 5 * STEP;
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 862));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      long leaf = pokes.path(key)[0];
      int verbs = options.combine() ? options.entryWrites() ? 2 : 1 : 2;
      fabric.breakAfter(
          verbs + (validation.equals("checksum") && options.entryWrites() ? 1 : 0),
          () -> {
            pokes.setLock(leaf, HOLDER);
            return lost();
          });
      assertThatThrownBy(() -> session.put(key, -1)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isOne();
      assertThatThrownBy(() -> session.put(key, -1))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("holder=computeServer 4 session 7");
      pokes.setLock(leaf, 0);
      model.put(key, -1L);
      assertThat(get(session, key)).isEqualTo(-1);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Changes, each with what becomes of an entry. */
  enum Change {
    REPLACE(5 * STEP, -1L),
    ADD(5 * STEP + 1, -1L),
    ADD_IF_ABSENT(5 * STEP + 1, -1L),
    UPDATE(5 * STEP, -1L),
    REMOVE(5 * STEP, null),
    SPLIT(2 * STEP + 1, -1L),
    SPLIT_AND_MOVE(3 * STEP + 1, -1L),
    MERGE(3 * STEP, null),
    GROW(36 * STEP + 1, -1L);

    private final long key;
    private final @Nullable Long after;

    Change(long key, @Nullable Long after) {
      this.key = key;
      this.after = after;
    }

    /** Returns the entries before: so many that six leaves are full, and all below one root. */
    private NavigableMap<Long, Long> entries() {
      return ShermanFailuresTest.entries(this == GROW ? 36 : 12);
    }

    private double fill() {
      return this == GROW ? 1 : 0.5;
    }

    /** Fills the first leaf, or leaves one entry in it. */
    private void prepare(Session session, NavigableMap<Long, Long> model) {
      for (long other = 1; other <= 3; other++) {
        if (this == MERGE && other < 3) {
          session.remove(other * STEP);
          model.remove(other * STEP);
        } else if (this == SPLIT || this == SPLIT_AND_MOVE) {
          session.put(other, other);
          model.put(other, other);
        }
      }
    }

    private void run(Session session) {
      switch (this) {
        case REPLACE, ADD, SPLIT, SPLIT_AND_MOVE, GROW -> session.put(key, -1);
        case ADD_IF_ABSENT -> session.putIfAbsent(key, -1);
        case UPDATE -> session.update(key, -1);
        case REMOVE, MERGE -> session.remove(key);
      }
    }

    private void run(NavigableMap<Long, Long> model) {
      if (after == null) {
        model.remove(key);
      } else {
        model.put(key, after);
      }
    }
  }

  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource({
    "sherman, lines,    1", "sherman, checksum, 1", "sherman, versions, 1",
    "sherman, lines,    2", "sherman, checksum, 2", "sherman, versions, 2",
    "fg,      checksum, 2", "p-sherman, lines, 2",
  })
  void shouldTellOfAnOutcomeThatNobodyKnows(String system, String validation, int memoryServers) {
    ShermanOptions options = options(system, validation);
    for (Change change : Change.values()) {
      int writes = 0;
      while (breaks(options, change, memoryServers, writes)) {
        writes++;
      }
      assertThat(writes).as("%s", change).isPositive();
    }
  }

  /** Breaks a change after so many WRITEs; {@code false} where it has no more. */
  private static boolean breaks(
      ShermanOptions options, Change change, int memoryServers, int writes) {
    String what = change + " after " + writes + " WRITEs";
    NavigableMap<Long, Long> model = change.entries();
    try (HookedFabric fabric = new HookedFabric(Pools.open(memoryServers, 8 << 20, 863));
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), change.fill());
      change.prepare(session, model);
      @Nullable Long before = model.get(change.key);
      fabric.breakAfter(writes, ShermanFailuresTest::lost);
      Throwable failure = catchThrowable(() -> change.run(session));
      boolean broke = fabric.unhook() > 0;
      @Nullable Long found = get(other, change.key);
      if (failure == null) {
        assertThat(found).as(what).isEqualTo(change.after);
      } else if (failure instanceof UnknownOutcomeException) {
        assertThat(found).as(what).isIn(before, change.after);
      } else {
        assertThat(failure).as(what).isInstanceOf(MemoryServerLostException.class);
        assertThat(found).as(what).isEqualTo(before);
      }
      assertThat(get(session, change.key)).as(what).isEqualTo(found);
      model.forEach((key, value) -> {
        if (key != change.key) {
          assertThat(get(other, key)).as("%s: key %d", what, key).isEqualTo(value);
        }
      });
      change.run(session);
      change.run(model);
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).as(what).isEmpty();
      assertThat(tree.entries()).as(what).isEqualTo(model);
      return broke;
    }
  }

  @Test
  void shouldTellOfAnEntryThatIsStoredWhereASplitAboveItFails() {
    ShermanOptions options = options("sherman", "checksum");
    SplittableRandom random = new SplittableRandom(Seeds.of(866));
    Map<Long, Long> model = new HashMap<>();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 128 << 10, 866));
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      // A new node is written alone where its memory server is another, as the first is full.
      fabric.hookEach(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == Kind.WRITE
                  && verbs.length(0) > BLinkLayout.LINE_BYTES,
          write -> {
            if (random.nextInt(3) == 0) {
              throw lost();
            }
            write.post();
          });
      boolean full = false;
      while (!full) {
        long key = random.nextLong();
        Throwable failure = catchThrowable(() -> session.put(key, key));
        full = failure instanceof PoolFullException;
        if (failure instanceof UnknownOutcomeException ? session.get(key) : failure == null) {
          model.put(key, key);
        }
        assertThat(get(session, key)).as("%s", failure).isEqualTo(model.get(key));
      }
      assertThat(fabric.unhook()).isPositive();
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** The nodes of a merge, in the order in which they are written. */
  enum Merged {
    RIGHT,
    LEFT,
    PARENT
  }

  @ParameterizedTest(name = "{0} takesEffect={1}")
  @CsvSource({
    "LEFT,   false", "LEFT,   true",
    "PARENT, false", "PARENT, true",
    "RIGHT,  false", "RIGHT,  true",
  })
  void shouldKeepTheNodesOfAMergeLockedThatCannotEnd(Merged merged, boolean takesEffect) {
    ShermanOptions options = options("sherman", "checksum");
    NavigableMap<Long, Long> model = entries(12);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 864));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      Change.MERGE.prepare(session, model);
      long[] path = pokes.path(Change.MERGE.key);
      long right = pokes.path(4 * STEP)[0];
      long node =
          switch (merged) {
            case LEFT -> path[0];
            case PARENT -> path[1];
            case RIGHT -> right;
          };
      long pool = index.poolBytes();
      fabric.hookEach(
          verbs -> writesNode(verbs, node),
          write -> {
            if (takesEffect) {
              write.post();
            }
            throw lost();
          });
      assertThatThrownBy(() -> Change.MERGE.run(session))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasRootCauseInstanceOf(StalledException.class)
          .hasStackTraceContaining("keeps its nodes locked");
      assertThat(fabric.unhook()).isGreaterThan(1);
      Change.MERGE.run(model);
      assertThat(index.poolBytes()).as("a place that may be linked is not free").isEqualTo(pool);
      for (Session each : new Session[] {session, other}) {
        model.forEach((key, value) -> assertReadOrStalled(each, key, value));
        for (long locked : new long[] {STEP, 4 * STEP}) {
          assertThatThrownBy(() -> each.put(locked, -1)).isInstanceOf(StalledException.class);
        }
        assertThat(each.put(12 * STEP, -1)).isTrue();
        model.put(12 * STEP, -1L);
      }
    }
  }

  @ParameterizedTest(name = "takesEffect={0}")
  @ValueSource(booleans = {false, true})
  void shouldKnowItsRootWhereAChangeOfItIsNotAnswered(boolean takesEffect) {
    ShermanOptions options = options("sherman", "lines").with("merged-share", "1");
    NavigableMap<Long, Long> model = entries(500);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 865));
        ShermanPokes pokes = new ShermanPokes(fabric, options);
        ShermanIndex index = ShermanIndex.create(fabric, options);
        Session session = index.session()) {
      assertThat(pokes.path(0)).hasSize(2);
      long[] failed = {0};
      fabric.hookEach(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == Kind.CAS
                  && verbs.remote(0) == GlobalAddress.of(0, 128),
          change -> {
            long root = change.verbs().operand(0, 0);
            boolean fails = failed[0] != root;
            failed[0] = root;
            if (!fails || takesEffect) {
              change.post();
            }
            if (fails) {
              throw lost();
            }
          });
      model.forEach(session::put);
      int height = pokes.path(0).length;
      assertThat(height).isGreaterThan(3);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
      assertThat(sound(fabric, options).bytes()).isEqualTo(index.poolBytes());
      model.keySet().forEach(session::remove);
      assertThat(fabric.unhook()).isGreaterThan(height);
      assertThat(pokes.path(0)).hasSizeLessThan(height);
      Tree tree = sound(fabric, options);
      assertThat(tree.entries()).isEmpty();
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    }
  }

  @ParameterizedTest
  @CsvSource({"sherman, lines", "sherman, checksum", "sherman, versions", "p-sherman, lines"})
  void shouldTellOfAnOutcomeWhereNewNodesGoToAnotherMemoryServer(String system, String validation) {
    ShermanOptions options = options(system, validation);
    SplittableRandom random = new SplittableRandom(Seeds.of(867));
    NavigableMap<Long, Long> model = new TreeMap<>();
    int failures = 0;
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 1 << 20, 867))) {
      fillAllButAChunk(fabric);
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session();
          Session other = index.session()) {
        while (model.size() < 3_000) {
          long key = random.nextLong();
          fabric.breakAfter(random.nextInt(12), ShermanFailuresTest::lost);
          Throwable failure = catchThrowable(() -> session.put(key, -key));
          failures += fabric.unhook();
          if (failure != null && !(failure instanceof UnknownOutcomeException)) {
            assertThat(get(other, key)).as("%s: key %d", failure, key).isNull();
          }
          session.put(key, -key);
          model.put(key, -key);
        }
      }
      assertThat(failures).isGreaterThan(500);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Leaves room at one of two memory servers for so few nodes that splits go on to the other. */
  private static void fillAllButAChunk(HookedFabric fabric) {
    int chunk = 64 << 10;
    NodeAllocator filler = new NodeAllocator(2, chunk);
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      long last = filler.allocate(worker, 0, 0);
      for (long node = last; GlobalAddress.server(node) == 0; ) {
        last = node;
        node = filler.allocate(worker, 0, 0);
      }
      filler.free(worker, 0, last);
      filler.trim(worker, 0);
    }
  }

  @Test
  void shouldLetGoOfTheLockOfAChangeWhoseTakingIsNotAnswered() {
    ShermanOptions options = options("sherman", "lines");
    NavigableMap<Long, Long> model = entries(12);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 868));
        ShermanIndex index = ShermanIndex.create(fabric, options)) {
      fabric.hookNext(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == Kind.CAS
                  && verbs.remote(0) == GlobalAddress.of(0, 192),
          taking -> {
            taking.post();
            throw new UnknownOutcomeException("not answered, by a test");
          });
      assertThatThrownBy(() -> index.bulkLoad(Entries.of(model), 0.5))
          .isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isOne();
      index.bulkLoad(Entries.of(model), 0.5);
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }
}
