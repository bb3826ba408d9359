package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.EntryVisitor;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;
import pando.index.orca.leaf.LeafLayout;

/** What other sessions find and do in the middle of one session's operation. */
@Timeout(300)
class OrcaRacesTest {
  private static final long STEP = 1_000;
  private static final int ENTRIES = 500;
  private static final long KEY = 150 * STEP;
  private static final int LEAF_BYTES = 896;

  /** Changes of a leaf with which it is merged. */
  private static final int CHANGES = 4;

  /** Rounds of updates of other keys until nothing else is cached. */
  private static final int EVICTING = 4;

  private static final int EVICTED = 500;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);
  private final HookedFabric fabric =
      new HookedFabric(Pools.open(2, 4 << 20, 1311)).withTasksByHand();
  private OrcaOptions options =
      OrcaOptions.defaults()
          .withComputeServers(1)
          .withNodeBytes(LEAF_BYTES)
          .withCacheBytes(16 << 10)
          .with("neighbours", "off")
          .with("page-children", "4")
          .with("delta-changes", Integer.toString(CHANGES))
          .with("lock-wait-millis", "2");

  @SuppressWarnings("NullAway.Init") // Set by open.
  private OrcaIndex index;

  @SuppressWarnings("NullAway.Init") // Set by open.
  private Session session;

  @SuppressWarnings("NullAway.Init") // Set by open.
  private Session other;

  private void open() {
    index = OrcaIndex.create(fabric, options);
    index.bulkLoad(Entries.of(model), 0.5);
    session = index.session();
    other = index.session();
  }

  @AfterEach
  void check() {
    fabric.unhook();
    Entries.check(other, model, "in the end");
    assertThat(index.audit()).isEmpty();
    evict(other);
    Entries.check(session, model, "evicted");
    assertThat(index.audit()).isEmpty();
    session.close();
    other.close();
    index.close();
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
    fabric.close();
  }

  // What the other session does.

  /** Adds keys below one until their leaf is merged, so that the key gets another slot. */
  private void merge(Session by, long key) {
    for (long added = key - CHANGES - 1; added < key; added++) {
      by.store(added, -added);
      model.put(added, -added);
    }
  }

  private void remove(Session by, long from, long to) {
    for (long key = from; key < to; key += STEP) {
      by.discard(key);
      model.remove(key);
    }
  }

  private void update(Session by, long key, long value) {
    assertThat(by.update(key, value)).isTrue();
    model.put(key, value);
  }

  /** Has what is cached of leaves near the key evicted, and what is newer written before. */
  private void evict(Session by) {
    for (int round = 0; round < EVICTING; round++) {
      new TreeMap<>(model.tailMap(KEY + 40 * STEP)).forEach(by::update);
    }
    LongStream.range(0, EVICTED).forEach(i -> by.get((ENTRIES + 1 + i) * STEP));
  }

  // Verbs in which it does so.

  private static boolean isRead(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.READ;
  }

  private static boolean readsLeaf(VerbList verbs) {
    return isRead(verbs) && verbs.length(0) > LeafLayout.SEGMENT_BYTES;
  }

  private static boolean writesLeaf(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE && verbs.length(0) > Long.BYTES;
  }

  private static boolean writesValues(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE && verbs.length(0) == Long.BYTES;
  }

  private void before(Predicate<VerbList> verbs, Runnable meanwhile, Runnable operation) {
    at(verbs, meanwhile, () -> {}, operation);
  }

  private void behind(Predicate<VerbList> verbs, Runnable meanwhile, Runnable operation) {
    at(verbs, () -> {}, meanwhile, operation);
  }

  private void at(Predicate<VerbList> verbs, Runnable before, Runnable behind, Runnable operation) {
    fabric.hookNext(
        verbs,
        posting -> {
          before.run();
          posting.post();
          behind.run();
        });
    operation.run();
    assertThat(fabric.unhook()).isOne();
  }

  private void get(long key) {
    assertThat(Entries.get(session, key)).isEqualTo(model.get(key));
  }

  /** Asserts that a session waits for another that has claimed the key. */
  private static void waitsForClaim(Runnable operation) {
    assertThatThrownBy(operation::run)
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("a key stays claimed by another session");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldNotCacheASlotThatAMergeHasMoved(boolean behind) {
    open();
    Runnable merge = () -> merge(other, KEY);
    at(OrcaRacesTest::isRead, behind ? () -> {} : merge, behind ? merge : () -> {}, () -> get(KEY));
    update(session, KEY, -7);
    evict(session);
    get(KEY);
  }

  /** Merges move the slots of cached records, which no merge has looked for. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void shouldWriteUpdatesToTheSlotsThatMergesHaveMoved(int merges) {
    options = options.with("delta-changes", "1");
    open();
    for (int i = 0; i < merges; i++) {
      get(KEY + i * STEP);
      other.store(KEY - 2L * i - 1, i);
      model.put(KEY - 2L * i - 1, (long) i);
      other.store(KEY - 2L * i - 2, i);
      model.put(KEY - 2L * i - 2, (long) i);
    }
    for (int i = 0; i < merges; i++) {
      update(session, KEY + i * STEP, -7 - i);
    }
    evict(session);
    for (int i = 0; i < merges; i++) {
      get(KEY + i * STEP);
    }
  }

  @Test
  void shouldScanWhatIsUpdatedWhileItsLeafIsMerged() {
    open();
    get(KEY);
    before(OrcaRacesTest::writesLeaf, () -> update(other, KEY, -7), () -> merge(session, KEY));
    scan(KEY - 10 * STEP, KEY + 10 * STEP);
  }

  @Test
  void shouldScanWhatIsUpdatedInTheDeltaWhileItIsMerged() {
    open();
    session.store(KEY + 1, 1);
    model.put(KEY + 1, 1L);
    before(OrcaRacesTest::writesLeaf, () -> update(other, KEY + 1, 2), () -> merge(session, KEY));
    scan(KEY - 10 * STEP, KEY + 10 * STEP);
    evict(session);
    get(KEY + 1);
  }

  @Test
  void shouldReadAgainWhereTheExtentIsAnotherLeafsByNow() {
    open();
    before(
        OrcaRacesTest::isRead,
        () -> {
          for (int round = 0; round < 4; round++) {
            for (long key = 10 * STEP; key < ENTRIES * STEP; key += 10 * STEP) {
              merge(other, key - (long) round * (CHANGES + 2));
            }
          }
        },
        () -> get(KEY));
  }

  /** Where leaves begin is not known: in one of the cases the leaf before the key's is emptied. */
  @ParameterizedTest
  @ValueSource(ints = {8, 12, 16, 20, 24, 28, 32})
  void shouldReadAgainWhereTheLeafWasJoinedToTheOneBeforeIt(int before) {
    open();
    long key = KEY - before * STEP;
    before(
        OrcaRacesTest::isRead,
        () -> {
          remove(other, key - 40 * STEP, key);
          // Merges that take no entry, but space.
          for (int round = 0; round < 8; round++) {
            for (long moved = KEY + 10 * STEP; moved < ENTRIES * STEP; moved += 2 * STEP) {
              other.discard(moved + round);
              model.remove(moved + round);
              other.store(moved + round + 1, round);
              model.put(moved + round + 1, (long) round);
            }
          }
        },
        () -> get(key));
  }

  @Test
  void shouldMoveNoSlotWhileAValueIsWrittenToIt() {
    open();
    List<Throwable> failures = new ArrayList<>();
    fabric.hookEach(
        OrcaRacesTest::writesValues,
        values -> {
          long key = KEY + 100 * STEP - 10L * failures.size();
          failures.add(catchThrowable(() -> merge(other, key)));
          values.post();
        });
    evict(session);
    fabric.unhook();
    assertThat(failures).anyMatch(failure -> failure instanceof StalledException);
  }

  @Test
  void shouldKeepAnUpdateOfAValueThatIsBeingWritten() {
    open();
    long[] value = {-7};
    update(session, KEY, value[0]);
    fabric.hookEach(
        OrcaRacesTest::writesValues,
        values -> {
          update(other, KEY, --value[0]);
          evictSome(other);
          values.post();
        });
    evict(session);
    assertThat(fabric.unhook()).isPositive();
    get(KEY);
  }

  private void evictSome(Session by) {
    try {
      evict(by);
    } catch (StalledException e) {
      // Where all records of a bucket are being written there is no room for another.
      assertThat(e).hasMessageContaining("no record of a bucket can be evicted");
    }
  }

  @Test
  void shouldHaveOthersWaitForAClaimedKey() {
    open();
    before(
        OrcaRacesTest::isRead,
        () -> {
          waitsForClaim(() -> other.get(KEY));
          waitsForClaim(() -> other.put(KEY, 1));
          waitsForClaim(() -> other.store(KEY, 1));
          waitsForClaim(() -> other.remove(KEY));
        },
        () -> get(KEY));
  }

  @Test
  void shouldLetAnotherKeyOfTheLeafBeStoredBesideAPut() {
    open();
    before(
        OrcaRacesTest::isRead,
        () -> {
          waitsForClaim(() -> other.store(KEY + 1, 1));
          other.store(KEY + 2, 2);
          model.put(KEY + 2, 2L);
        },
        () -> assertThat(session.put(KEY + 1, 1)).isFalse());
    model.put(KEY + 1, 1L);
  }

  @Test
  void shouldNotCacheANeighbourThatIsRemovedMeanwhile() {
    options = options.withNeighbours(true);
    open();
    behind(OrcaRacesTest::isRead, () -> remove(other, KEY + STEP, KEY + 2 * STEP), () -> get(KEY));
    get(KEY + STEP);
  }

  @Test
  void shouldNotCacheANeighbourThatIsUpdatedAndEvictedMeanwhile() {
    options = options.withNeighbours(true).withTwin(false);
    open();
    behind(
        OrcaRacesTest::isRead,
        () -> {
          for (long key = KEY - 7 * STEP; key < KEY + 7 * STEP; key += STEP) {
            if (key != KEY) {
              update(other, key, -key);
            }
          }
          evict(other);
        },
        () -> get(KEY));
  }

  @Test
  void shouldScanWhatWasUpdatedBeforeItIsWrittenAndEvicted() {
    open();
    for (long key = KEY; key < KEY + 20 * STEP; key += STEP) {
      update(other, key, -key);
    }
    behind(OrcaRacesTest::isRead, () -> evict(other), () -> scan(KEY, KEY + 20 * STEP));
  }

  @Test
  void shouldScanWhatWasUpdatedInADeltaBeforeItIsEvicted() {
    open();
    other.store(KEY + 1, 1);
    update(other, KEY + 1, 2);
    model.put(KEY + 1, 2L);
    behind(OrcaRacesTest::isRead, () -> evict(other), () -> scan(KEY, KEY + 20 * STEP));
    update(other, KEY + 1, 3);
    scan(KEY, KEY + 20 * STEP);
  }

  @Test
  void shouldScanDownWhatWasUpdatedBeforeItIsWrittenAndEvicted() {
    open();
    for (long key = KEY; key < KEY + 20 * STEP; key += STEP) {
      update(other, key, -key);
    }
    behind(OrcaRacesTest::isRead, () -> evict(other), () -> scan(KEY + 20 * STEP, KEY));
  }

  /** What a leaf had is written over by others while it is looked at. */
  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void shouldLookAtLeavesInPlaceThatAreMergedAndWrittenOverMeanwhile(boolean behind, boolean down) {
    fabric.withViews();
    open();
    for (long key = KEY; key < KEY + 20 * STEP; key += 2 * STEP) {
      update(other, key, -key);
    }
    long from = down ? KEY + 20 * STEP : KEY;
    for (int round = 0; round < 20; round++) {
      long added = KEY + (3 + round) * STEP / 2 - 10L * round;
      meanwhile(
          behind,
          () -> {
            merge(other, added);
            merge(other, added + 10 * STEP);
            update(other, KEY, added);
            evict(other);
          },
          () -> scan(from, 2 * KEY + 20 * STEP - from));
      meanwhile(
          behind,
          () -> merge(other, added + 20 * STEP),
          () -> {
            floor(added - CHANGES - 2);
            ceiling(added + STEP / 3);
          });
    }
  }

  private void meanwhile(boolean behind, Runnable change, Runnable operation) {
    Runnable nothing = () -> {};
    at(OrcaRacesTest::isRead, behind ? nothing : change, behind ? change : nothing, operation);
  }

  private void floor(long key) {
    assertThat(session.floor(key)).isTrue();
    assertThat(session.key()).isEqualTo(model.floorKey(key));
    assertThat(session.value()).isEqualTo(model.floorEntry(key).getValue());
  }

  private void ceiling(long key) {
    assertThat(session.ceiling(key)).isTrue();
    assertThat(session.key()).isEqualTo(model.ceilingKey(key));
    assertThat(session.value()).isEqualTo(model.ceilingEntry(key).getValue());
  }

  /** A scan that is overtaken again and again holds the leaf. */
  @Test
  void shouldLookAtALeafInPlaceWhileItIsHeld() {
    fabric.withViews();
    open();
    int[] rounds = {0};
    fabric.hookEach(
        OrcaRacesTest::isRead,
        posting -> {
          if (rounds[0]++ < 2) {
            merge(other, KEY + 5 - 10L * rounds[0]);
          }
          posting.post();
        });
    scan(KEY - STEP, KEY + 20 * STEP);
    assertThat(fabric.unhook()).isGreaterThan(2);
  }

  /** Scans keys that do not change meanwhile: up or, from a key above the other, down. */
  private void scan(long from, long to) {
    List<Map.Entry<Long, Long>> seen = new ArrayList<>();
    EntryVisitor visitor = (key, value) -> seen.add(Map.entry(key, value));
    if (from > to) {
      session.scanDown(from, to, Long.MAX_VALUE, visitor);
    } else {
      session.scan(from, to, Long.MAX_VALUE, visitor);
    }
    NavigableMap<Long, Long> ordered = from > to ? model.descendingMap() : model;
    assertThat(seen).containsExactlyElementsOf(ordered.subMap(from, true, to, true).entrySet());
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void shouldScanEachKeyOnceWhileLeavesAreSplitAndJoined(boolean behind, boolean down) {
    open();
    Map<Long, Long> seen = new TreeMap<>();
    NavigableMap<Long, Long> steady = new TreeMap<>(model);
    Runnable change =
        () -> {
          for (int round = 0; round < 12; round++) {
            merge(other, KEY - 10L * round);
          }
          remove(other, KEY - 60 * STEP, KEY - 10 * STEP);
          steady.keySet().retainAll(model.keySet());
        };
    Predicate<VerbList> read = OrcaRacesTest::isRead;
    at(
        read,
        behind ? () -> {} : change,
        behind ? change : () -> {},
        () -> {
          EntryVisitor visitor =
              (key, value) -> {
                assertThat(seen.put(key, value)).as("key=%d", key).isNull();
                return true;
              };
          if (down) {
            session.scanDown(Long.MAX_VALUE, Long.MAX_VALUE, visitor);
          } else {
            session.scan(Long.MIN_VALUE, Long.MAX_VALUE, visitor);
          }
        });
    assertThat(seen).containsAllEntriesOf(steady);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldLookUpSeveralKeysWhileTheirLeavesAreMerged(boolean behind) {
    open();
    long[] keys = {KEY, KEY + 1, KEY - 20 * STEP, KEY + 20 * STEP};
    long[] values = new long[keys.length];
    boolean[] found = new boolean[keys.length];
    Runnable merge =
        () -> {
          merge(other, KEY);
          merge(other, KEY + 20 * STEP);
        };
    at(
        OrcaRacesTest::isRead,
        behind ? () -> {} : merge,
        behind ? merge : () -> {},
        () -> session.getAll(keys, 0, keys.length, values, found));
    for (int i = 0; i < keys.length; i++) {
      assertThat(found[i] ? values[i] : null).as("key=%d", keys[i]).isEqualTo(model.get(keys[i]));
    }
    update(session, KEY, -7);
    update(session, KEY + 20 * STEP, -7);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldFindTheFloorWhileLeavesAreJoined(boolean behind) {
    open();
    Runnable join = () -> remove(other, KEY - 60 * STEP, KEY);
    at(
        OrcaRacesTest::isRead,
        behind ? () -> {} : join,
        behind ? join : () -> {},
        () -> assertThat(session.floor(KEY - 1)).isTrue());
    assertThat(session.key()).isIn(KEY - STEP, KEY - 61 * STEP);
    assertThat(session.floor(KEY - 1)).isTrue();
    assertThat(session.key()).isEqualTo(KEY - 61 * STEP);
  }

  @Test
  void shouldKeepAnUpdateWhileTheLeafIsMerged() {
    open();
    int round = 0;
    for (Predicate<VerbList> verbs :
        List.<Predicate<VerbList>>of(
            OrcaRacesTest::readsLeaf, OrcaRacesTest::writesLeaf, OrcaRacesTest::writesValues)) {
      long value = 10L * --round;
      update(other, KEY, value);
      behind(verbs, () -> update(other, KEY, value - 1), () -> merge(session, KEY + value));
      get(KEY);
      evict(session);
      get(KEY);
    }
  }

  @Test
  void shouldNotCacheWhatIsReadWhileTheLeafIsMerged() {
    open();
    before(
        OrcaRacesTest::writesLeaf,
        () -> assertThat(Entries.get(other, KEY)).isEqualTo(model.get(KEY)),
        () -> merge(session, KEY));
    update(other, KEY, -7);
  }

  @Test
  void shouldScanValuesWhileTheyAreWritten() {
    open();
    model.tailMap(KEY).replaceAll((_, value) -> -value);
    model.tailMap(KEY, true).forEach(session::update);
    fabric.hookEach(
        OrcaRacesTest::writesValues,
        values -> {
          assertThat(Entries.scan(other)).isEqualTo(model);
          values.post();
        });
    evict(session);
    assertThat(fabric.unhook()).isPositive();
  }

  @Test
  void shouldHaveChangesOfKeysWaitForAMerge() {
    open();
    get(KEY);
    get(KEY + 1);
    at(
        OrcaRacesTest::writesLeaf,
        () -> {
          waitsForMerge(() -> other.remove(KEY));
          waitsForMerge(() -> other.put(KEY + 1, 1));
          waitsForMerge(() -> other.store(KEY + 2, 1));
          waitsForMerge(() -> other.putIfAbsent(KEY + 3, 1));
        },
        () -> {},
        () -> merge(session, KEY));
  }

  private static void waitsForMerge(Runnable operation) {
    assertThatThrownBy(operation::run)
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("the leaf of a key stays latched");
  }
}
