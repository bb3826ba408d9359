package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.IndexOptions;
import pando.index.MeterReadings;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.index.bytes.ByteIndex;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Maps with names, beside each other and beside the one without a name. */
@Timeout(120)
class NamedMapsTest {
  private static final KeyCodec<String> TEXTS = KeyCodec.strings();
  private static final ValueCodec<String> VALUES = ValueCodec.strings();

  private static PandoMap<String, String> texts(Pando pando, String name) {
    return pando.map(name, TEXTS, VALUES);
  }

  private static String text(SplittableRandom random) {
    return Integer.toString(random.nextInt(random.nextInt(1, 300)), 4);
  }

  private static List<Object> copies(NavigableMap<String, String> map, String middle) {
    List<Object> copies = new ArrayList<>(map.entrySet());
    copies.addAll(map.descendingMap().entrySet());
    copies.add(map.size());
    copies.add(map.headMap(middle, true).size());
    copies.addAll(map.tailMap(middle, false).entrySet());
    copies.addAll(map.descendingMap().headMap(middle, false).entrySet());
    copies.add(map.isEmpty() ? "none" : map.firstKey() + map.lastEntry());
    copies.add(Arrays.asList(map.lowerKey(middle), map.floorKey(middle)));
    copies.add(Arrays.asList(map.ceilingEntry(middle), map.higherEntry(middle)));
    return copies;
  }

  /** Changes maps and models alike. */
  private static void change(
      NavigableMap<String, String> map, Map<String, String> model, SplittableRandom random) {
    String key = text(random);
    String value = text(random).repeat(random.nextInt(20));
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> assertThat(map.put(key, value)).isEqualTo(model.put(key, value));
      case 3 -> assertThat(map.remove(key)).isEqualTo(model.remove(key));
      case 4 ->
          assertThat(map.merge(key, "x", String::concat))
              .isEqualTo(model.merge(key, "x", String::concat));
      case 5 -> assertThat(map.get(key)).isEqualTo(model.get(key));
      case 6 ->
          assertThat(random.nextBoolean() ? map.pollFirstEntry() : map.pollLastEntry())
              .satisfies(polled -> {
                if (polled == null) {
                  assertThat(model).isEmpty();
                } else {
                  assertThat(model.remove(polled.getKey())).isEqualTo(polled.getValue());
                }
              });
      default -> {
        if (random.nextInt(50) == 0) {
          map.clear();
          model.clear();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldHaveTheEntriesOfItsNameAlone(NamedPool.Kind kind) {
    SplittableRandom random = new SplittableRandom(Seeds.of(4711));
    try (NamedPool pool = new NamedPool(kind);
        Pando pando = pool.pando()) {
      List<String> names = new ArrayList<>(List.of("b", "a", "a\0", "\u00e4"));
      TreeMap<String, String> unnamed = new TreeMap<>();
      PandoMap<String, String> unnamedMap = pando.map(TEXTS, VALUES);
      Map<String, TreeMap<String, String>> models = new TreeMap<>();
      Map<String, PandoMap<String, String>> maps = new TreeMap<>();
      for (int i = 0; i < kind.count(Seeds.count(6_000, 30_000, 400_000)); i++) {
        String name = names.get(random.nextInt(names.size()));
        PandoMap<String, String> map = maps.computeIfAbsent(name, each -> texts(pando, each));
        TreeMap<String, String> model = models.computeIfAbsent(name, _ -> new TreeMap<>());
        change(map, model, random);
        change(unnamedMap, unnamed, random);
        if (random.nextInt(400) == 0) {
          assertThat(pando.drop(name)).isTrue();
          models.remove(name);
          maps.remove(name);
          assertThatIllegalStateException()
              .isThrownBy(() -> map.put("a", "b"))
              .withMessage("the map was dropped: name=" + name);
        }
        if (random.nextInt(200) == 0) {
          String middle = text(random);
          models.forEach((each, expected) ->
              assertThat(copies(texts(pando, each), middle)).isEqualTo(copies(expected, middle)));
          assertThat(copies(unnamedMap, middle)).isEqualTo(copies(unnamed, middle));
          assertThat(pando.names()).containsExactlyElementsOf(models.keySet());
        }
      }
      names.forEach(pando::drop);
      assertThat(pando.names()).isEmpty();
      assertThat(unnamedMap).isEqualTo(unnamed);
      unnamedMap.clear();
      // The number that was given last is left.
      assertThat(pool.entries()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldKeepCodecsOfItsOwnAndRefuseOthers(NamedPool.Kind kind) {
    try (NamedPool pool = new NamedPool(kind)) {
      try (Pando pando = pool.pando()) {
        pando.map("longs", KeyCodec.longs(), ValueCodec.longs()).put(Long.MAX_VALUE, 1L);
        texts(pando, "texts").put("", "");
      }
      pool.reopen();
      try (Pando pando = pool.pando()) {
        assertThat(pando.names()).containsExactly("longs", "texts");
        PandoMap<Long, Long> longs = pando.map("longs", KeyCodec.longs(), ValueCodec.longs());
        assertThat(longs).containsExactly(Map.entry(Long.MAX_VALUE, 1L));
        assertThat(texts(pando, "texts")).containsExactly(Map.entry("", ""));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> texts(pando, "longs"))
            .withMessage(
                "the map has other codecs: name=longs, keys=longs, given=strings, values=longs,"
                    + " given=strings");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> pando.map("texts", KeyCodec.utf8(), VALUES))
            .withMessageContaining("keys=strings, given=utf8, values=strings, given=strings");
        assertThat(longs.getAll(List.of(1L, Long.MAX_VALUE))).hasSize(1);
        assertThat(longs.async().get(Long.MAX_VALUE).join()).isEqualTo(1);
      }
    }
  }

  static final List<String> BAD = List.of("", "x".repeat(256), "\u00e4".repeat(128), "a\uD83D");

  @Test
  void shouldRefuseWhatIsNoName() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      for (String name : BAD) {
        for (Callable<?> call :
            List.<Callable<?>>of(() -> texts(pando, name), () -> pando.drop(name))) {
          assertThatIllegalArgumentException()
              .isThrownBy(call::call)
              .withMessageStartingWith("a name of a map has 1 to 255 bytes of UTF-8: ");
        }
      }
      for (String name :
          List.of("x".repeat(255), "\u00e4".repeat(127) + "a", "\0", "\uD83D\uDE00")) {
        texts(pando, name).put("name", name);
      }
      assertThat(pando.names())
          .containsExactly("\0", "x".repeat(255), "\u00e4".repeat(127) + "a", "\uD83D\uDE00");
      assertThat(texts(pando, "\0")).containsExactly(Map.entry("name", "\0"));
    }
  }

  @Test
  void shouldRefuseKeysThatAreTooLong() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      PandoMap<byte[], Long> map = pando.map("bytes", KeyCodec.byteArrays(), ValueCodec.longs());
      byte[] longest = new byte[65_522];
      Arrays.fill(longest, (byte) -1);
      map.put(longest, 1L);
      assertThat(map.headMap(longest)).isEmpty();
      assertThat(map.tailMap(longest, false)).isEmpty();
      assertThat(map.lastKey()).isEqualTo(longest);
      byte[] longer = new byte[65_523];
      List<Callable<?>> calls =
          List.of(() -> map.put(longer, 1L), () -> map.floorKey(longer), () -> map.headMap(longer));
      for (Callable<?> call : calls) {
        assertThatIllegalArgumentException()
            .isThrownBy(call::call)
            .withMessage(
                "the key is too long: keyBytes=65523, maximum=65522 (a named map has up to 13 bytes"
                    + " in front of a key)");
      }
    }
  }

  @Test
  void shouldLeaveKeysOfNamedMapsToThem() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      PandoMap<byte[], Long> map = pando.map(KeyCodec.byteArrays(), ValueCodec.longs());
      texts(pando, "beside").put("a", "b");
      byte[] greatest = new byte[65_535];
      Arrays.fill(greatest, (byte) -1);
      byte[] nine = Arrays.copyOf(greatest, 9);
      byte[] last = greatest.clone();
      last[8]--;
      map.put(last, 1L);
      map.put(Arrays.copyOf(greatest, 8), 2L);
      assertThat(map.lastKey()).isEqualTo(last);
      assertThat(map).hasSize(2);
      assertThat(map.descendingMap().firstKey()).isEqualTo(last);
      assertThat(map.tailMap(last, false)).isEmpty();
      assertThat(map.higherKey(last)).isNull();
      assertThat(map.usage().keys()).isEqualTo(2);
      for (byte[] key : List.of(greatest, nine)) {
        List<Callable<?>> calls =
            List.of(
                () -> map.put(key, 1L),
                () -> map.get(key),
                () -> map.lowerKey(key),
                () -> map.headMap(key),
                () -> map.getAll(List.of(key)));
        for (Callable<?> call : calls) {
          assertThatIllegalArgumentException()
              .isThrownBy(call::call)
              .withMessageStartingWith(
                  "keys that begin with nine bytes FF are those of named maps");
        }
      }
      map.clear();
      assertThat(texts(pando, "beside")).hasSize(1);
    }
  }

  @Test
  void shouldEstimateItsSizeAndCountItsCalls() {
    try (Pando pando = Pando.open("local:?size=128MiB")) {
      for (String name : List.of("small", "large", "other")) {
        PandoMap<Integer, String> map = pando.map(name, KeyCodec.ints(), VALUES);
        int count = name.equals("small") ? 3 : name.equals("large") ? 20_000 : 400;
        for (int i = 0; i < count; i++) {
          map.put(i, "value " + i);
        }
        assertThat(map.usage().keys()).isBetween(count * 9L / 10, count * 11L / 10);
        assertThat(MeterReadings.of(map))
            .containsEntry("pando.ops", (double) count)
            .containsKey("pando.blocks");
      }
      assertThat(pando.map("small", KeyCodec.ints(), VALUES).usage().keys()).isEqualTo(3);
      PandoMap<String, String> unnamed = pando.map(TEXTS, VALUES);
      assertThat(unnamed.usage().keys()).isZero();
    }
  }

  @Test
  void shouldRefuseNamesOverAnIndexOfWords() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      pando.map(KeyCodec.longs(), ValueCodec.longs());
      for (Callable<?> call :
          List.<Callable<?>>of(() -> texts(pando, "a"), pando::names, () -> pando.drop("a"))) {
        assertThatIllegalStateException()
            .isThrownBy(call::call)
            .withMessage(
                "this pool has an index of words, which has one map: open its first named map"
                    + " before the map without a name, or give that one a name, too");
      }
    }
    IndexOptions deft = SystemUnderTest.of("dex").defaults().options().withComputeServers(1);
    try (Pando pando = Pando.open("local:?size=64MiB", deft)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> texts(pando, "a"))
          .withMessageContaining("which Pando makes with orca alone: system=dex");
    }
  }

  @Test
  void shouldHaveAnUnnamedMapOfWordsBesideNamedOnes() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      texts(pando, "a").put("a", "b");
      PandoMap<Long, Long> longs = pando.map(KeyCodec.longs(), ValueCodec.longs());
      longs.put(Long.MAX_VALUE, 1L);
      longs.put(Long.MIN_VALUE, 2L);
      assertThat(longs).hasSize(2);
      assertThat(longs.name()).isEqualTo("byte-strings");
      assertThatIllegalStateException()
          .isThrownBy(() -> pando.map(TEXTS, VALUES))
          .withMessage("this Pando has its map without a name already: give another map a name");
      assertThat(pando.toString()).contains("map of byte-strings");
      pando.flush();
    }
  }

  @Test
  void shouldEndWhatIsUsedOfADroppedMap() {
    try (Pando pando = Pando.open("local:?size=64MiB")) {
      PandoMap<String, String> map = texts(pando, "a");
      PandoMap<String, String> again = texts(pando, "a");
      for (int i = 0; i < 1_000; i++) {
        map.put("key " + i, "value " + i);
      }
      assertThat(again).isEqualTo(map);
      again.close();
      Iterator<String> iterator = map.keySet().iterator();
      iterator.next();
      NavigableMap<String, String> view = map.headMap("key 5");
      MapSession<String, String> session = map.session();
      map.async().put("b", "c").join();
      assertThat(pando.drop("a")).isTrue();
      assertThat(pando.drop("a")).isFalse();
      List<Callable<?>> calls =
          List.of(
              iterator::next,
              () -> view.get("key 3"),
              view::size,
              () -> session.put("key 3", ""),
              () -> map.put("a", "b"));
      for (Callable<?> call : calls) {
        assertThatIllegalStateException()
            .isThrownBy(call::call)
            .withMessage("the map was dropped: name=a");
      }
      assertThatIllegalStateException().isThrownBy(map::async);
      assertThatIllegalStateException()
          .isThrownBy(() -> again.get("a"))
          .withMessage("the map is closed");
      assertThat(texts(pando, "a")).isEmpty();
    }
  }

  /** Another process puts entries while the map is dropped and made anew: the new one has none. */
  @ParameterizedTest
  @EnumSource
  void shouldHaveNothingOfADroppedMapThatOthersGoOnWith(NamedPool.Kind kind) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(4712));
    try (NamedPool pool = new NamedPool(kind);
        Pando pando = pool.pando();
        Pando other = pool.pando();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < Seeds.count(5, 20, 200); round++) {
        PandoMap<String, String> old = texts(round % 2 == 0 ? other : pando, "a");
        CountDownLatch begun = new CountDownLatch(50);
        AtomicBoolean ends = new AtomicBoolean();
        Future<?> putting =
            threads.submit(() -> {
              for (int i = 0; !ends.get(); i++) {
                old.put("key " + i % 1_000, "of the old map");
                begun.countDown();
              }
            });
        begun.await();
        assertThat(pando.drop("a")).isTrue();
        PandoMap<String, String> fresh = texts(pando, "a");
        assertThat(fresh).isEmpty();
        String key = text(random);
        fresh.put(key, "of the new map");
        assertThat(texts(other, "a")).isEqualTo(Map.of(key, "of the new map"));
        ends.set(true);
        if (round % 2 == 0) {
          putting.get();
        } else {
          assertThatExceptionOfType(ExecutionException.class)
              .isThrownBy(putting::get)
              .withStackTraceContaining("the map was dropped: name=a");
        }
        assertThat(fresh).hasSize(1);
        assertThat(pando.drop("a")).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldMakeOneMapIfSeveralOpenANameAtOnce(NamedPool.Kind kind) throws Exception {
    try (NamedPool pool = new NamedPool(kind);
        Pando one = pool.pando();
        Pando other = pool.pando();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < Seeds.count(20, 100, 1_000); round++) {
        String name = "map " + round;
        CountDownLatch start = new CountDownLatch(1);
        List<Future<PandoMap<String, String>>> opening = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          Pando pando = i % 2 == 0 ? one : other;
          opening.add(
              threads.submit(() -> {
                start.await();
                return texts(pando, name);
              }));
        }
        start.countDown();
        for (int i = 0; i < 4; i++) {
          opening.get(i).get().put("key " + i, name);
        }
        for (Future<PandoMap<String, String>> each : opening) {
          assertThat(each.get()).hasSize(4).containsValue(name);
        }
      }
      assertThat(other.names()).hasSize(Seeds.count(20, 100, 1_000));
    }
  }

  /** Marks the entry of a map as a drop does, and removes some of its keys. */
  private static void beginDrop(NamedPool pool, String name) {
    try (PandoMap<String, NamedMaps.Entry> catalogue =
        PandoMap.of(pool.strings(), KeySpace.CATALOGUE, KeyCodec.utf8(), NamedMaps.Entry.CODEC)) {
      catalogue.computeIfPresent(
          name, (_, entry) -> new NamedMaps.Entry(true, entry.number(), "strings", "strings"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"names", "map", "drop", "another"})
  void shouldEndADropThatAnotherHasBegun(String first) {
    try (NamedPool pool = new NamedPool(NamedPool.Kind.EMBEDDED);
        Pando open = pool.pando()) {
      for (String name : List.of("a", "b")) {
        for (int i = 0; i < 100; i++) {
          texts(open, name).put("key " + i, name);
        }
      }
      beginDrop(pool, "a");
      assertThat(open.names()).containsExactly("b");
      Pando pando = first.equals("another") ? pool.pando() : open;
      switch (first) {
        case "names", "another" -> {}
        case "map" -> assertThat(texts(pando, "a")).isEmpty();
        default -> assertThat(pando.drop("a")).isFalse();
      }
      if (first.equals("names")) {
        assertThat(pool.entries()).isEqualTo(203);
      } else {
        assertThat(texts(pando, "a")).isEmpty();
        assertThat(pool.entries()).isEqualTo(103);
      }
      assertThat(texts(pando, "b")).hasSize(100);
    }
  }

  @Test
  void shouldNumberMapsInTheOrderOfTheirKeysAndApart() {
    TreeMap<Integer, KeySpace> spaces = new TreeMap<>();
    for (int number = 1; number > 0 && number <= KeySpace.NUMBER_MAX; number += 1 + number / 500) {
      spaces.put(number, KeySpace.ofMap(number));
    }
    for (int number : new int[] {127, 128, 16_511, 16_512, 2_113_663, 2_113_664}) {
      spaces.put(number, KeySpace.ofMap(number));
    }
    spaces.put(KeySpace.NUMBER_MAX, KeySpace.ofMap(KeySpace.NUMBER_MAX));
    MemorySegment before = KeySpace.CATALOGUE.end();
    for (KeySpace space : spaces.values()) {
      assertThat(space.prefix().byteSize()).isLessThanOrEqualTo(KeySpace.PREFIX_BYTES_MAX);
      assertThat(ByteIndex.compare(Objects.requireNonNull(before), space.prefix())).isNotPositive();
      before = space.end();
    }
    assertThat(before).isNotNull();
    assertThat(KeySpace.ofMap(127).prefixBytes()).isEqualTo(10);
    assertThat(KeySpace.ofMap(128).prefixBytes()).isEqualTo(11);
    assertThat(KeySpace.ofMap(16_512).prefixBytes()).isEqualTo(12);
    assertThat(KeySpace.ofMap(2_113_664).prefixBytes()).isEqualTo(13);
  }
}
