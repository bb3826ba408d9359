package pando.map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Break;
import pando.index.CorruptNodeException;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.Tuple;
import pando.map.codec.TupleCodec;
import pando.map.codec.ValueCodec;

/** Keys and values that are longer than words: their limits, and what becomes of their bytes. */
@Timeout(120)
class LongValuesTest {
  private static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldHaveValuesOfEachLength(SystemUnderTest system) {
    try (OpenMap<Long, byte[]> open =
        OpenMap.of(system, KeyCodec.longs(), ValueCodec.byteArrays())) {
      PandoMap<Long, byte[]> map = open.map();
      int[] lengths = {0, 1, 7, 8, 52, 53, 4_000, 8_180, 8_181, 100_000};
      for (int length : lengths) {
        assertThat(map.put((long) length, bytes(length, 1))).isNull();
      }
      for (int length : lengths) {
        Long key = (long) length;
        assertThat(map.get(key)).isEqualTo(bytes(length, 1));
        assertThat(map.replace(key, bytes(length + 1, 1), bytes(3, 3))).isFalse();
        assertThat(map.replace(key, bytes(length, 1), bytes(length, 2))).isTrue();
        assertThat(map.put(key, bytes(9, 4))).isEqualTo(bytes(length, 2));
        assertThat(map.remove(key, bytes(9, 3))).isFalse();
        assertThat(map.remove(key, bytes(9, 4))).isTrue();
      }
      assertThat(map).isEmpty();
      open.checkNoOrphans();
    }
  }

  /** The words of freed blobs come back: none of what is in their places since is freed. */
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldFreeNothingElseWhereWordsComeBack(SystemUnderTest system) {
    int count = 100;
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        RangeIndex index = system.tiny(2).create(fabric, 0, 1);
        Session session = index.session();
        PandoMap<Long, byte[]> map =
            PandoMap.of(index, KeyCodec.longs(), ValueCodec.byteArrays())) {
      putAll(map, 0, count, 300);
      long[] words = new long[count];
      for (int i = 0; i < count; i++) {
        assertThat(session.get(key(i))).isTrue();
        words[i] = session.value();
      }
      putAll(map, 0, count, 10);
      for (int i = 0; i < count; i++) {
        session.put(key(i), words[i]);
      }
      putAll(map, count, 2 * count, 300);
      putAll(map, 0, count, 10);
      putAll(map, 2 * count, 3 * count, 300);
      for (int i = 0; i < 3 * count; i++) {
        assertThat(map.get(key(i))).isEqualTo(bytes(i < count ? 10 : 300, i));
      }
    }
  }

  /** Stores values by {@code putAll}, which frees those before without having loaded them. */
  private static void putAll(PandoMap<Long, byte[]> map, int from, int to, int length) {
    for (int i = from; i < to; i++) {
      map.putAll(Map.of(key(i), bytes(length, i)));
    }
  }

  /** Returns a key of the first of several compute servers. */
  private static long key(int number) {
    return Long.MIN_VALUE + number;
  }

  @ParameterizedTest
  @FieldSource("pando.map.MapUnderTest#BLOBS")
  void shouldRefuseValuesThatAreTooLong(MapUnderTest kind) {
    checkTooLong(kind);
  }

  @Test
  void shouldRefuseByteStringsThatAreTooLong() {
    checkTooLong(MapUnderTest.BYTES);
    try (OpenMap<byte[], byte[]> open =
        OpenMap.of(null, KeyCodec.byteArrays(), ValueCodec.byteArrays())) {
      PandoMap<byte[], byte[]> map = open.map();
      byte[] longest = new byte[65_535];
      Arrays.fill(longest, (byte) -2);
      assertThat(map.put(longest, new byte[3])).isNull();
      assertThat(map.put(new byte[0], new byte[4])).isNull();
      assertThat(map.get(longest)).hasSize(3);
      assertThat(map.get(new byte[0])).hasSize(4);
      assertThat(map.headMap(longest, true)).hasSize(2);
      assertThat(map.tailMap(longest, false)).isEmpty();
      assertThat(map.tailMap(new byte[0], false)).hasSize(1);
      assertThat(map.higherKey(new byte[0])).isEqualTo(longest);
      assertThat(map.lowerKey(longest)).isEmpty();
      String message = "the key is too long: keyBytes=65536, maximum=65535";
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.put(new byte[65_536], new byte[1]))
          .withMessage(message);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.headMap(new byte[65_536]))
          .withMessage(message);
    }
  }

  private static void checkTooLong(MapUnderTest kind) {
    KeyCodec<Long> keys = kind.system() == null ? new LongStrings() : KeyCodec.longs();
    try (OpenMap<Long, byte[]> open = OpenMap.of(kind.system(), keys, ValueCodec.byteArrays())) {
      PandoMap<Long, byte[]> map = open.map();
      Throwable refused = catchThrowable(() -> map.put(1L, new byte[(16 << 20) + 1]));
      assertThat(refused)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the value is too long");
      assertThat(map).isEmpty();
      int most =
          Integer.parseInt(String.valueOf(refused.getMessage()).replaceAll(".*maximum=", ""));
      assertThat(map.put(1L, bytes(most, 1))).isNull();
      assertThat(map.get(1L)).isEqualTo(bytes(most, 1));
      assertThat(map.put(1L, new byte[1])).isEqualTo(bytes(most, 1));
      open.checkNoOrphans();
    }
  }

  @Test
  void shouldLetReadersSeeValuesInPlace() {
    for (MapUnderTest kind : List.of(MapUnderTest.BLOBS.get(1), MapUnderTest.BYTES)) {
      KeyCodec<Long> keys = kind.system() == null ? new LongStrings() : KeyCodec.longs();
      try (OpenMap<Long, String> open = OpenMap.of(kind.system(), keys, ValueCodec.strings());
          MapSession<Long, String> session = open.map().session()) {
        for (String text : List.of("", "short", "long".repeat(100))) {
          session.put(1L, text);
          List<String> read = new ArrayList<>();
          ValueReader reader =
              (bytes, offset, length) ->
                  read.add(
                      new String(
                          bytes.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), UTF_8));
          assertThat(session.get(1L, reader)).isTrue();
          assertThat(session.get(2L, reader)).isFalse();
          assertThat(read).containsExactly(text);
        }
        assertThatIllegalStateException()
            .isThrownBy(() -> session.get(1L, (bytes, offset, length) -> session.get(1L)))
            .withMessage("a session must not be used by its own reader");
        assertThat(session.get(1L)).startsWith("long");
      }
    }
    try (OpenMap<Long, Integer> open =
            OpenMap.of(SystemUnderTest.ORCA, KeyCodec.longs(), KeyCodec.ints());
        MapSession<Long, Integer> session = open.map().session()) {
      session.put(1L, -2);
      assertThat(
              session.get(
                  1L,
                  (bytes, offset, length) ->
                      assertThat(KeyCodec.ints().decode(bytes, offset, length)).isEqualTo(-2)))
          .isTrue();
    }
  }

  @Test
  void shouldHaveKeysOfEachCodec() {
    check(KeyCodec.strings(), random -> Long.toString(random.nextLong(), 36));
    check(KeyCodec.utf8(), random -> Character.toString(random.nextInt(0x1F600, 0x1F700)));
    check(KeyCodec.uuids(), random -> new UUID(random.nextLong(), random.nextLong()));
    check(KeyCodec.instants(), random -> Instant.ofEpochMilli(random.nextLong(1L << 42)));
    check(
        KeyCodec.tuple(KeyCodec.strings(), KeyCodec.longs()),
        random -> Tuple.of("a\0".repeat(random.nextInt(4)), random.nextLong(-9, 9)));
  }

  private interface Drawing<K> {
    K key(SplittableRandom random);
  }

  private static <K> void check(KeyCodec<K> keys, Drawing<K> drawing) {
    SplittableRandom random = new SplittableRandom(Seeds.of(821));
    try (OpenMap<K, String> open = OpenMap.of(null, keys, ValueCodec.strings())) {
      TreeMap<K, String> model = new TreeMap<>(keys.order());
      for (int i = 0; i < 300; i++) {
        K key = drawing.key(random);
        String value = "v".repeat(random.nextInt(100));
        assertThat(open.map().put(key, value)).isEqualTo(model.put(key, value));
      }
      K middle = drawing.key(random);
      assertThat(new ArrayList<>(open.map().entrySet()))
          .isEqualTo(new ArrayList<>(model.entrySet()));
      assertThat(new ArrayList<>(open.map().descendingMap().headMap(middle).keySet()))
          .isEqualTo(new ArrayList<>(model.descendingMap().headMap(middle).keySet()));
      assertThat(open.map().floorKey(middle)).isEqualTo(model.floorKey(middle));
      assertThat(open.map().higherKey(middle)).isEqualTo(model.higherKey(middle));
      assertThat(open.map().firstKey()).isEqualTo(model.firstKey());
    }
  }

  @Test
  void shouldHaveAViewOfTheTuplesThatBeginAlike() {
    TupleCodec keys = KeyCodec.tuple(KeyCodec.strings(), KeyCodec.longs());
    try (OpenMap<Tuple, Long> open = OpenMap.of(null, keys, ValueCodec.longs())) {
      PandoMap<Tuple, Long> map = open.map();
      for (String first : List.of("", "a", "ab", "b")) {
        for (long second = -1; second <= 1; second++) {
          map.put(Tuple.of(first, second), second);
        }
      }
      assertThat(map.subMap(keys.prefix("a")).values()).containsExactly(-1L, 0L, 1L);
      assertThat(map.subMap(keys.prefix("a")).descendingMap().firstKey())
          .isEqualTo(Tuple.of("a", 1L));
      assertThat(map.subMap(keys.prefix())).hasSize(12);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap(keys.prefix("a")).put(Tuple.of("b", 0L), 1L))
          .withMessageContaining("not inside of the view");
    }
  }

  /** A batch of long values ends early. */
  @Test
  void shouldIterateOverLongValues() {
    for (@Nullable SystemUnderTest system : Arrays.asList(SystemUnderTest.DEX, null)) {
      KeyCodec<Long> keys = system == null ? new LongStrings() : KeyCodec.longs();
      try (OpenMap<Long, byte[]> open = OpenMap.of(system, keys, ValueCodec.byteArrays())) {
        for (long key = 0; key < 30; key++) {
          open.map().put(key, bytes(200_000, (int) key));
        }
        long[] next = {0};
        open.map()
            .forEach((key, value) -> {
              assertThat(key).isEqualTo(next[0]++);
              assertThat(value).isEqualTo(bytes(200_000, key.intValue()));
            });
        assertThat(next[0]).isEqualTo(30);
        open.map().descendingMap().values().removeIf(value -> value.length == 200_000);
        assertThat(open.map()).isEmpty();
        open.checkNoOrphans();
      }
    }
  }

  /** After each failure the entry has its old or its new value, whole; if it is told, the old. */
  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldNeitherLoseNorFreeTwiceWhereAVerbFails(Break how) {
    long seed = Seeds.of(831);
    for (SystemUnderTest system : SystemUnderTest.PRODUCTS) {
      if (system.systemName().equals("deft") && !how.isAnswered()) {
        continue; // a ticket that was drawn without an answer is never given back
      }
      SplittableRandom random = new SplittableRandom(seed);
      HookedFabric fabric = new HookedFabric(OpenMap.pool()).withThreads();
      try (OpenMap<Long, Long> open =
          OpenMap.of(fabric, system, KeyCodec.longs(), new LongBlobs())) {
        Map<Long, Long> model = new HashMap<>();
        for (int i = 0; i < Seeds.count(300, 600, 10_000); i++) {
          change(fabric, open.map(), model, random, how);
        }
        assertThat(open.map().equals(model)).isTrue();
        Set<Long> keys = new HashSet<>(model.keySet());
        keys.forEach(key -> assertThat(open.map().remove(key)).isEqualTo(model.remove(key)));
        assertThat(open.map()).isEmpty();
      }
    }
  }

  /** A verb of a background task may have met the failure just now, and verbs behind it, too. */
  private static @Nullable Long get(HookedFabric fabric, PandoMap<Long, Long> map, Long key) {
    for (int attempt = 0; ; attempt++) {
      fabric.unhook();
      try {
        return map.get(key);
      } catch (MemoryServerLostException e) {
        assertThat(attempt).isLessThan(10);
      }
    }
  }

  private static void change(
      HookedFabric fabric,
      PandoMap<Long, Long> map,
      Map<Long, Long> model,
      SplittableRandom random,
      Break how) {
    Long key = random.nextLong(40);
    Long value = random.nextLong(1_000_000);
    @Nullable Long before = model.get(key);
    int kind = random.nextInt(6);
    int[] left = {random.nextInt(8)};
    fabric.hookNext(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
    Throwable failure =
        catchThrowable(() -> {
          switch (kind) {
            case 0, 1 -> map.put(key, value);
            case 2 -> map.putIfAbsent(key, value);
            case 3 -> map.replace(key, before == null ? value : before, value);
            case 4 -> map.remove(key);
            default -> map.merge(key, value, (one, other) -> other);
          }
        });
    @Nullable Long found = get(fabric, map, key);
    @Nullable Long after = kind == 4 ? null : value;
    if (failure == null) {
      boolean keeps = kind == 2 ? before != null : kind == 3 && before == null;
      after = keeps ? before : after;
      assertThat(found).isEqualTo(after);
    } else {
      assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
      assertThat(found).isIn(before, after);
      if (failure instanceof PandoException && !(failure instanceof UnknownOutcomeException)) {
        assertThat(found).isEqualTo(before);
      }
    }
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
  }

  @Test
  void shouldDetectAValueThatIsDamaged() {
    try (OpenMap<Long, Long> open =
        OpenMap.of(SystemUnderTest.DEX, KeyCodec.longs(), new LongBlobs())) {
      PandoMap<Long, Long> map = open.map();
      map.put(1L, 100L);
      try (Session session = open.index().session()) {
        session.get(1L);
        session.put(2L, session.value()); // the word of another key's value
      }
      assertThat(catchThrowable(() -> map.get(2L)))
          .isInstanceOf(CorruptNodeException.class)
          .hasMessageContaining("is not the value of its key: key=2");
      assertThat(map.get(1L)).isEqualTo(100);
      try (Session session = open.index().session()) {
        session.remove(2L);
      }
      open.checkNoOrphans();
    }
  }

  @Test
  void shouldOpenAPoolWithKeysAndValuesOfAnyLength() {
    try (Pando pando = Pando.open("local:");
        PandoMap<String, byte[]> map = pando.map(KeyCodec.strings(), ValueCodec.byteArrays())) {
      map.put("ada", new byte[100]);
      map.merge("ada", new byte[2], (one, other) -> new byte[one.length + other.length]);
      assertThat(map.get("ada")).hasSize(102);
      assertThat(map.subMap("a", "b").descendingMap().firstKey()).isEqualTo("ada");
    }
    try (Pando pando = Pando.open("local:", SystemUnderTest.of("rolex").tiny(1).options())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> pando.map(KeyCodec.strings(), ValueCodec.strings()))
          .withMessage("rolex has keys of 8 bytes: codec=strings");
      try (PandoMap<Integer, String> map = pando.map(KeyCodec.ints(), ValueCodec.strings())) {
        assertThat(map.putIfAbsent(1, "one ".repeat(20))).isNull();
        assertThat(map.get(1)).hasSize(80);
      }
    }
  }
}
