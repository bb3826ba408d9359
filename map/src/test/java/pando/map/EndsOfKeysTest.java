package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.DayOfWeek;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.Tuple;
import pando.map.codec.ValueCodec;

/**
 * Keys and bounds at both ends of the keys' type, and sizes at the edges of a cursor's batches,
 * each compared with a tree map.
 */
@Timeout(120)
class EndsOfKeysTest {
  /** Batches of a cursor have 8, 16, 32, 64, 128, 256, 256 entries. */
  private static final int[] SIZES = {7, 8, 9, 24, 56, 120, 248, 504, 760};

  /** By a client, each operation takes longer. */
  private static final int[] FEW_SIZES = {8, 504};

  private static final int SMALL = 9;

  /** No map has more keys. */
  private static final int KEYS_MAX = 1 << Short.SIZE;

  /** Keys by numbers, from the least to the greatest. */
  record Kind<K>(
      String name,
      Supplier<OpenMap<K, Long>> opening,
      @Nullable Comparator<? super K> order,
      LongFunction<K> key,
      long least,
      long last) {
    /** Returns the keys at both ends. */
    List<K> ends() {
      return Stream.of(least, least + 1, last - 1, last).distinct().map(key::apply).toList();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static <K> Kind<K> kind(
      @Nullable SystemUnderTest system,
      KeyCodec<K> codec,
      LongFunction<K> key,
      long least,
      long last) {
    return new Kind<>(
        (system == null ? "byte strings " : system + " ") + codec,
        () -> OpenMap.of(system, codec, ValueCodec.longs()),
        codec.order(),
        key,
        least,
        last);
  }

  private static Kind<Long> longs(String name, Supplier<OpenMap<Long, Long>> opening) {
    return new Kind<>(name, opening, null, number -> number, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private static Stream<Kind<?>> codecs(@Nullable SystemUnderTest system) {
    return Stream.of(
        kind(system, KeyCodec.longs(), number -> number, Long.MIN_VALUE, Long.MAX_VALUE),
        kind(system, KeyCodec.ints(), number -> (int) number, Integer.MIN_VALUE, Integer.MAX_VALUE),
        kind(system, KeyCodec.shorts(), number -> (short) number, Short.MIN_VALUE, Short.MAX_VALUE),
        kind(system, KeyCodec.bytes(), number -> (byte) number, Byte.MIN_VALUE, Byte.MAX_VALUE),
        kind(system, KeyCodec.chars(), number -> (char) number, 0, Character.MAX_VALUE),
        kind(system, KeyCodec.booleans(), number -> number > 0, 0, 1),
        kind(
            system,
            KeyCodec.enums(DayOfWeek.class),
            number -> DayOfWeek.of((int) number),
            1,
            DayOfWeek.values().length),
        kind(
            system,
            KeyCodec.words("tens", 3, (Integer tens) -> tens / 10, word -> (int) word * 10),
            number -> (int) number * 10,
            Byte.MIN_VALUE << Short.SIZE,
            (1 << 23) - 1),
        kind(
            system,
            KeyCodec.tuple(KeyCodec.ints(), KeyCodec.ints()),
            number -> Tuple.of((int) (number >> Integer.SIZE), (int) number + Integer.MIN_VALUE),
            Long.MIN_VALUE,
            Long.MAX_VALUE));
  }

  /** Each codec of words, over words and byte strings, in this process and by a client. */
  static final List<Kind<?>> CODECS =
      Stream.of(
              codecs(SystemUnderTest.ORCA),
              codecs(null).limit(Seeds.count(1, 9)),
              Stream.of(
                      MapUnderTest.BYTES,
                      MapUnderTest.NAMED,
                      MapUnderTest.CLIENT,
                      MapUnderTest.BYTES_BY_CLIENT,
                      MapUnderTest.NAMED_BY_CLIENT)
                  .limit(Seeds.count(2, 5))
                  .map(each -> longs(each.toString(), each::open)))
          .<Kind<?>>flatMap(kinds -> kinds)
          .toList();

  /** Each system, with values in entries and as blobs. */
  static final List<Kind<?>> SYSTEMS =
      Stream.of(MapUnderTest.WORDS, MapUnderTest.BLOBS)
          .flatMap(List::stream)
          .<Kind<?>>map(each -> longs(each.toString(), each::open))
          .toList();

  /** Where the keys of a map are. */
  private enum Place {
    FROM_THE_LEAST,
    TO_THE_GREATEST,
    LEAST_AND_MIDDLE,
    GREATEST_AND_MIDDLE;

    /** Returns entries with so many keys, or with all that there are. */
    <K> NavigableMap<K, Long> entries(Kind<K> kind, int size) {
      NavigableMap<K, Long> entries = new TreeMap<>(kind.order);
      long middle = (kind.least >> 1) + (kind.last >> 1);
      for (int i = 0; entries.size() < size && i <= KEYS_MAX; i++) {
        long number =
            switch (this) {
              case FROM_THE_LEAST -> kind.least + i;
              case TO_THE_GREATEST -> kind.last - i;
              case LEAST_AND_MIDDLE -> i == 0 ? kind.least : middle + i;
              case GREATEST_AND_MIDDLE -> i == 0 ? kind.last : middle - i;
            };
        if (kind.least <= number && number <= kind.last) {
          entries.put(kind.key.apply(number), (long) i);
        }
      }
      return entries;
    }
  }

  /** In a campaign all places, else those where the keys beside an end are not there. */
  private static final List<Place> PLACES =
      Seeds.count(0, 1) == 0
          ? List.of(Place.LEAST_AND_MIDDLE, Place.GREATEST_AND_MIDDLE)
          : List.of(Place.values());

  /** A way from a map to a view of it. */
  private record Way<K>(String name, UnaryOperator<NavigableMap<K, Long>> step) {}

  private static <K> List<Way<K>> ways(List<K> ends) {
    List<Way<K>> ways = new ArrayList<>();
    ways.add(new Way<>("whole", map -> map));
    for (boolean included : new boolean[] {false, true}) {
      for (K end : ends) {
        ways.add(
            new Way<>("head %s %s".formatted(end, included), map -> map.headMap(end, included)));
        ways.add(
            new Way<>("tail %s %s".formatted(end, included), map -> map.tailMap(end, included)));
        for (K other : ends) {
          for (boolean otherIncluded : new boolean[] {false, true}) {
            ways.add(
                new Way<>(
                    "sub %s %s to %s %s".formatted(end, included, other, otherIncluded),
                    map -> map.subMap(end, included, other, otherIncluded)));
          }
        }
      }
    }
    return ways;
  }

  /** Returns a view, or {@code null} where the map refuses it. */
  private static <K> @Nullable NavigableMap<K, Long> view(Way<K> way, NavigableMap<K, Long> map) {
    try {
      return way.step.apply(map);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private interface Check<K> {
    void check(String what, NavigableMap<K, Long> view, NavigableMap<K, Long> expected);
  }

  /** Checks all views at the ends, upwards and downwards, of views made upwards and downwards. */
  private static <K> void forEachView(
      String what,
      Kind<K> kind,
      NavigableMap<K, Long> map,
      NavigableMap<K, Long> model,
      Check<K> check) {
    for (Way<K> way : ways(kind.ends())) {
      for (boolean down : new boolean[] {false, true}) {
        NavigableMap<K, Long> view = view(way, down ? map.descendingMap() : map);
        NavigableMap<K, Long> expected = view(way, down ? model.descendingMap() : model);
        String each = "%s, down=%s, %s".formatted(what, down, way.name);
        assertThat(view == null).as(each).isEqualTo(expected == null);
        if (view != null && expected != null) {
          check.check(each, view, expected);
          check.check(each + ", descending", view.descendingMap(), expected.descendingMap());
        }
      }
    }
  }

  private static <K> void checkEntries(
      String what, NavigableMap<K, Long> view, NavigableMap<K, Long> expected) {
    assertThat(new ArrayList<>(view.entrySet()))
        .as(what)
        .isEqualTo(new ArrayList<>(expected.entrySet()));
    assertThat(view.size()).as(what).isEqualTo(expected.size());
    assertThat(view.isEmpty()).as(what).isEqualTo(expected.isEmpty());
    assertThat(view.firstEntry()).as(what).isEqualTo(expected.firstEntry());
    assertThat(view.lastEntry()).as(what).isEqualTo(expected.lastEntry());
    assertThat(view.keySet().parallelStream().toList())
        .as(what)
        .isEqualTo(new ArrayList<>(expected.keySet()));
  }

  private static <K> void checkNeighbours(
      String what, NavigableMap<K, Long> view, NavigableMap<K, Long> expected, List<K> ends) {
    NavigableSet<K> keys = view.navigableKeySet();
    NavigableSet<K> expectedKeys = expected.navigableKeySet();
    for (K end : ends) {
      String at = what + ", at=" + end;
      assertThat(view.containsKey(end)).as(at).isEqualTo(expected.containsKey(end));
      assertThat(view.get(end)).as(at).isEqualTo(expected.get(end));
      assertThat(view.lowerEntry(end)).as(at).isEqualTo(expected.lowerEntry(end));
      assertThat(view.floorEntry(end)).as(at).isEqualTo(expected.floorEntry(end));
      assertThat(view.ceilingEntry(end)).as(at).isEqualTo(expected.ceilingEntry(end));
      assertThat(view.higherEntry(end)).as(at).isEqualTo(expected.higherEntry(end));
      for (boolean included : new boolean[] {false, true}) {
        assertThat(keysOf(keys, set -> set.headSet(end, included)))
            .as(at + ", head set, included=" + included)
            .isEqualTo(keysOf(expectedKeys, set -> set.headSet(end, included)));
        assertThat(keysOf(keys.descendingSet(), set -> set.tailSet(end, included)))
            .as(at + ", tail set downwards, included=" + included)
            .isEqualTo(keysOf(expectedKeys.descendingSet(), set -> set.tailSet(end, included)));
      }
    }
  }

  /** Returns the keys of a part of a set, none where that is refused. */
  private static <K> List<K> keysOf(NavigableSet<K> set, UnaryOperator<NavigableSet<K>> part) {
    try {
      return new ArrayList<>(part.apply(set));
    } catch (IllegalArgumentException e) {
      return List.of();
    }
  }

  private static <K> void replaceAll(NavigableMap<K, Long> view, NavigableMap<K, Long> expected) {
    view.replaceAll((key, value) -> value + 1);
    expected.replaceAll((key, value) -> value + 1);
  }

  private static <K> void fill(NavigableMap<K, Long> map, NavigableMap<K, Long> entries) {
    map.clear();
    map.putAll(entries);
  }

  @ParameterizedTest
  @FieldSource({"CODECS", "SYSTEMS"})
  <K> void shouldShowTheSameAsATreeMapAtTheEndsOfItsKeys(Kind<K> kind) {
    List<K> ends = kind.ends();
    try (OpenMap<K, Long> open = kind.opening.get()) {
      for (Place place : PLACES) {
        NavigableMap<K, Long> model = place.entries(kind, SMALL);
        fill(open.map(), model);
        forEachView(
            place.toString(),
            kind,
            open.map(),
            model,
            (what, view, expected) -> {
              checkEntries(what, view, expected);
              checkNeighbours(what, view, expected, ends);
            });
      }
    }
  }

  @Tag("campaign")
  @ParameterizedTest
  @FieldSource("CODECS")
  <K> void shouldEndBatchesOfCursorsAtTheEndsOfItsKeys(Kind<K> kind) {
    try (OpenMap<K, Long> open = kind.opening.get()) {
      ConcurrentNavigableMap<K, Long> map = open.map();
      for (int size : kind.name.contains("client") ? FEW_SIZES : SIZES) {
        for (Place place : PLACES) {
          NavigableMap<K, Long> model = place.entries(kind, size);
          fill(map, model);
          String what = "%s, size=%s".formatted(place, size);
          checkEntries(what, map, model);
          checkEntries(what + ", down", map.descendingMap(), model.descendingMap());
          replaceAll(map.descendingMap(), model.descendingMap());
          assertThat(map).as(what).isEqualTo(model);
          map.descendingMap().clear();
          assertThat(map).as(what).isEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @FieldSource("CODECS")
  <K> void shouldChangeOnlyWhatAViewAtTheEndsOfItsKeysHas(Kind<K> kind) {
    try (OpenMap<K, Long> open = kind.opening.get()) {
      for (Place place : PLACES) {
        NavigableMap<K, Long> entries = place.entries(kind, SMALL);
        NavigableMap<K, Long> model = new TreeMap<>(entries);
        fill(open.map(), entries);
        forEachView(
            place.toString(),
            kind,
            open.map(),
            model,
            (what, view, expected) -> {
              replaceAll(view, expected);
              assertThat(open.map()).as(what).isEqualTo(model);
              assertThat(view.pollLastEntry()).as(what).isEqualTo(expected.pollLastEntry());
              assertThat(view.pollFirstEntry()).as(what).isEqualTo(expected.pollFirstEntry());
              view.keySet().clear();
              expected.clear();
              assertThat(open.map()).as(what).isEqualTo(model);
              model.putAll(entries);
              open.map().putAll(entries);
            });
      }
    }
  }

  /** The ends of byte strings: the empty one, and the longest of nothing but FF. */
  private static List<byte[]> strings(int lengthMax) {
    byte[] longest = filled(lengthMax);
    byte[] below = longest.clone();
    below[lengthMax - 1]--;
    return List.of(
        new byte[0],
        new byte[1],
        new byte[8],
        new byte[9],
        filled(7),
        filled(8),
        filled(9),
        filled(lengthMax - 1),
        below,
        longest);
  }

  /** The ends of a map without a name: nine bytes FF are above its keys. */
  private static List<byte[]> stringsWithoutName(int lengthMax) {
    byte[] longest = filled(lengthMax);
    longest[8]--;
    byte[] below = longest.clone();
    below[lengthMax - 1]--;
    return List.of(
        new byte[0],
        new byte[1],
        new byte[8],
        new byte[9],
        filled(7),
        filled(8),
        Arrays.copyOf(filled(8), 9),
        Arrays.copyOf(longest, 9),
        Arrays.copyOf(longest, lengthMax - 1),
        below,
        longest);
  }

  private static byte[] filled(int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) -1);
    return bytes;
  }

  /** Maps of byte strings, and keys at their ends. */
  record Strings(Supplier<OpenMap<byte[], Long>> opening, List<byte[]> ends) {}

  static final List<Strings> STRINGS =
      List.of(
          new Strings(
              () -> OpenMap.of(null, KeyCodec.byteArrays(), ValueCodec.longs()),
              stringsWithoutName(65_535)),
          new Strings(
              () -> OpenMap.ofByteClient(KeyCodec.byteArrays(), ValueCodec.longs()),
              stringsWithoutName(65_535)),
          new Strings(
              () -> OpenMap.ofNamed(KeyCodec.byteArrays(), ValueCodec.longs()), strings(65_522)));

  @ParameterizedTest
  @FieldSource("STRINGS")
  void shouldHaveTheEmptyStringAndTheLongestOnes(Strings kind) {
    try (OpenMap<byte[], Long> open = kind.opening.get()) {
      List<byte[]> ends = kind.ends;
      NavigableMap<byte[], Long> model = new TreeMap<>(Arrays::compareUnsigned);
      for (byte[] end : ends) {
        model.put(end, (long) end.length);
        assertThat(open.map().put(end, (long) end.length)).isNull();
      }
      for (byte[] end : ends) {
        for (boolean included : new boolean[] {false, true}) {
          checkStrings(open.map().headMap(end, included), model.headMap(end, included));
          checkStrings(open.map().tailMap(end, included), model.tailMap(end, included));
        }
        checkStrings(open.map().subMap(end, false, end, true), model.subMap(end, false, end, true));
        assertThat(valueOf(open.map().lowerEntry(end))).isEqualTo(valueOf(model.lowerEntry(end)));
        assertThat(valueOf(open.map().higherEntry(end))).isEqualTo(valueOf(model.higherEntry(end)));
      }
      open.map().headMap(ends.getFirst()).clear();
      open.map().tailMap(ends.getLast(), false).clear();
      checkStrings(open.map(), model);
    }
  }

  private static void checkStrings(
      NavigableMap<byte[], Long> view, NavigableMap<byte[], Long> expected) {
    assertThat(new ArrayList<>(view.values())).isEqualTo(new ArrayList<>(expected.values()));
    assertThat(new ArrayList<>(view.descendingMap().values()))
        .isEqualTo(new ArrayList<>(expected.descendingMap().values()));
    assertThat(valueOf(view.firstEntry())).isEqualTo(valueOf(expected.firstEntry()));
    assertThat(valueOf(view.lastEntry())).isEqualTo(valueOf(expected.lastEntry()));
  }

  private static @Nullable Long valueOf(Map.@Nullable Entry<byte[], Long> entry) {
    return entry == null ? null : entry.getValue();
  }
}
