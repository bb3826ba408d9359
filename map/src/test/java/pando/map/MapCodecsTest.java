package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.Tuple;
import pando.map.codec.TupleCodec;
import pando.map.codec.ValueCodec;

/** Maps with keys and values of several types, and codecs that do not fit. */
@Timeout(120)
class MapCodecsTest {
  private static final int ENTRIES = 300;

  private static <K, V> void check(
      KeyCodec<K> keys,
      ValueCodec<V> values,
      Function<SplittableRandom, K> key,
      Function<SplittableRandom, V> value) {
    SplittableRandom random = new SplittableRandom(Seeds.of(811));
    try (OpenMap<K, V> open = OpenMap.of(SystemUnderTest.ORCA, keys, values)) {
      TreeMap<K, V> model = new TreeMap<>(keys.order());
      for (int i = 0; i < ENTRIES; i++) {
        K drawn = key.apply(random);
        V stored = value.apply(random);
        assertThat(open.map().put(drawn, stored)).isEqualTo(model.put(drawn, stored));
      }
      assertThat(new ArrayList<>(open.map().keySet())).isEqualTo(new ArrayList<>(model.keySet()));
      assertThat(new ArrayList<>(open.map().values())).isEqualTo(new ArrayList<>(model.values()));
      K middle = key.apply(random);
      assertThat(new ArrayList<>(open.map().descendingMap().headMap(middle).keySet()))
          .isEqualTo(new ArrayList<>(model.descendingMap().headMap(middle).keySet()));
      assertThat(open.map().floorKey(middle)).isEqualTo(model.floorKey(middle));
    }
  }

  @Test
  void shouldRefuseAReversedRangeWithItsKeys() {
    String longer = "z".repeat(100);
    try (Pando pando = Pando.open("local:?size=64MiB");
        PandoMap<String, String> map = pando.map(KeyCodec.strings(), ValueCodec.strings())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap("b", "a"))
          .withMessage("range is reversed: from=b, to=a");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.descendingMap().subMap("a", "b"))
          .withMessage("range is reversed: from=a, to=b, in descending order");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.navigableKeySet().subSet(longer, "a"))
          .withMessageContaining("from=" + "z".repeat(64) + "... of 100 characters, to=a");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.tailMap("m").headMap("b"))
          .withMessageContaining("not inside of the view: low=m, included=true, high=b")
          .withMessageEndingWith("view: low=m, included=true, high=none, included=true");
    }
    try (Pando pando = Pando.open("local:?size=64MiB");
        PandoMap<byte[], String> map = pando.map(KeyCodec.byteArrays(), ValueCodec.strings())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap(new byte[] {2, -1}, new byte[] {1}))
          .withMessage("range is reversed: from=02ff, to=01");
    }
  }

  @Test
  void shouldShowTheBytesOfAPrefixThatIsNoKey() {
    TupleCodec keys = KeyCodec.tuple(KeyCodec.strings(), KeyCodec.longs());
    try (Pando pando = Pando.open("local:?size=64MiB");
        PandoMap<Tuple, String> map = pando.map(keys, ValueCodec.strings())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap(keys.prefix("b")).put(Tuple.of("a", 1L), ""))
          .withMessageMatching(
              "key is not inside of the view: key=.*a.*1.*, view: low=62[0-9a-f]*,.*");
    }
  }

  @Test
  void shouldHaveKeysAndValuesOfOtherTypes() {
    check(
        KeyCodec.doubles(),
        KeyCodec.booleans(),
        random -> random.nextDouble(-9, 9),
        SplittableRandom::nextBoolean);
    check(
        KeyCodec.localDates(),
        KeyCodec.enums(DayOfWeek.class),
        random -> LocalDate.ofEpochDay(random.nextLong(-900, 900)),
        random -> DayOfWeek.of(random.nextInt(1, 8)));
    check(
        KeyCodec.ints(),
        KeyCodec.tuple(KeyCodec.chars(), KeyCodec.floats()),
        random -> random.nextInt(),
        random -> Tuple.of((char) random.nextInt(), (float) random.nextDouble()));
    check(
        KeyCodec.tuple(KeyCodec.bytes(), KeyCodec.localDates()),
        ValueCodec.longs(),
        random ->
            Tuple.of((byte) random.nextInt(3), LocalDate.ofEpochDay(random.nextLong(-90, 90))),
        SplittableRandom::nextLong);
  }

  @Test
  void shouldHaveAViewOfTheTuplesThatBeginAlike() {
    TupleCodec keys = KeyCodec.tuple(KeyCodec.bytes(), KeyCodec.ints());
    try (OpenMap<Tuple, Long> open = OpenMap.of(SystemUnderTest.DEX, keys, ValueCodec.longs())) {
      PandoMap<Tuple, Long> map = open.map();
      for (int first = -128; first < 128; first++) {
        for (int second = -1; second <= 1; second++) {
          map.put(Tuple.of((byte) first, second), (long) first);
        }
      }
      for (int first = -128; first < 128; first++) {
        ConcurrentNavigableMap<Tuple, Long> part = map.subMap(keys.prefix((byte) first));
        assertThat(part.keySet().stream().map(key -> key.get(1)).toList())
            .isEqualTo(List.of(-1, 0, 1));
        assertThat(part.values()).containsOnly((long) first);
      }
      assertThat(map.subMap(keys.prefix())).hasSize(map.size());
      ConcurrentNavigableMap<Tuple, Long> part = map.subMap(keys.prefix((byte) 5));
      assertThatIllegalArgumentException().isThrownBy(() -> part.put(Tuple.of((byte) 6, 0), 1L));
      TupleCodec longer = KeyCodec.tuple(KeyCodec.longs(), KeyCodec.longs());
      assertThatIllegalArgumentException()
          .isThrownBy(() -> map.subMap(longer.prefix(1L, 2L)))
          .withMessage("longer than a key: codec=tuple(bytes, ints), bytes=16, keyBytes=5");
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldRefuseCodecsThatDoNotFit(SystemUnderTest system) {
    try (OpenMap<Long, Long> open = OpenMap.of(system)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(open.index(), KeyCodec.strings(), ValueCodec.longs()))
          .withMessage(system.systemName() + " has keys of 8 bytes: codec=strings");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoMap.of(open.index(), KeyCodec.instants(), ValueCodec.longs()))
          .withMessage(system.systemName() + " has keys of 8 bytes: codec=instants, bytes=12");
    }
  }

  @Test
  void shouldRefuseWordsThatItsCodecsHaveNotMade() {
    try (OpenMap<Integer, Boolean> open =
        OpenMap.of(SystemUnderTest.ORCA, KeyCodec.ints(), KeyCodec.booleans())) {
      try (Session session = open.index().session()) {
        session.put(1, 77);
        session.put(1L << 40, -128);
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> open.map().get(1))
          .withMessageContaining("codec=booleans");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> open.map().lastKey())
          .withMessageContaining("codec=ints, word=1099511627776");
      assertThat(open.map().containsKey(1)).as("sessions were given back").isTrue();
    }
  }

  /** A codec that says another length than it takes. */
  private static final class Liar implements ValueCodec<Long> {
    @Override
    public int fixedBytes() {
      return 4;
    }

    @Override
    public int maxBytes(Long value) {
      return 4;
    }

    @Override
    public int encode(Long value, MemorySegment to, long offset) {
      to.set(ValueLayout.JAVA_BYTE, offset, value.byteValue());
      return value < 0 ? 4 : 1;
    }

    @Override
    public Long decode(MemorySegment from, long offset, int bytes) {
      return (long) from.get(ValueLayout.JAVA_BYTE, offset);
    }

    @Override
    public String toString() {
      return "liar";
    }
  }

  @Test
  void shouldDetectACodecThatBreaksItsLaw() {
    try (OpenMap<Long, Long> open =
        OpenMap.of(SystemUnderTest.ORCA, KeyCodec.longs(), new Liar())) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> open.map().put(1L, 5L))
          .withMessage("the codec has not kept its promise: codec=liar, bytes=1, fixedBytes=4");
      assertThat(open.map()).isEmpty();
      open.map().put(1L, -5L);
      assertThat(open.map().get(1L)).isEqualTo(-5);
    }
  }
}
