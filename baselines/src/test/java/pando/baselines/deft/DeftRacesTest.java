package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.baselines.blink.Children;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** What other sessions find and do in the middle of one session's operation. */
@Tag("campaign")
@Timeout(300)
class DeftRacesTest {
  private static final long STEP = 100;
  private static final int NODE_BYTES = 448;

  private final DeftLeafLayout layout = new DeftLeafLayout(NODE_BYTES, true);

  private static DeftOptions options(String validation) {
    return DeftOptions.defaults()
        .withComputeServers(2)
        .with("node-bytes", Integer.toString(NODE_BYTES))
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

  private static Tree sound(Fabric fabric, DeftOptions options) {
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    return tree;
  }

  private static @Nullable Long get(Session session, long key) {
    return session.get(key) ? session.value() : null;
  }

  /** Tells whether verbs write whole nodes. */
  private static boolean writesNode(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE && verbs.length(0) == NODE_BYTES;
  }

  /** Tells whether verbs write a leaf that is split, its new sibling once more, and let go. */
  private static boolean split(VerbList verbs) {
    return writesNode(verbs) && verbs.size() == 3;
  }

  private static boolean has(VerbList verbs, Kind kind) {
    for (int i = 0; i < verbs.size(); i++) {
      if (verbs.kind(i) == kind) {
        return true;
      }
    }
    return false;
  }

  /** Returns keys above one, below the next multiple of {@link #STEP}, of one bucket. */
  private List<Long> bucketAbove(long low, int count) {
    List<Long> keys = new ArrayList<>();
    for (long key = low + 1; key < low + STEP && keys.size() < count; key++) {
      if (layout.pairOffset(key) == layout.pairOffset(low + 1)) {
        keys.add(key);
      }
    }
    assertThat(keys).hasSize(count);
    return keys;
  }

  /** Stores entries in the leaf of a key until one more splits it; returns the keys stored. */
  private static long fill(
      HookedFabric fabric, Session session, NavigableMap<Long, Long> model, long low) {
    boolean[] splits = {false};
    for (long key = low + 1; key < low + STEP; key++) {
      fabric.hookNext(
          DeftRacesTest::writesNode,
          first -> {
            splits[0] = true;
            throw new IllegalStateException("would split");
          });
      try {
        session.put(key, key);
        model.put(key, key);
      } catch (RuntimeException _) {
        assertThat(splits[0]).isTrue();
        fabric.unhook();
        return key;
      }
    }
    throw new AssertionError("does not split: low=" + low);
  }

  /** Two who add the same key meet at the same entry, in whichever order they come. */
  @ParameterizedTest(name = "{0} full={1}")
  @CsvSource({"opdv, 0", "opdv, 2", "opdv, 4", "versions, 0", "versions, 2", "checksum, 0"})
  void shouldAddAKeyOnceWhereTwoAddItAtOnce(String validation, int full) {
    DeftOptions options = options(validation);
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 951));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.1);
      List<Long> bucket = bucketAbove(50 * STEP, full + 1);
      long key = bucket.removeLast();
      for (long each : bucket) {
        session.put(each, each);
        model.put(each, each);
      }
      boolean checksum = validation.equals("checksum");
      fabric.hookNext(
          verbs -> has(verbs, Kind.MASKED_CAS_16) || (checksum && verbs.kind(0) == Kind.WRITE),
          add -> {
            if (!checksum) {
              assertThat(other.putIfAbsent(key, 1)).as("nobody was before it").isTrue();
              assertThat(get(other, key)).isEqualTo(1);
            }
            add.post();
          });
      boolean stored = session.putIfAbsent(key, 2);
      assertThat(fabric.unhook()).isOne();
      assertThat(stored).as("the second finds the first's").isEqualTo(checksum);
      model.put(key, checksum ? 2L : 1L);
      assertThat(get(session, key)).isEqualTo(model.get(key));
      assertThat(get(other, key)).isEqualTo(model.get(key));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** What another session does between one's READ and what follows. */
  enum Meanwhile {
    ANOTHER_KEY_OF_THE_BUCKET,
    FILL_THE_BUCKET,
    REPLACE,
    SPLIT;
  }

  /** One adds or replaces while another does so beside it, or divides the leaf. */
  @ParameterizedTest(name = "{0} present={1}")
  @CsvSource({
    "ANOTHER_KEY_OF_THE_BUCKET, false", "ANOTHER_KEY_OF_THE_BUCKET, true",
    "FILL_THE_BUCKET,           false", "FILL_THE_BUCKET,           true",
    "REPLACE,                   false", "REPLACE,                   true",
  })
  void shouldStoreBesideOthersWhoStoreInTheSameLines(Meanwhile meanwhile, boolean present) {
    DeftOptions options = options("opdv");
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 952));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.1);
      List<Long> bucket = bucketAbove(50 * STEP, 6);
      long key = bucket.removeFirst();
      if (present) {
        session.put(key, 1);
        model.put(key, 1L);
      }
      fabric.hookNext(
          verbs -> has(verbs, Kind.MASKED_CAS_16) || has(verbs, Kind.MASKED_CAS),
          change -> {
            switch (meanwhile) {
              case ANOTHER_KEY_OF_THE_BUCKET -> store(other, model, bucket.getFirst());
              case FILL_THE_BUCKET -> bucket.subList(0, 4).forEach(e -> store(other, model, e));
              default -> assertThat(other.update(key, 3)).isEqualTo(present);
            }
            change.post();
          });
      assertThat(session.put(key, 2)).isEqualTo(present);
      long replaced = present && meanwhile == Meanwhile.REPLACE ? 3 : present ? 1 : 0;
      assertThat(session.value()).as("what it took the place of").isEqualTo(replaced);
      assertThat(fabric.unhook()).isOne();
      model.put(key, 2L);
      model.forEach((each, value) -> assertThat(get(other, each)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  private static void store(Session session, NavigableMap<Long, Long> model, long key) {
    assertThat(session.put(key, key)).isFalse();
    model.put(key, key);
  }

  /** One has found the leaf when it is split, before it has its lock. */
  @ParameterizedTest(name = "{0} update={1} key={2}")
  @CsvSource({
    "opdv,     true, 1", "opdv,     false, 1", "opdv,     true, 2", "opdv,     false, 2",
    "versions, true, 1", "versions, false, 1", "versions, true, 2", "versions, false, 2",
    "checksum, true, 1", "checksum, false, 1", "checksum, true, 2", "checksum, false, 2",
  })
  void shouldFollowAKeyOutOfALeafThatIsSplit(String validation, boolean update, int which) {
    DeftOptions options = options(validation);
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 953));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.1);
      long first = 50 * STEP;
      long splitting = fill(fabric, other, model, first);
      long key = update ? which == 1 ? first : splitting - 1 : splitting + which;
      assertThat(session.get(key)).isEqualTo(update);
      long leaf = pokes.path(key)[0];
      fabric.hookNext(
          verbs -> verbs.size() > 1 && verbs.kind(0) == Kind.MASKED_FAA,
          lock -> {
            store(other, model, splitting);
            lock.post();
          });
      assertThat(session.put(key, -1)).isEqualTo(update);
      assertThat(fabric.unhook()).isOne();
      model.put(key, -1L);
      assertThat(pokes.path(first)[0]).isNotEqualTo(pokes.path(splitting)[0]);
      assertThat(pokes.path(first)[0]).isEqualTo(leaf);
      model.forEach((each, value) -> {
        assertThat(get(other, each)).isEqualTo(value);
        assertThat(get(session, each)).isEqualTo(value);
      });
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** The value that a split moves is the one that was stored last before it. */
  @Test
  void shouldMoveTheValueThatAnotherStoredBeforeTheSplitHadItsLock() {
    DeftOptions options = options("opdv");
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 954));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.1);
      long first = 50 * STEP;
      long splitting = fill(fabric, other, model, first);
      // The FAA that exchanges a shared ticket for an exclusive one, with the whole leaf behind it.
      fabric.hookNext(
          verbs ->
              verbs.size() == 2
                  && verbs.kind(0) == Kind.MASKED_FAA
                  && verbs.operand(0, 0) == SxWord.UPGRADE,
          upgrade -> {
            for (long key = first + 1; key < splitting; key++) {
              if (model.containsKey(key)) {
                assertThat(other.put(key, -key)).isTrue();
                model.put(key, -key);
              }
            }
            upgrade.post();
          });
      store(session, model, splitting);
      assertThat(fabric.unhook()).isOne();
      model.forEach((each, value) -> assertThat(get(session, each)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Between the moments of a split, everybody finds everything, by old pointers and by new. */
  @ParameterizedTest
  @ValueSource(strings = {"opdv", "checksum"})
  void shouldFindEverythingBetweenTheWritesOfASplit(String validation) {
    DeftOptions options = options(validation);
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 955));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 0.1);
      long splitting = fill(fabric, session, model, 50 * STEP);
      model.keySet().forEach(other::get);
      fabric.hookNext(
          DeftRacesTest::split,
          split -> {
            model.forEach((key, value) -> assertThat(get(other, key)).isEqualTo(value));
            split.post(0, 1);
            // Its upper half is hidden; what is below is there.
            assertThat(get(other, 50 * STEP)).isEqualTo(50);
            split.post(1, 2);
            model.forEach((key, value) -> assertThat(get(other, key)).isEqualTo(value));
            assertThat(get(other, splitting)).as("from here on").isEqualTo(splitting);
            fabric.hookNext(verbs -> true, HookedFabric.Posting::post);
            split.post();
          });
      store(session, model, splitting);
      model.forEach((key, value) -> assertThat(get(other, key)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** What a session does that still has the pointer to a place where another node is by now. */
  enum ByOldPointer {
    GET,
    UPDATE,
    PUT,
    REMOVE,
    FLOOR,
    SCAN;

    /** Does something with a key that is there, or is not. */
    private void run(Session session, long key, boolean present) {
      switch (this) {
        case GET -> assertThat(session.get(key)).isEqualTo(present);
        case UPDATE -> assertThat(session.update(key, -7)).isEqualTo(present);
        case PUT -> assertThat(session.put(key, -7)).isEqualTo(present);
        case REMOVE -> assertThat(session.remove(key)).isEqualTo(present);
        case FLOOR -> {
          assertThat(session.floor(key)).isTrue();
          assertThat(session.key() == key).isEqualTo(present);
        }
        case SCAN ->
            assertThat(session.scan(key, key, 9, (k, v) -> true)).isEqualTo(present ? 1 : 0);
      }
    }

    private void apply(NavigableMap<Long, Long> model, long key) {
      if (this == PUT || (this == UPDATE && model.containsKey(key))) {
        model.put(key, -7L);
      } else if (this == REMOVE) {
        model.remove(key);
      }
    }
  }

  /** A leaf merges away, and its place holds another leaf, for other keys. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "GET,    opdv",
    "UPDATE, opdv",
    "PUT,  opdv",
    "REMOVE, opdv",
    "FLOOR, opdv",
    "SCAN, opdv",
    "GET,    versions",
    "UPDATE, versions",
    "PUT,  versions",
    "REMOVE, versions",
    "GET,    checksum",
    "UPDATE, checksum",
    "PUT,  checksum",
    "REMOVE, checksum",
  })
  void shouldNotTakeWhatIsInAPlaceByNowForWhatWasThere(ByOldPointer operation, String validation) {
    DeftOptions options = options(validation).with("merge-share", "0.5");
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 956));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.3);
      model.keySet().forEach(old::get);
      long key = 50 * STEP;
      long place = pokes.path(key)[0];
      // Its neighbours lose their entries until it merges into the one before it.
      for (long each = key - STEP; pokes.path(key)[0] == place; each -= STEP) {
        assertThat(session.remove(each)).isTrue();
        model.remove(each);
      }
      // New leaves elsewhere, until one of them takes the place.
      long elsewhere = 100 * STEP;
      while (pokes.low(place) <= 100 * STEP || !isLeafOf(pokes, place)) {
        store(session, model, ++elsewhere);
      }
      for (long wanted : new long[] {key, key + 1, key + STEP}) {
        operation.run(old, wanted, model.containsKey(wanted));
        operation.apply(model, wanted);
      }
      model.forEach((each, value) -> assertThat(get(old, each)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Tells whether a place holds the leaf of its own fences. */
  private static boolean isLeafOf(DeftPokes pokes, long place) {
    return pokes.path(pokes.low(place))[0] == place;
  }

  /** Leaves merge away, and inner nodes for the same keys take their places. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "GET, opdv",
    "PUT, opdv",
    "GET, versions",
    "PUT, versions",
    "GET, checksum",
    "PUT, checksum",
    "REMOVE, opdv",
    "REMOVE, checksum",
    "SCAN, opdv",
    "FLOOR, checksum",
  })
  void shouldNotTakeAnInnerNodeForTheLeafThatWasThere(ByOldPointer operation, String validation) {
    DeftOptions options = options(validation).with("merge-share", "0.5");
    NavigableMap<Long, Long> model = entries(600);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 961));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      NavigableMap<Long, Long> places = new TreeMap<>();
      for (long key : model.keySet()) {
        old.get(key);
        places.put(key, pokes.path(key)[0]);
      }
      for (long i = 100; i < 500; i++) {
        session.remove(i * STEP);
        model.remove(i * STEP);
      }
      // Keys that come in the order of others' hashes split nodes here and there.
      for (long i = 0; i < 8_000; i++) {
        long key = 100 * STEP + i * 7_919 % (400 * STEP);
        if (!model.containsKey(key)) {
          store(session, model, key);
        }
      }
      int met = 0;
      for (Map.Entry<Long, Long> each : places.entrySet()) {
        if (!pokes.isLeaf(each.getValue())) {
          for (long key = each.getKey(); key < each.getKey() + 9; key++) {
            operation.run(old, key, model.containsKey(key));
            operation.apply(model, key);
          }
          met++;
        }
      }
      assertThat(met).as("pointers to what is an inner node by now").isPositive();
      model.forEach((key, value) -> assertThat(get(session, key)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** The same, where the inner node's entries look like fences around the very keys. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "GET, opdv",
    "PUT, opdv",
    "GET, versions",
    "PUT, versions",
    "GET, checksum",
    "PUT, checksum",
    "UPDATE, checksum",
    "REMOVE, checksum",
    "FLOOR, checksum",
    "SCAN, checksum",
  })
  void shouldNotTakeEntriesOfAnInnerNodeForFences(ByOldPointer operation, String validation) {
    DeftOptions options = options(validation).with("merge-share", "0.5");
    NavigableMap<Long, Long> model = entries(200);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 962));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.4);
      model.keySet().forEach(old::get);
      long first = 100 * STEP;
      long place = pokes.path(first)[0];
      NavigableMap<Long, Long> moved =
          new TreeMap<>(model.subMap(pokes.low(place), true, pokes.high(place), true));
      for (long each = moved.firstKey() - STEP; pokes.path(first)[0] == place; each -= STEP) {
        assertThat(session.remove(each)).isTrue();
        model.remove(each);
      }
      // Stands in for an inner node that the place was allocated for.
      pokes.poke(place, innerAround(moved.firstKey(), moved.lastKey(), place), true);
      for (long key : moved.keySet()) {
        operation.run(old, key, true);
        operation.apply(model, key);
        operation.run(old, key + 1, false);
        operation.apply(model, key + 1);
      }
      assertThat(pokes.isLeaf(place)).isFalse();
      model.forEach((key, value) -> assertThat(get(old, key)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Returns a full inner node of whose first two lines one begins below and one above keys. */
  private static byte[] innerAround(long from, long to, long address) {
    InnerLayout inners = new InnerLayout(NODE_BYTES, false);
    Children children = new Children(inners.capacity());
    for (int i = 0; i < inners.capacity(); i++) {
      long key = i == 0 ? Long.MIN_VALUE : i < 5 ? from - 9 + i : to + i;
      InnerLayout.insert(children, key, ChildPointer.toLeaf(address));
    }
    MemorySegment memory = MemorySegment.ofArray(new long[NODE_BYTES / Long.BYTES]);
    inners.format(memory, 0, address, 1, Long.MIN_VALUE, Long.MAX_VALUE, GlobalAddress.NULL, 0);
    inners.arrange(memory, 0, children, 0, children.count);
    return memory.toArray(ValueLayout.JAVA_BYTE);
  }

  /** Nothing can be changed in a new node before it is linked, whoever knows its place. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "GET,    opdv",
    "UPDATE, opdv",
    "PUT,    opdv",
    "REMOVE, opdv",
    "GET,    checksum",
    "PUT, checksum",
  })
  void shouldFindNothingInANewNodeBeforeItIsLinked(ByOldPointer operation, String validation) {
    DeftOptions options = options(validation).with("merge-share", "0.5");
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 957));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.3);
      model.keySet().forEach(old::get);
      long key = 50 * STEP;
      long place = pokes.path(key)[0];
      for (long each = key - STEP; pokes.path(key)[0] == place; each -= STEP) {
        assertThat(session.remove(each)).isTrue();
        model.remove(each);
      }
      // The leaf that took its keys is split again, and its upper half goes to the same place.
      long added = key + 1;
      boolean[] happened = {false};
      int[] found = {0};
      fabric.hookEach(
          verbs -> writesNode(verbs) && verbs.remote(0) == place,
          write -> {
            write.post();
            if (!happened[0] && pokes.low(place) > 0 && pokes.high(place) >= key) {
              happened[0] = true;
              fabric.unhook();
              long low = pokes.low(place);
              for (Map.Entry<Long, Long> entry : model.subMap(low, pokes.high(place)).entrySet()) {
                findUnlinked(operation, old, entry.getKey(), entry.getValue());
                found[0]++;
              }
            }
          });
      while (!happened[0]) {
        store(session, model, added++);
        if (added % STEP == 0) {
          added++;
        }
      }
      fabric.unhook();
      assertThat(found[0]).as("keys of the new node").isPositive();
      for (long wanted : new long[] {key, key + 1, key + STEP, key + STEP - 1}) {
        operation.run(old, wanted, model.containsKey(wanted));
        operation.apply(model, wanted);
      }
      model.forEach((each, value) -> assertThat(get(old, each)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** A reader finds what moves where it was, and a writer waits for the lock there. */
  private static void findUnlinked(
      ByOldPointer operation, Session session, long key, long expected) {
    if (operation == ByOldPointer.GET) {
      assertThat(get(session, key)).as("not moved yet").isEqualTo(expected);
    } else {
      assertThatThrownBy(() -> operation.run(session, key, true))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("stayed locked");
    }
  }

  /** The same, found in the middle of a WRITE that others can see land line by line. */
  @ParameterizedTest
  @EnumSource(names = {"UPDATE", "PUT", "REMOVE", "GET"})
  void shouldKeepWritersFromANewNodeThatIsStillBeingWritten(ByOldPointer operation) {
    DeftOptions options = options("opdv").with("merge-share", "0.5");
    NavigableMap<Long, Long> model = entries(100);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 958));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.3);
      model.keySet().forEach(old::get);
      long key = 50 * STEP;
      long place = pokes.path(key)[0];
      for (long each = key - STEP; pokes.path(key)[0] == place; each -= STEP) {
        assertThat(session.remove(each)).isTrue();
        model.remove(each);
      }
      boolean[] happened = {false};
      fabric.hookNext(
          verbs -> writesNode(verbs) && verbs.remote(0) == place,
          write -> {
            int half = DeftLeafLayout.LINE_BYTES + layout.pairOffset(key);
            write.post(0, 0, half);
            int[] reads = {0};
            fabric.hookEach(
                verbs -> verbs.size() > 0 && has(verbs, Kind.READ),
                read -> {
                  if (++reads[0] == 4) {
                    write.post(0, half, NODE_BYTES - half);
                  }
                  read.post();
                });
            // A key that stays where it is.
            if (operation == ByOldPointer.GET) {
              operation.run(old, key, true);
            } else {
              assertThatThrownBy(() -> operation.run(old, key, true))
                  .isInstanceOf(StalledException.class)
                  .hasMessageContaining("stayed locked");
            }
            fabric.unhook();
            happened[0] = true;
            write.post();
          });
      for (long added = 100 * STEP + 1; !happened[0]; added++) {
        store(session, model, added);
      }
      operation.run(old, key, true);
      operation.apply(model, key);
      model.forEach((each, value) -> assertThat(get(old, each)).isEqualTo(value));
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** An entry that moves to a line that is read later is visited once. */
  @Test
  void shouldScanAKeyOnceThatMovesToALineThatIsReadLater() {
    DeftOptions options = options("opdv").withComputeServers(1);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 959));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      List<Long> bucket = bucketAbove(0, 4);
      bucket.forEach(key -> session.put(key, key));
      assertThat(scan(session)).isEqualTo(new TreeSet<>(bucket));
      long moves = bucket.getLast();
      long makesRoom = bucket.getFirst();
      int start = layout.pairOffset(moves);
      int own =
          start + (start / DeftLeafLayout.LINE_BYTES % 3 == 1 ? 0 : DeftLeafLayout.LINE_BYTES);
      fabric.hookNext(
          verbs -> verbs.kind(0) == Kind.READ && verbs.length(0) == NODE_BYTES,
          read -> {
            // All lines but the one that the entry moves to, and that one afterwards.
            read.post(0, 0, own);
            read.post(
                0, own + DeftLeafLayout.LINE_BYTES, NODE_BYTES - own - DeftLeafLayout.LINE_BYTES);
            assertThat(other.remove(makesRoom)).isTrue();
            assertThat(other.remove(moves)).isTrue();
            assertThat(other.put(moves, 5)).isFalse();
            read.post(0, own, DeftLeafLayout.LINE_BYTES);
          });
      assertThat(scan(session)).contains(moves);
      assertThat(fabric.unhook()).isOne();
    }
  }

  /** Returns the keys of all entries, having checked that they ascend. */
  private static Set<Long> scan(Session session) {
    List<Long> keys = new ArrayList<>();
    session.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> keys.add(key));
    Set<Long> sorted = new TreeSet<>(keys);
    assertThat(keys).as("in order, and each once").containsExactlyElementsOf(sorted);
    return sorted;
  }

  /**
   * Between the moment in which a session takes a pointer to an inner node, and its READ, the node
   * is written 64 times: then its version is the same, and its children are others.
   */
  @ParameterizedTest
  @ValueSource(ints = {62, 63, 64, 65, 128})
  void shouldFindTheWayWhereAVersionHasComeRound(int rewrites) {
    DeftOptions options = options("opdv").with("cache-bytes", "4KiB");
    NavigableMap<Long, Long> model = entries(1_200);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 960));
        DeftPokes pokes = new DeftPokes(fabric, options);
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session old = index.session()) {
      index.bulkLoad(Entries.of(model), 0.4);
      assertThat(pokes.path(0).length).isGreaterThan(3);
      long key = 600 * STEP;
      long node = pokes.path(key)[1];
      // It knows the level above, and nothing of what the node knows.
      for (long each : model.keySet()) {
        if (pokes.path(each)[1] != node) {
          old.get(each);
        }
      }
      int before = pokes.version(node);
      int[] seen = {0};
      fabric.hookNext(
          verbs ->
              verbs.size() == 1
                  && verbs.kind(0) == Kind.READ
                  && verbs.remote(0) >= node
                  && verbs.remote(0) < node + NODE_BYTES,
          read -> {
            rewrite(session, model, pokes, node, key, rewrites);
            seen[0] = (pokes.version(node) - before) & ChildPointer.VERSION_MASK;
            read.post();
          });
      assertThat(get(old, key)).isEqualTo(600);
      assertThat(fabric.unhook()).isOne();
      assertThat(seen[0]).isEqualTo(rewrites & ChildPointer.VERSION_MASK);
      model.forEach((each, value) -> assertThat(get(old, each)).isEqualTo(value));
      assertThat(scan(old)).isEqualTo(model.keySet());
      assertThat(sound(fabric, options).entries()).isEqualTo(model);
    }
  }

  /** Splits and merges below a node until it was written so often. */
  private static void rewrite(
      Session session,
      NavigableMap<Long, Long> model,
      DeftPokes pokes,
      long node,
      long key,
      int rewrites) {
    int version = pokes.version(node);
    int written = 0;
    for (int round = 0; written < rewrites; round++) {
      for (long i = 1; i < STEP && written < rewrites; i++) {
        long each = key + i;
        if (round % 2 == 0) {
          session.put(each, each);
          model.put(each, each);
        } else {
          session.remove(each);
          model.remove(each);
        }
        int now = pokes.version(node);
        written += (now - version) & ChildPointer.VERSION_MASK;
        version = now;
      }
    }
    assertThat(pokes.path(key)).contains(node);
    assertThat(GlobalAddress.server(node)).isZero();
  }
}
