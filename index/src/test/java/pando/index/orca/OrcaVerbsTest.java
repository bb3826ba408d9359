package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.AllocatedBytes;
import pando.index.Costs;
import pando.index.Entries;
import pando.index.EntrySource;
import pando.index.EntryVisitor;
import pando.index.Session;
import pando.index.SplitEntries;

/** What operations cost: the table of ORCA in docs/systems.md. */
@Timeout(300)
class OrcaVerbsTest {
  private static final int ENTRIES = 20_000;
  private static final long STEP = 1_000;
  private static final int SCANNED = 100;
  private static final long SMALL_CACHE = 64 << 10;
  private static final int ROUNDS_MAX = 60;
  private static final long NOISE_BYTES_MAX = 4_096;

  private final NavigableMap<Long, Long> model = Entries.spaced(ENTRIES, STEP);

  @SuppressWarnings("NullAway.Init") // Set by run.
  private Session session;

  @SuppressWarnings("NullAway.Init") // Set by run.
  private OrcaIndex index;

  /** Operations on keys that are there, unless said. */
  enum Case {
    GET,
    GET_ABSENT,
    UPDATE,
    PUT,
    INSERT,
    REMOVE,
    REMOVE_ABSENT,
    STORE,
    STORE_NEW,
    DISCARD
  }

  @ParameterizedTest(name = "{0} cached={1}")
  @CsvSource({
    "GET,           false, 1, 128",
    "GET_ABSENT,    false, 1, 128",
    "UPDATE,        false, 1, 128",
    "PUT,           false, 1, 128",
    "INSERT,        false, 1, 128",
    "REMOVE,        false, 1, 128",
    "REMOVE_ABSENT, false, 1, 128",
    "STORE,         false, 0, 0",
    "STORE_NEW,     false, 0, 0",
    "DISCARD,       false, 0, 0",
    "GET,           true,  0, 0",
    "GET_ABSENT,    true,  0, 0",
    "UPDATE,        true,  0, 0",
    "PUT,           true,  0, 0",
    "INSERT,        true,  0, 0",
    "REMOVE,        true,  0, 0",
    "REMOVE_ABSENT, true,  0, 0",
    "STORE,         true,  0, 0",
    "STORE_NEW,     true,  0, 0",
    "DISCARD,       true,  0, 0",
  })
  void shouldCost(Case operation, boolean cached, int reads, int bytes) {
    run(
        options(),
        () -> {
          String verbs = reads(reads, reads, bytes);
          // One key in twenty, so that no delta is full.
          for (long key = 0; key < ENTRIES * STEP; key += 20 * STEP) {
            if (cached) {
              session.get(key);
              session.get(key + 1);
            }
            assertThat(cost(operation(operation), key)).as("key %d", key).isEqualTo(verbs);
          }
        });
  }

  private LongConsumer operation(Case operation) {
    return switch (operation) {
      case GET -> session::get;
      case GET_ABSENT -> key -> session.get(key + 1);
      case UPDATE -> key -> session.update(key, ~key);
      case PUT -> key -> session.put(key, ~key);
      case INSERT -> key -> session.put(key + 1, key);
      case REMOVE -> session::remove;
      case REMOVE_ABSENT -> key -> session.remove(key + 1);
      case STORE -> key -> session.store(key, ~key);
      case STORE_NEW -> key -> session.store(key + 1, key);
      case DISCARD -> session::discard;
    };
  }

  @Test
  void shouldFindANeighbourInOneSegmentOrTwo() {
    run(
        options(),
        () -> {
          int nextToo = 0;
          for (long key = 0; key < ENTRIES * STEP; key += 20 * STEP) {
            String cost = cost(session::floor, key + 1);
            nextToo += cost.equals(reads(2, 2, 256)) ? 1 : 0;
            assertThat(cost).isIn(reads(1, 1, 128), reads(2, 2, 256));
          }
          assertThat(nextToo).isLessThan(ENTRIES / 20 / 4);
        });
  }

  @Test
  void shouldScanInOneTrip() {
    run(
        options(),
        () -> {
          for (long key = 0; key < (ENTRIES - 2 * SCANNED) * STEP; key += 20 * STEP) {
            for (VerbCounters verbs :
                List.of(verbs(this::scan, key), verbs(this::scanDown, key + SCANNED * STEP))) {
              assertThat(verbs.roundTrips).as("key %d", key).isOne();
              assertThat(verbs.reads).as("key %d", key).isBetween(1L, 3L);
              assertThat(verbs.bytesIn).as("key %d", key).isBetween(1_664L, 1_920L);
              assertThat(verbs.bytesOut).as("key %d", key).isZero();
            }
          }
        });
  }

  private void scanDown(long from) {
    session.scanDown(from, Long.MIN_VALUE, SCANNED, (_, _) -> true);
  }

  private void scan(long from) {
    session.scan(from, Long.MAX_VALUE, SCANNED, (_, _) -> true);
  }

  @Test
  void shouldReadOnlyWhatImagesLack() {
    run(
        options().with("image-share", "0.5"),
        () -> {
          for (long key = 0; key < (ENTRIES - 3 * SCANNED) * STEP; key += 3 * SCANNED * STEP) {
            VerbCounters first = verbs(this::scan, key);
            assertThat(first.roundTrips).as("key %d", key).isOne();
            assertThat(first.bytesIn).as("key %d", key).isBetween(1_664L, 1_920L);
            assertThat(cost(this::scan, key)).as("key %d", key).isEqualTo(reads(0, 0, 0));
            assertThat(cost(session::floor, key + 1)).isEqualTo(reads(0, 0, 0));
            assertThat(cost(session::ceiling, key + 10 * STEP - 1)).isEqualTo(reads(0, 0, 0));
            assertThat(cost(session::get, key + 20 * STEP)).isEqualTo(reads(0, 0, 0));

            VerbCounters shifted = verbs(this::scan, key + SCANNED / 2 * STEP);
            assertThat(shifted.roundTrips).as("key %d", key).isOne();
            assertThat(shifted.reads).as("key %d", key).isBetween(1L, 2L);
            assertThat(shifted.bytesIn).as("key %d", key).isBetween(640L, 1_152L);
          }
        });
  }

  /**
   * Looks up a key and two others, of which at least one is in the same segment, or leaf: that one
   * costs no READ.
   */
  @ParameterizedTest
  @CsvSource({"segments, 1, 128", "leaves, 70, 2944"})
  void shouldFindOtherKeysInThePieceThatALookupRead(String cache, int apart, int bytes) {
    run(
        options().with("image-share", "0.5").with("cache", cache),
        () -> {
          long far = apart * STEP;
          // Not in the first leaf, which covers all keys below 0.
          for (long key = ENTRIES / 4 * STEP; key < ENTRIES / 2 * STEP; key += 10 * far) {
            String others = reads(1, 1, bytes);
            assertThat(cost(session::get, key)).as("key %d", key).isEqualTo(others);
            assertThat(cost(session::get, key)).isEqualTo(reads(0, 0, 0));
            assertThat(cost(session::get, key + 1)).isEqualTo(reads(0, 0, 0));
            String below = cost(session::get, key - far);
            String above = cost(session::get, key + far);
            assertThat(List.of(below, above)).contains(reads(0, 0, 0));
            assertThat(List.of(below, above)).isSubsetOf(reads(0, 0, 0), others);
            assertThat(cost(updated -> session.update(updated, ~updated), key))
                .isEqualTo(reads(0, 0, 0));
            assertThat(Entries.get(session, key)).isEqualTo(~key);
            long[] keys = {key - far, key + far};
            assertThat(cost(_ -> getAll(keys), 0)).isEqualTo(reads(0, 0, 0));
          }
          assertThat(index.audit()).isEmpty();
        });
  }

  @Test
  void shouldDropTheImagesOfALeafThatMerges() {
    run(
        options().with("image-share", "0.5").with("delta-changes", "2"),
        () -> {
          long key = ENTRIES / 2 * STEP;
          scan(key);
          session.update(key + STEP, -1);
          assertThat(cost(this::scan, key)).isEqualTo(reads(0, 0, 0));
          // The third change of a leaf merges it.
          session.store(key + 1, 1);
          session.store(key + 2, 2);
          assertThat(cost(this::scan, key)).isEqualTo(reads(0, 0, 0));
          session.store(key + 3, 3);
          assertThat(verbs(this::scan, key).reads).isPositive();
          assertThat(cost(this::scan, key)).isEqualTo(reads(0, 0, 0));
          assertThat(Entries.get(session, key + STEP)).isEqualTo(-1);
          assertThat(index.audit()).isEmpty();
        });
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({"on, 0.96, 1", "off, 0, 0"})
  void shouldTellByAFilterThatAKeyIsAbsent(String filters, double least, double most) {
    run(
        options().with("image-share", "0.5").with("delta-changes", "2").with("filters", filters),
        () -> {
          int asked = 0;
          int told = 0;
          for (long key = 0; key < ENTRIES * STEP; key += STEP) {
            // The third change of a leaf merges it.
            session.store(key + 1, key);
          }
          for (long key = 0; key < ENTRIES * STEP; key += 20 * STEP) {
            String cost = cost(session::get, key + 2);
            assertThat(cost).isIn(reads(0, 0, 0), reads(1, 1, 128));
            told += cost.equals(reads(0, 0, 0)) ? 1 : 0;
            asked++;
            assertThat(session.get(key)).as("key %d", key).isEqualTo(model.containsKey(key));
            assertThat(Entries.get(session, key + STEP + 1)).isEqualTo(key + STEP);
          }
          assertThat((double) told / asked).isBetween(least, most);
          assertThat(index.audit()).isEmpty();
        });
  }

  @Tag("campaign")
  @Test
  void shouldNotAllocateWhereImagesAre() {
    run(
        options().withCacheBytes(SMALL_CACHE).with("image-share", "0.5"),
        () -> {
          AllocatedBytes allocated = new AllocatedBytes();
          EntryVisitor visitor = (key, value) -> (key ^ value) != 1;
          long least = Long.MAX_VALUE;
          for (int round = 0; round < ROUNDS_MAX && least >= NOISE_BYTES_MAX; round++) {
            long before = allocated.get();
            for (int i = 0; i < ENTRIES; i++) {
              long key = i * 7_919L % ENTRIES * STEP;
              session.scan(key, Long.MAX_VALUE, 20, visitor);
              session.floor(key + 1);
              session.ceiling(key - 1);
              session.get(key);
              session.get(key + 1);
              session.update(key, key);
            }
            least = Math.min(least, allocated.get() - before);
          }
          assertThat(least).isLessThan(NOISE_BYTES_MAX);
        });
  }

  @Test
  void shouldLookUpSeveralKeysInOneTrip() {
    run(
        options(),
        () -> {
          long[] keys = {0, 5_000 * STEP, 10_000 * STEP};
          assertThat(cost(_ -> getAll(keys), 0)).isEqualTo(reads(3, 1, 384));
        });
  }

  private void getAll(long[] keys) {
    session.getAll(keys, 0, keys.length, new long[keys.length], new boolean[keys.length]);
  }

  @Test
  void shouldCleanUpTo32RecordsInOneTrip() {
    run(
        options().withCacheBytes(SMALL_CACHE),
        () -> {
          int cleanings = 0;
          for (long key = 0; key < ENTRIES * STEP; key += STEP) {
            VerbCounters verbs = verbs(updated -> session.update(updated, ~updated), key);
            if (verbs.writes > 0) {
              cleanings++;
              assertThat(verbs.writes).as("key %d", key).isLessThanOrEqualTo(32);
              assertThat(Costs.text(verbs))
                  .as("key %d", key)
                  .isEqualTo(
                      "reads=1, writes=%d, atomics=0, calls=0, trips=2, in=128, out=%d"
                          .formatted(verbs.writes, 8 * verbs.writes));
            }
          }
          assertThat(cleanings).isPositive();
        });
  }

  @Test
  void shouldMergeInThreeTrips() {
    run(
        options(),
        () ->
            assertThat(first(1, this::replace, STEP))
                .isEqualTo("reads=1, writes=2, atomics=0, calls=0, trips=3, in=3072, out=3080"));
  }

  /** Removes a key and adds another one, so that the leaf keeps its size. */
  private void replace(long key) {
    session.discard(key);
    session.store(key + 1, key);
  }

  @Test
  void shouldMergeWithASplitInFourTrips() {
    run(
        options(),
        () ->
            assertThat(first(1, key -> session.store(key, key), 1))
                .isEqualTo("reads=1, writes=4, atomics=0, calls=0, trips=4, in=3072, out=7944"));
  }

  @Test
  void shouldMergeWithANeighbourInFiveTrips() {
    run(
        options().withCacheBytes(SMALL_CACHE),
        () ->
            assertThat(first(2, session::discard, STEP))
                .startsWith("reads=2, writes=3, atomics=0, calls=0, trips=5, "));
  }

  /**
   * Returns what the first of many operations cost that READs so many leaves. Begins in the middle,
   * as the first leaf covers all keys below 0.
   */
  private String first(int leaves, LongConsumer operation, long step) {
    for (long key = ENTRIES / 2 * STEP; key < ENTRIES * STEP; key += step) {
      VerbCounters verbs = verbs(operation, key);
      if (verbs.reads == leaves) {
        return Costs.text(verbs);
      }
    }
    throw new AssertionError("no operation READs so many leaves: leaves=" + leaves);
  }

  private static String reads(int reads, int trips, int bytes) {
    return "reads=%d, writes=0, atomics=0, calls=0, trips=%d, in=%d, out=0"
        .formatted(reads, trips, bytes);
  }

  private String cost(LongConsumer operation, long key) {
    return Costs.text(verbs(operation, key));
  }

  private VerbCounters verbs(LongConsumer operation, long key) {
    return Costs.of(index, () -> operation.accept(key));
  }

  private static OrcaOptions options() {
    return OrcaOptions.defaults()
        .withComputeServers(1)
        .withCacheBytes(16 << 20)
        .with("neighbours", "off")
        .with("shares-move", "off")
        .withWriteBackNanos(0);
  }

  @Test
  void shouldLoadPartsByTheVerbsOfOneThread() {
    long bound = load(options().withComputeServers(2), Entries.of(model)).bound; // of leaves
    VerbCounters one = load(options(), Entries.of(model)).verbs;
    List<Entries> parts =
        List.of(Entries.of(model.headMap(bound, false)), Entries.of(model.tailMap(bound, true)));
    VerbCounters several = load(options(), new SplitEntries(parts)).verbs;
    // Entries that are too many for the last leaf of a part take one more, whose header is READ.
    long more = several.writes - one.writes;
    assertThat(more).isBetween(0L, 1L);
    assertThat(several.reads).isEqualTo(one.reads + more);
    assertThat(several.atomics).isEqualTo(one.atomics);
    // A thread asks each memory server for regions of its own, and gives the rest back.
    assertThat(several.calls - one.calls).isBetween(0L, 8L);
  }

  /** A load: its verbs, and where the second half of the keys begins. */
  private record Loaded(VerbCounters verbs, long bound) {}

  private static Loaded load(OrcaOptions options, EntrySource entries) {
    PoolOptions pool = PoolOptions.defaults().withMemoryServers(2).withBytesPerServer(64 << 20);
    try (Fabric fabric = LocalFabric.open(pool);
        OrcaIndex index = OrcaIndex.create(fabric, options)) {
      VerbCounters verbs = Costs.of(index, () -> index.bulkLoad(entries, 0.7));
      List<Long> lows = Arrays.stream(index.partitioning().lows()).boxed().toList();
      return new Loaded(verbs, lows.getLast());
    }
  }

  private void run(OrcaOptions options, Runnable body) {
    PoolOptions pool = PoolOptions.defaults().withMemoryServers(2).withBytesPerServer(64 << 20);
    try (Fabric fabric = LocalFabric.open(pool);
        OrcaIndex opened = OrcaIndex.create(fabric, options);
        Session first = opened.session()) {
      index = opened;
      session = first;
      index.bulkLoad(Entries.of(model), 0.7);
      body.run();
    }
  }
}
