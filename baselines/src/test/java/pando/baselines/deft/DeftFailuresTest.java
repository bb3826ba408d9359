package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static pando.baselines.blink.HiddenLeaves.assertReadOrStalled;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** Operations whose verbs fail half-way. */
@Tag("campaign")
@Timeout(100)
class DeftFailuresTest {
  private static final long STEP = 100;
  private static final int NODE_BYTES = 448;
  private static final int KEYS_MAX = 2_000;

  private static MemoryServerLostException lost() {
    return new MemoryServerLostException("lost by a test");
  }

  private static DeftOptions options(String validation, String sxLocks) {
    return DeftOptions.defaults()
        .withComputeServers(2)
        .with("node-bytes", Integer.toString(NODE_BYTES))
        .with("sx-locks", sxLocks)
        .with("validation", validation)
        .with("merged-share", "0.7")
        .with("cache-bytes", "64KiB")
        .with("lock-wait-millis", "20");
  }

  /** Returns so many entries, whose keys have gaps between them. */
  private static NavigableMap<Long, Long> entries(int count) {
    NavigableMap<Long, Long> entries = new TreeMap<>();
    LongStream.rangeClosed(1, count).forEach(i -> entries.put(i * STEP, i));
    return entries;
  }

  private static Tree sound(HookedFabric fabric, DeftOptions options, String what) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).as(what).isEmpty();
    return tree;
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? session.value() : null;
  }

  private static int nodesWritten(VerbList verbs) {
    int written = 0;
    for (int i = 0; i < verbs.size(); i++) {
      written += verbs.kind(i) == Kind.WRITE && verbs.length(i) == NODE_BYTES ? 1 : 0;
    }
    return written;
  }

  /** Tells whether a list takes a ticket: one of which nobody knows is left, by contract. */
  private static boolean takesTicket(VerbList verbs) {
    long addend = verbs.kind(0) == Kind.MASKED_FAA ? verbs.operand(0, 0) : 0;
    return addend == SxWord.TAKE_SHARED
        || addend == SxWord.TAKE_EXCLUSIVE
        || addend == SxWord.UPGRADE;
  }

  /** Tells whether a list has something that changes the pool, be it a lock. */
  private static boolean changes(VerbList verbs) {
    if (verbs.size() == 0 || takesTicket(verbs)) {
      return false;
    }
    for (int i = 0; i < verbs.size(); i++) {
      if (verbs.kind(i) != Kind.READ) {
        return true;
      }
    }
    return false;
  }

  /** Changes of one entry, by what they do to the tree. */
  enum Change {
    REPLACE,
    ADD,
    UPDATE,
    REMOVE,
    SPLIT,
    SPLIT_OF_TWO_LEVELS,
    GROWTH,
    MERGE,
    MERGE_OF_TWO_LEVELS,
    SHRINKING;

    private boolean removes() {
      return switch (this) {
        case REMOVE, MERGE, MERGE_OF_TWO_LEVELS, SHRINKING -> true;
        default -> false;
      };
    }

    private NavigableMap<Long, Long> entries() {
      return DeftFailuresTest.entries(
          switch (this) {
            case GROWTH -> 1;
            case SHRINKING -> 100;
            default -> 400;
          });
    }

    /** Returns the keys to change one after the other until one is such a change. */
    private List<Long> keys() {
      List<Long> keys = new ArrayList<>();
      switch (this) {
        case REPLACE, UPDATE, REMOVE -> keys.add(50 * STEP);
        case ADD -> keys.add(50 * STEP + 1);
        case MERGE, MERGE_OF_TWO_LEVELS, SHRINKING ->
            LongStream.rangeClosed(1, entries().size()).forEach(i -> keys.add(i * STEP));
        default ->
            LongStream.range(1, KEYS_MAX)
                .map(i -> 50 * STEP + i)
                .filter(key -> key % STEP > 0)
                .forEach(keys::add);
      }
      return keys;
    }

    private boolean isIt(int nodesWritten, int levelsMore) {
      return switch (this) {
        case REPLACE, ADD, UPDATE, REMOVE -> true;
        case SPLIT, MERGE -> nodesWritten == 3;
        case SPLIT_OF_TWO_LEVELS, MERGE_OF_TWO_LEVELS -> nodesWritten >= 6 && levelsMore == 0;
        case GROWTH -> levelsMore > 0;
        case SHRINKING -> levelsMore < 0;
      };
    }

    private void run(Session session, long key, long value) {
      if (removes()) {
        session.remove(key);
      } else if (this == UPDATE) {
        session.update(key, value);
      } else {
        session.put(key, value);
      }
    }

    private void run(NavigableMap<Long, Long> model, long key, long value) {
      if (removes()) {
        model.remove(key);
      } else {
        model.put(key, value);
      }
    }

    /** Tells how many changes go before the one in question, by making them all. */
    private int countBefore(DeftOptions options) {
      try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 971));
          DeftPokes pokes = new DeftPokes(fabric, options);
          DeftIndex index = DeftIndex.create(fabric, options);
          Session session = index.session()) {
        index.bulkLoad(Entries.of(entries()), 0.5);
        int[] written = {0};
        int before = 0;
        for (long key : keys()) {
          int levels = pokes.path(key).length;
          written[0] = 0;
          fabric.hookEach(
              verbs -> true,
              posting -> {
                written[0] += nodesWritten(posting.verbs());
                posting.post();
              });
          run(session, key, -1);
          fabric.unhook();
          if (isIt(written[0], pokes.path(key).length - levels)) {
            return before;
          }
          before++;
        }
        throw new AssertionError("does not happen: " + this);
      }
    }
  }

  /** What is left of a list of verbs that fails. */
  enum Break {
    /** None of it takes effect, and whoever posted it is told so. */
    LOST,
    /** All of it takes effect, and nobody is told. */
    DONE_AND_UNKNOWN,
    /** None of it takes effect, and nobody is told. */
    NOTHING_AND_UNKNOWN,
    /** All but the last takes effect. */
    ALL_BUT_ONE_LOST;

    private void happen(HookedFabric.Posting posting) {
      switch (this) {
        case LOST -> throw lost();
        case DONE_AND_UNKNOWN -> {
          posting.post();
          throw new UnknownOutcomeException("done, not answered");
        }
        case NOTHING_AND_UNKNOWN -> throw new UnknownOutcomeException("not done, not answered");
        case ALL_BUT_ONE_LOST -> {
          posting.postFirst(posting.verbs().size() - 1);
          throw lost();
        }
      }
    }
  }

  /**
   * Breaks a change at each of its lists of verbs in turn, but for those that take a ticket. The
   * entry is as before or as after, what else there is stays, whoever comes after can do the same
   * again, and the tree is sound.
   */
  @ParameterizedTest(name = "{0} {1} {2}")
  @CsvSource({
    "LOST,             opdv,     on", "ALL_BUT_ONE_LOST, opdv,     on",
    "LOST,             versions, on", "LOST,             checksum, on",
    "LOST,             checksum, off", "ALL_BUT_ONE_LOST, checksum, on",
    "DONE_AND_UNKNOWN, opdv,     off", "NOTHING_AND_UNKNOWN, opdv, off",
  })
  void shouldLoseNothingWhereverAChangeBreaks(Break how, String validation, String sxLocks) {
    DeftOptions options = options(validation, sxLocks);
    for (Change change : Change.values()) {
      int before = change.countBefore(options);
      int broken = 0;
      while (breaks(options, change, how, before, broken)) {
        broken++;
      }
      assertThat(broken).as("%s", change).isPositive();
    }
  }

  /** Breaks a change at one of its lists; {@code false} where it has no more. */
  private static boolean breaks(
      DeftOptions options, Change change, Break how, int before, int list) {
    String what = change + " " + how + " at list " + list;
    NavigableMap<Long, Long> model = change.entries();
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 971));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      List<Long> keys = change.keys();
      for (long key : keys.subList(0, before)) {
        change.run(session, key, -1);
        change.run(model, key, -1);
      }
      long key = keys.get(before);
      @Nullable Long old = model.get(key);
      @Nullable Long after = change.removes() ? null : -2L;
      model.keySet().forEach(other::get);
      int[] left = {list};
      fabric.hookNext(verbs -> changes(verbs) && left[0]-- == 0, how::happen);
      Throwable failure = catchThrowable(() -> change.run(session, key, -2));
      boolean broke = fabric.unhook() > 0;
      @Nullable Long found = get(other, key);
      if (failure == null) {
        assertThat(found).as(what).isEqualTo(after);
      } else if (failure instanceof UnknownOutcomeException) {
        assertThat(found).as(what).isIn(old, after);
      } else {
        assertThat(failure).as(what).isInstanceOf(MemoryServerLostException.class);
        assertThat(found).as(what).isEqualTo(old);
      }
      assertThat(get(session, key)).as(what).isEqualTo(found);
      model.forEach((each, value) -> {
        if (each != key) {
          assertThat(get(other, each)).as("%s: key %d", what, each).isEqualTo(value);
        }
      });
      change.run(session, key, -3);
      change.run(model, key, -3);
      Tree tree = sound(fabric, options, what);
      assertThat(tree.entries()).as(what).isEqualTo(model);
      return broke;
    }
  }

  /** The nodes of a merge, in the order in which they are written. */
  enum Merged {
    RIGHT(0),
    LEFT(1),
    PARENT(2);

    private final int writesBefore;

    Merged(int writesBefore) {
      this.writesBefore = writesBefore;
    }
  }

  @ParameterizedTest(name = "{0} takesEffect={1}")
  @CsvSource({
    "RIGHT,  false", "RIGHT,  true",
    "LEFT,   false", "LEFT,   true",
    "PARENT, false", "PARENT, true",
  })
  void shouldKeepTheNodesOfAMergeLockedThatCannotEnd(Merged merged, boolean takesEffect) {
    DeftOptions options = options("opdv", "on");
    int before = Change.MERGE.countBefore(options);
    NavigableMap<Long, Long> model = Change.MERGE.entries();
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 971));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      List<Long> keys = Change.MERGE.keys();
      for (long key : keys.subList(0, before)) {
        session.remove(key);
        model.remove(key);
      }
      long pool = index.poolBytes();
      long removed = keys.get(before);
      int[] number = {0};
      long[] node = {GlobalAddress.NULL};
      fabric.hookEach(
          verbs ->
              nodesWritten(verbs) == 1
                  && (verbs.remote(0) == node[0] || number[0]++ == merged.writesBefore),
          write -> {
            node[0] = write.verbs().remote(0);
            if (takesEffect) {
              write.post();
            }
            throw lost();
          });
      assertThatThrownBy(() -> session.remove(removed))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasRootCauseInstanceOf(StalledException.class)
          .hasStackTraceContaining("keeps its nodes locked");
      assertThat(fabric.unhook()).isGreaterThan(1);
      model.remove(removed);
      assertThat(index.poolBytes()).as("a place that may be linked is not free").isEqualTo(pool);
      for (Session each : List.of(session, other)) {
        model.forEach((key, value) -> assertReadOrStalled(each, key, value));
        assertThatThrownBy(() -> each.put(removed, -1)).isInstanceOf(StalledException.class);
        long far = model.lastKey();
        assertThat(each.put(far, -1)).isTrue();
        model.put(far, -1L);
      }
    }
  }

  @ParameterizedTest(name = "takesEffect={0}")
  @ValueSource(booleans = {false, true})
  void shouldKnowItsRootWhereAChangeOfItIsNotAnswered(boolean takesEffect) {
    DeftOptions options = options("opdv", "on");
    NavigableMap<Long, Long> model = entries(KEYS_MAX);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 972));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
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
      assertThat(height).isGreaterThan(2);
      Tree grown = sound(fabric, options, "grown");
      assertThat(grown.entries()).isEqualTo(model);
      assertThat(grown.bytes()).isEqualTo(index.poolBytes());
      model.keySet().forEach(session::remove);
      assertThat(fabric.unhook()).isGreaterThanOrEqualTo(3);
      assertThat(pokes.path(0)).hasSizeLessThan(height);
      Tree tree = sound(fabric, options, "shrunk");
      assertThat(tree.entries()).isEmpty();
      assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    }
  }
}
