package pando.baselines.deft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.index.Seeds;

@Tag("campaign")
class DeftLeafLayoutTest {
  private static final long MIN = Long.MIN_VALUE;
  private static final long MAX = Long.MAX_VALUE;
  private static final long ADDRESS = GlobalAddress.of(17, 1 << 16);
  private static final long SIBLING = GlobalAddress.of(18, 1 << 17);
  private static final int LINE = DeftLeafLayout.LINE_BYTES;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment leaf = arena.allocate(1_024, LINE);
  private final MemorySegment other = arena.allocate(1_024, LINE);

  @AfterEach
  void close() {
    arena.close();
  }

  private DeftLeafLayout format(int nodeBytes, boolean hashed, long low, long high) {
    DeftLeafLayout layout = new DeftLeafLayout(nodeBytes, hashed);
    layout.format(leaf, 0, ADDRESS, low, high, SIBLING);
    return layout;
  }

  /** Returns the unused keys of a layout: keys like all others. */
  private static Set<Long> unusedKeys(DeftLeafLayout layout) {
    Set<Long> unused = new TreeSet<>();
    for (int index = 0; index < layout.capacity(); index++) {
      unused.add(layout.unusedKey(index));
    }
    return unused;
  }

  private static int lineOf(int index) {
    return DeftLeafLayout.position(index) / LINE;
  }

  private static long start(int line) {
    return (long) line * LINE;
  }

  private static boolean isOfPair(DeftLeafLayout layout, long key, int line) {
    int first = layout.pairOffset(key) / LINE;
    return line >= first && line < first + layout.pairBytes() / LINE;
  }

  @ParameterizedTest(name = "{0} hashed={1}")
  @CsvSource({"448, true", "640, true", "832, true", "1024, true", "448, false", "1024, false"})
  void shouldHoldWhatAMapHolds(int nodeBytes, boolean hashed) {
    SplittableRandom random = new SplittableRandom(Seeds.of(921));
    DeftLeafLayout layout = format(nodeBytes, hashed, MIN, MAX);
    List<Long> keys = new ArrayList<>(List.of(0L, -1L, MIN, MAX, 1L, MIN + 1, MAX - 1));
    keys.addAll(unusedKeys(layout));
    while (keys.size() < 60) {
      keys.add(random.nextLong() >> random.nextInt(Long.SIZE));
    }
    long[] values = {0, -1, MIN, MAX, 7};
    NavigableMap<Long, Long> model = new TreeMap<>();
    boolean refused = false;
    for (int round = 0; round < 6_000; round++) {
      long key = keys.get(random.nextInt(keys.size()));
      long value = values[random.nextInt(values.length)];
      int index = layout.find(leaf, 0, key);
      assertThat(index >= 0).as("key=%d", key).isEqualTo(model.containsKey(key));
      if (index < 0 && layout.add(leaf, 0, key, value)) {
        model.put(key, value);
      } else if (index < 0) {
        refused = true;
      } else {
        assertThat(DeftLeafLayout.key(leaf, 0, index)).isEqualTo(key);
        assertThat(DeftLeafLayout.value(leaf, 0, index)).isEqualTo(model.get(key));
        if (random.nextBoolean()) {
          layout.remove(leaf, 0, index);
          model.remove(key);
        } else {
          DeftLeafLayout.setValue(leaf, 0, index, value);
          model.put(key, value);
        }
      }
      long one = keys.get(random.nextInt(keys.size()));
      check(layout, model, Math.min(key, one), Math.max(key, one));
    }
    if (hashed) {
      assertThat(refused).as("buckets were full").isTrue();
    }
    assertThat(layout.areKeysInPlace(leaf, 0)).isTrue();
    layout.clearEntries(leaf, 0);
    check(layout, new TreeMap<>(), MIN, MAX);
  }

  private void check(DeftLeafLayout layout, NavigableMap<Long, Long> model, long from, long to) {
    assertThat(layout.entries(leaf, 0)).isEqualTo(model.size());
    assertThat(entryAt(layout.nearest(leaf, 0, to, true))).isEqualTo(model.floorEntry(to));
    assertThat(entryAt(layout.nearest(leaf, 0, from, false))).isEqualTo(model.ceilingEntry(from));
    long[] keys = new long[layout.capacity()];
    long[] values = new long[layout.capacity()];
    int count = layout.copySorted(leaf, 0, from, to, keys, values);
    int at = 0;
    for (Map.Entry<Long, Long> entry : model.subMap(from, true, to, true).entrySet()) {
      assertThat(keys[at]).isEqualTo(entry.getKey());
      assertThat(values[at++]).isEqualTo(entry.getValue());
    }
    assertThat(count).isEqualTo(at);
  }

  private Map.@Nullable Entry<Long, Long> entryAt(int index) {
    return index < 0
        ? null
        : Map.entry(DeftLeafLayout.key(leaf, 0, index), DeftLeafLayout.value(leaf, 0, index));
  }

  @Test
  void shouldRefuseAnEntryOnlyWhereItIsFullIfSorted() {
    DeftLeafLayout layout = format(448, false, MIN, MAX);
    for (long key = layout.capacity(); key > 0; key--) {
      assertThat(layout.add(leaf, 0, key, -key)).isTrue();
    }
    assertThat(layout.add(leaf, 0, 0, 0)).isFalse();
    for (int index = 0; index < layout.capacity(); index++) {
      assertThat(DeftLeafLayout.key(leaf, 0, index)).as("ascending").isEqualTo(index + 1);
    }
    assertThat(layout.pairOffset(5)).isZero();
    assertThat(layout.pairBytes()).isEqualTo(448);
  }

  @ParameterizedTest
  @ValueSource(ints = {448, 640, 832, 1024})
  void shouldMarkEntriesThatAreNotInUseByKeysOfOtherLines(int nodeBytes) {
    DeftLeafLayout layout = format(nodeBytes, true, MIN, MAX);
    assertThat(unusedKeys(layout)).hasSize(2);
    for (int index = 0; index < layout.capacity(); index++) {
      long unused = layout.unusedKey(index);
      assertThat(DeftLeafLayout.key(leaf, 0, index)).isEqualTo(unused);
      assertThat(isOfPair(layout, unused, lineOf(index))).as("index=%d", index).isFalse();
    }
    for (long key : unusedKeys(layout)) {
      assertThat(layout.find(leaf, 0, key)).isEqualTo(-1);
      assertThat(layout.add(leaf, 0, key, key)).isTrue();
      assertThat(layout.find(leaf, 0, key)).isNotNegative();
    }
    assertThat(layout.entries(leaf, 0)).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {448, 640, 832, 1024})
  void shouldDealKeysEvenlyToItsBuckets(int nodeBytes) {
    DeftLeafLayout layout = new DeftLeafLayout(nodeBytes, true);
    Map<Integer, Integer> buckets = new TreeMap<>();
    for (long key = 0; key < 10_000; key++) {
      buckets.merge(layout.pairOffset(key), 1, Integer::sum);
      assertThat(layout.pairOffset(key) + layout.pairBytes()).isLessThanOrEqualTo(nodeBytes);
    }
    int expected = 2 * (nodeBytes - LINE) / 192;
    assertThat(buckets).hasSize(expected);
    buckets
        .values()
        .forEach(count -> assertThat(count).isBetween(8_000 / expected, 12_000 / expected));
  }

  /** Whoever adds a key takes the same entry, and two buckets beside each other share a line. */
  @Test
  void shouldTakeItsOwnLineFirstAndThenTheOneThatItShares() {
    DeftLeafLayout layout = format(1_024, true, MIN, MAX);
    List<Long> front = keysAt(layout, LINE, 8);
    List<Long> back = keysAt(layout, 2 * LINE, 8);
    assertThat(layout.shareLines(front.getFirst(), back.getFirst())).isTrue();
    for (int i = 0; i < 6; i++) {
      int index = layout.findUnused(leaf, 0, front.get(i));
      assertThat(layout.findUnused(leaf, 0, front.get(7))).isEqualTo(index);
      assertThat(lineOf(index)).isEqualTo(i < 3 ? 1 : 2);
      assertThat(layout.add(leaf, 0, front.get(i), i)).isTrue();
      assertThat(layout.find(leaf, 0, front.get(i))).isEqualTo(index);
    }
    assertThat(layout.findUnused(leaf, 0, front.get(7))).isEqualTo(-1);
    assertThat(layout.add(leaf, 0, front.get(7), 0)).isFalse();
    for (int i = 0; i < 3; i++) {
      assertThat(lineOf(layout.findUnused(leaf, 0, back.get(i)))).isEqualTo(3);
      assertThat(layout.add(leaf, 0, back.get(i), i)).isTrue();
    }
    assertThat(layout.add(leaf, 0, back.get(7), 0)).isFalse();
    assertThat(layout.areKeysInPlace(leaf, 0)).isTrue();
  }

  private static List<Long> keysAt(DeftLeafLayout layout, int pairOffset, int count) {
    List<Long> keys = new ArrayList<>();
    for (long key = 1; keys.size() < count; key++) {
      if (layout.pairOffset(key) == pairOffset) {
        keys.add(key);
      }
    }
    return keys;
  }

  @ParameterizedTest(name = "{0} to {1}")
  @CsvSource({
    "-9223372036854775808, 9223372036854775807",
    "9223372036854775807,  9223372036854775807",
    "-9223372036854775808, -9223372036854775808",
    "0,                    0",
    "-1,                   0",
    "-500,                 77",
  })
  void shouldTellTheFencesFromThePairOfAnyKey(long low, long high) {
    DeftLeafLayout layout = format(1_024, true, low, high);
    layout.seal(leaf, 0, 5, false);
    assertThat(layout.areFencesRepeated(leaf, 0)).isTrue();
    for (long key = -200; key < 200; key++) {
      readPair(layout, key);
      assertThat(layout.isPairWhole(other, 0, key)).isTrue();
      assertThat(layout.isPairOfLeaf(other, 0, key)).isTrue();
      assertThat(layout.isPairHidden(other, 0, key)).isFalse();
      assertThat(layout.lowOfPair(other, 0, key)).isEqualTo(low);
      assertThat(layout.highOfPair(other, 0, key)).isEqualTo(high);
      assertThat(layout.find(other, 0, key)).isEqualTo(-1);
    }
  }

  /** Brings a pair as a READ would, beside other bytes. */
  private void readPair(DeftLeafLayout layout, long key) {
    other.fill((byte) 0x55);
    int at = layout.pairOffset(key);
    MemorySegment.copy(leaf, at, other, at, layout.pairBytes());
  }

  @Test
  void shouldKeepTheFencesOfASortedLeafInItsHeader() {
    DeftLeafLayout layout = format(1_024, false, -5, 9);
    layout.seal(leaf, 0, 5, false);
    assertThat(layout.lowOfPair(leaf, 0, 3)).isEqualTo(-5);
    assertThat(layout.highOfPair(leaf, 0, 3)).isEqualTo(9);
    assertThat(layout.isPairWhole(leaf, 0, 3)).isTrue();
  }

  @Test
  void shouldTellThatAFenceIsNotRepeated() {
    DeftLeafLayout layout = format(1_024, true, -5, 9);
    layout.seal(leaf, 0, 5, false);
    for (int line = 1; line < 16; line++) {
      flip(line * LINE + 8, 1);
      assertThat(layout.areFencesRepeated(leaf, 0)).as("line %d", line).isFalse();
      flip(line * LINE + 8, 1);
    }
    assertThat(layout.areFencesRepeated(leaf, 0)).isTrue();
  }

  private void flip(int at, int bits) {
    byte old = leaf.get(JAVA_BYTE, at);
    leaf.set(JAVA_BYTE, at, (byte) (old ^ bits));
  }

  @ParameterizedTest
  @ValueSource(longs = {5, 0, (1L << DeftLeafLayout.STAMP_BITS) - 1})
  void shouldTellALineOfAnotherMoment(long stamp) {
    DeftLeafLayout layout = format(1_024, true, MIN, MAX);
    layout.seal(other, 0, stamp, false);
    layout.seal(leaf, 0, stamp ^ 1, false);
    for (int line = 0; line < 16; line++) {
      layout.seal(leaf, 0, stamp, false);
      assertThat(layout.isWhole(leaf, 0)).isTrue();
      byte[] whole = leaf.toArray(JAVA_BYTE);
      layout.seal(leaf, 0, stamp ^ 1, false);
      MemorySegment.copy(whole, line * LINE, leaf, JAVA_BYTE, start(line), LINE);
      checkTorn(layout, line);
    }
  }

  @Test
  void shouldTellALineThatIsHiddenBesideOthers() {
    DeftLeafLayout layout = format(1_024, true, MIN, MAX);
    for (int line = 0; line < 16; line++) {
      layout.seal(leaf, 0, 5, true);
      byte[] hidden = leaf.toArray(JAVA_BYTE);
      layout.show(leaf, 0);
      assertThat(layout.isWhole(leaf, 0)).isTrue();
      MemorySegment.copy(hidden, line * LINE, leaf, JAVA_BYTE, start(line), LINE);
      checkTorn(layout, line);
    }
  }

  /** Two lines of one leaf and one moment, one in the place of the other. */
  @Test
  void shouldTellALineInTheWrongPlace() {
    DeftLeafLayout layout = format(1_024, true, MIN, MAX);
    for (int line = 0; line < 16; line++) {
      layout.seal(leaf, 0, 5, false);
      MemorySegment.copy(leaf, start((line + 3) % 16), leaf, start(line), LINE);
      checkTorn(layout, line);
    }
  }

  private void checkTorn(DeftLeafLayout layout, int line) {
    assertThat(layout.isWhole(leaf, 0)).as("line %d", line).isFalse();
    for (long key = 0; key < 100; key++) {
      boolean concerned = isOfPair(layout, key, line);
      assertThat(layout.isPairWhole(leaf, 0, key)).as("line %d", line).isEqualTo(!concerned);
      if (line == 0 || !concerned) {
        assertThat(layout.isHeaderOfPair(leaf, 0, key))
            .as("line %d, key %d", line, key)
            .isEqualTo(line != 0);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBeHiddenUntilItIsShown(boolean hashed) {
    DeftLeafLayout layout = format(1_024, hashed, MIN, MAX);
    layout.add(leaf, 0, 7, 8);
    layout.seal(leaf, 0, 5, true);
    for (long key = 0; key < 100; key++) {
      assertThat(layout.isPairWhole(leaf, 0, key)).isTrue();
      assertThat(layout.isPairHidden(leaf, 0, key)).isTrue();
    }
    assertThat(DeftLeafLayout.isHidden(NodeHeader.first(leaf, 0))).isTrue();
    layout.show(leaf, 0);
    layout.seal(other, 0, 5, false);
    for (long key = 0; key < 100; key++) {
      assertThat(layout.isPairWhole(leaf, 0, key)).isTrue();
      assertThat(layout.isPairHidden(leaf, 0, key)).isFalse();
    }
    assertThat(NodeHeader.first(leaf, 0)).isEqualTo(NodeHeader.first(other, 0));
    assertThat(DeftLeafLayout.value(leaf, 0, layout.find(leaf, 0, 7))).isEqualTo(8);
  }

  @Test
  void shouldNotTakeAnInnerNodeForALeaf() {
    DeftLeafLayout layout = new DeftLeafLayout(1_024, true);
    try (InnerKit kit = new InnerKit(1_024, true, MIN, MAX)) {
      SplittableRandom random = new SplittableRandom(Seeds.of(922));
      for (int i = 0; i < 60; i++) {
        kit.model.put(random.nextLong(), ChildPointer.toLeaf(GlobalAddress.of(1023, 64)));
      }
      kit.arrange();
      for (long key = 0; key < 100; key++) {
        assertThat(layout.isPairOfLeaf(kit.bytes(), 0, key)).isFalse();
        assertThat(layout.isPairWhole(kit.bytes(), 0, key)).isFalse();
      }
    }
  }

  @Test
  void shouldTakeTheValuesOfOnePairAlone() {
    DeftLeafLayout layout = format(1_024, true, MIN, MAX);
    MemorySegment again = other;
    for (int index = 0; index < layout.capacity(); index++) {
      DeftLeafLayout.setValue(leaf, 0, index, index);
      DeftLeafLayout.setValue(again, 0, index, -1L - index);
    }
    long key = 4_711;
    layout.takeValues(leaf, 0, key, 0);
    for (int index = 0; index < layout.capacity(); index++) {
      assertThat(DeftLeafLayout.value(leaf, 0, index)).as("from itself").isEqualTo(index);
    }
    // In one segment, as a worker's memory is.
    try (Arena both = Arena.ofConfined()) {
      MemorySegment memory = both.allocate(2_048, LINE);
      memory.asSlice(0, 1_024).copyFrom(leaf);
      memory.asSlice(1_024, 1_024).copyFrom(again);
      layout.takeValues(memory, 0, key, 1_024);
      for (int index = 0; index < layout.capacity(); index++) {
        boolean taken = isOfPair(layout, key, lineOf(index));
        assertThat(DeftLeafLayout.value(memory, 0, index)).isEqualTo(taken ? -1L - index : index);
        assertThat(DeftLeafLayout.key(memory, 0, index)).isEqualTo(layout.unusedKey(index));
      }
    }
  }

  @Test
  void shouldTellKeysThatAreNotWhereTheyBelong() {
    DeftLeafLayout layout = format(1_024, true, 100, 200);
    layout.add(leaf, 0, 150, 1);
    int index = layout.find(leaf, 0, 150);
    assertThat(layout.areKeysInPlace(leaf, 0)).isTrue();
    for (long fence : new long[] {99, 201}) {
      layout.remove(leaf, 0, index);
      layout.add(leaf, 0, fence, 1);
      assertThat(layout.areKeysInPlace(leaf, 0)).as("key=%d", fence).isFalse();
      layout.remove(leaf, 0, layout.find(leaf, 0, fence));
      assertThat(layout.areKeysInPlace(leaf, 0)).isTrue();
    }
    int strange = layout.find(leaf, 0, 150);
    assertThat(strange).isEqualTo(-1);
    for (int place = 0; place < layout.capacity(); place++) {
      long before = DeftLeafLayout.key(leaf, 0, place);
      Words.set(leaf, DeftLeafLayout.position(place), 150);
      assertThat(layout.areKeysInPlace(leaf, 0)).isEqualTo(isOfPair(layout, 150, lineOf(place)));
      Words.set(leaf, DeftLeafLayout.position(place), before);
    }
  }
}
