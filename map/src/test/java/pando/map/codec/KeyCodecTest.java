package pando.map.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;

/** The law of each codec, over keys that are often equal, near, or begin alike. */
@Timeout(300)
class KeyCodecTest {
  private static final int PAIRS = Seeds.count(4_000, 40_000, 1_000_000);
  private static final int PAIRS_OF_A_SOURCE = 4;
  private static final int HOSTILE_ENCODINGS = Seeds.count(3_000, 20_000, 200_000);
  private static final int MARGIN = 3;

  /** Bytes before and behind an encoding, which encoding must leave alone. */
  private static final byte FILLER = 0x5A;

  private static byte[] encode(KeyCodec<Object> codec, Object key) {
    int max = codec.maxBytes(key);
    byte[] buffer = new byte[max + 2 * MARGIN];
    Arrays.fill(buffer, FILLER);
    int bytes = codec.encode(key, MemorySegment.ofArray(buffer), MARGIN);
    check(bytes <= max, "longer than maxBytes", key, bytes);
    check(codec.fixedBytes() == ValueCodec.VARIABLE || bytes == codec.fixedBytes(), "length", key);
    for (int i = 0; i < MARGIN; i++) {
      check(buffer[i] == FILLER && buffer[max + MARGIN + i] == FILLER, "margin", key, i);
    }
    return Arrays.copyOfRange(buffer, MARGIN, MARGIN + bytes);
  }

  private static Object decode(KeyCodec<Object> codec, byte[] bytes) {
    byte[] buffer = new byte[bytes.length + 2 * MARGIN];
    System.arraycopy(bytes, 0, buffer, MARGIN, bytes.length);
    return codec.decode(MemorySegment.ofArray(buffer), MARGIN, bytes.length);
  }

  /** Cheaper than an assertion, of which there would be millions. */
  private static void check(boolean holds, @Nullable Object... what) {
    if (!holds) {
      throw new AssertionError(Arrays.deepToString(what));
    }
  }

  private static boolean beginsWith(byte[] bytes, byte[] prefix) {
    int mismatch = Arrays.mismatch(bytes, prefix);
    return mismatch < 0 || mismatch == prefix.length;
  }

  @ParameterizedTest
  @FieldSource("pando.map.codec.CodecCase#ALL")
  void shouldKeepKeysAndTheirOrder(CodecCase tried) {
    SplittableRandom random = new SplittableRandom(Seeds.of(601));
    KeyCodec<Object> codec = tried.codec();
    for (int i = 0; i < PAIRS; i += PAIRS_OF_A_SOURCE) {
      Supplier<Object> keys = tried.keys().apply(random);
      for (int j = 0; j < PAIRS_OF_A_SOURCE; j++) {
        Object one = keys.get();
        Object other = keys.get();
        byte[] oneBytes = encode(codec, one);
        byte[] otherBytes = encode(codec, other);
        int compared = Integer.signum(tried.order().compare(one, other));
        check(Objects.deepEquals(decode(codec, oneBytes), one), one, oneBytes);
        check(
            Integer.signum(Arrays.compareUnsigned(oneBytes, otherBytes)) == compared,
            one,
            other,
            oneBytes,
            otherBytes);
        check(Objects.deepEquals(one, other) == (compared == 0), one, other);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.map.codec.CodecCase#ALL")
  void shouldKeepOrderInsideOfTuples(CodecCase tried) {
    SplittableRandom random = new SplittableRandom(Seeds.of(602));
    KeyCodec<Object> part = CodecCase.ofObjects(KeyCodec.tuple(tried.codec()));
    KeyCodec<Object> whole = CodecCase.ofObjects(KeyCodec.tuple(tried.codec(), KeyCodec.bytes()));
    for (int i = 0; i < PAIRS; i += PAIRS_OF_A_SOURCE) {
      Supplier<Object> keys = tried.keys().apply(random);
      for (int j = 0; j < PAIRS_OF_A_SOURCE; j++) {
        Object one = keys.get();
        Object other = keys.get();
        int compared = Integer.signum(tried.order().compare(one, other));
        boolean begins = beginsWith(encode(part, Tuple.of(one)), encode(part, Tuple.of(other)));
        check(begins == (compared == 0), "one begins with the other", one, other);
        Tuple first = Tuple.of(one, (byte) 1);
        Tuple second = Tuple.of(other, (byte) -1);
        byte[] firstBytes = encode(whole, first);
        int inWhole = Arrays.compareUnsigned(firstBytes, encode(whole, second));
        check(Integer.signum(inWhole) == (compared == 0 ? 1 : compared), first, second);
        check(decode(whole, firstBytes).equals(first), first);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.map.codec.CodecCase#ALL")
  void shouldGiveTheRangeOfTuplesThatBeginAlike(CodecCase tried) {
    SplittableRandom random = new SplittableRandom(Seeds.of(603));
    TupleCodec codec = KeyCodec.tuple(KeyCodec.bytes(), tried.codec(), KeyCodec.booleans());
    for (int i = 0; i < PAIRS; i += PAIRS_OF_A_SOURCE) {
      Supplier<Object> keys = tried.keys().apply(random);
      for (int j = 0; j < PAIRS_OF_A_SOURCE; j++) {
        Object part = keys.get();
        byte first = (byte) (random.nextInt(3) == 0 ? 127 : 126);
        PrefixRange one = codec.prefix(first);
        PrefixRange two = codec.prefix(first, part);
        Tuple key = Tuple.of((byte) 127, keys.get(), random.nextBoolean());
        byte[] bytes = encode(CodecCase.ofObjects(codec), key);
        boolean sameFirst = key.get(0).equals(first);
        check(isIn(one, bytes) == sameFirst, one, key);
        check(isIn(two, bytes) == (sameFirst && Objects.deepEquals(key.get(1), part)), two, key);
      }
    }
  }

  private static boolean isIn(PrefixRange range, byte[] bytes) {
    byte[] to = range.to();
    return Arrays.compareUnsigned(range.from(), bytes) <= 0
        && (to == null || Arrays.compareUnsigned(bytes, to) < 0);
  }

  @Test
  void shouldGiveTheRangeOfAllTuples() {
    TupleCodec codec = KeyCodec.tuple(KeyCodec.bytes(), KeyCodec.strings());
    assertThat(codec.prefix().from()).isEmpty();
    assertThat(codec.prefix().to()).isNull();
    assertThat(codec.prefix((byte) 127).to()).isNull();
    assertThat(codec.prefix((byte) 126).to()).containsExactly(0xFF);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.prefix((byte) 1, "a", "b"))
        .withMessage("another number of parts: codec=tuple(bytes, strings), parts=2, given=3");
  }

  @ParameterizedTest
  @FieldSource("pando.map.codec.CodecCase#ALL")
  void shouldRefuseWhatNoKeyIsEncodedAs(CodecCase tried) {
    SplittableRandom random = new SplittableRandom(Seeds.of(604));
    KeyCodec<Object> codec = tried.codec();
    for (int i = 0; i < HOSTILE_ENCODINGS; i++) {
      byte[] bytes = damaged(encode(codec, tried.keys().apply(random).get()), random);
      @Nullable Object decoded = null;
      try {
        decoded = decode(codec, bytes);
      } catch (IllegalArgumentException e) {
        check(e.toString().contains("codec="), e, bytes);
      }
      if (decoded != null) {
        check(Arrays.equals(encode(codec, decoded), bytes), decoded, bytes);
      }
    }
  }

  private static byte[] damaged(byte[] bytes, SplittableRandom random) {
    int place = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
    switch (random.nextInt(4)) {
      case 0 -> {
        return Arrays.copyOf(bytes, place);
      }
      case 1 -> {
        return Arrays.copyOf(bytes, bytes.length + random.nextInt(1, 4));
      }
      case 2 -> random.nextBytes(bytes);
      default -> {
        if (bytes.length > 0) {
          bytes[place] = (byte) (random.nextBoolean() ? -random.nextInt(2) : random.nextInt());
        }
      }
    }
    return bytes;
  }

  @ParameterizedTest
  @FieldSource("pando.map.codec.CodecCase#ALL")
  void shouldRefusePlacesThatAreNotThere(CodecCase tried) {
    KeyCodec<Object> codec = tried.codec();
    SplittableRandom random = new SplittableRandom(Seeds.of(605));
    Object key = tried.keys().apply(random).get();
    byte[] bytes = encode(codec, key);
    while (bytes.length == 0) {
      key = tried.keys().apply(random).get();
      bytes = encode(codec, key);
    }
    Object longer = key;
    MemorySegment little = MemorySegment.ofArray(new byte[bytes.length - 1]);
    int length = bytes.length;
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> codec.encode(longer, little, 0));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> codec.decode(MemorySegment.ofArray(new byte[length]), length, length));
  }

  @Test
  void shouldHaveTheBytesThatTheyPromise() {
    assertBytes(KeyCodec.longs(), -2L, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE);
    assertBytes(KeyCodec.ints(), 3, 0x80, 0, 0, 3);
    assertBytes(KeyCodec.chars(), 'a', 0, 'a');
    assertBytes(KeyCodec.booleans(), true, 1);
    assertBytes(KeyCodec.booleans(), false, 0);
    assertBytes(KeyCodec.enums(TimeUnit.class), TimeUnit.SECONDS, 0, 3);
    assertBytes(KeyCodec.floats(), -0.0f, 0x7F, 0xFF, 0xFF, 0xFF);
    assertBytes(KeyCodec.floats(), 0.0f, 0x80, 0, 0, 0);
    assertBytes(KeyCodec.strings(), "a\0\u00E9\u20AC", 'a', 0, 0xC3, 0xA9, 0xE2, 0x82, 0xAC);
    assertBytes(KeyCodec.strings(), "\uD83D\uDE00", 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80);
    assertBytes(KeyCodec.utf8(), "\uD83D\uDE00", 0xF0, 0x9F, 0x98, 0x80);
    assertBytes(
        KeyCodec.tuple(KeyCodec.strings(), KeyCodec.bytes()),
        Tuple.of("a\0", (byte) 1),
        'a',
        0,
        0xFF,
        0,
        0,
        0x81);
  }

  private static <K> void assertBytes(KeyCodec<K> codec, K key, int... bytes) {
    assertThat(encode(CodecCase.ofObjects(codec), key)).containsExactly(bytes);
  }

  @Test
  void shouldOrderTextByItsUnitsOrByItsCodePoints() {
    String last = "\uFFEE";
    String supplementary = "\uD83D\uDE00";
    assertThat(last.compareTo(supplementary)).isPositive();
    assertThat(KeyCodec.strings().order()).isNull();
    Comparator<? super String> codePoints = Objects.requireNonNull(KeyCodec.utf8().order());
    assertThat(codePoints.compare(last, supplementary)).isNegative();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\uD800", "a\uDC00b", "a\uDC00\uD800", "a\uD800\uD800\uDC00"})
  void shouldRefuseSurrogatesWithoutTheirOtherHalf(String text) {
    MemorySegment buffer = MemorySegment.ofArray(new byte[KeyCodec.utf8().maxBytes(text)]);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyCodec.utf8().encode(text, buffer, 0))
        .withMessageContaining("codec=utf8, place=1");
  }

  @Test
  void shouldRefuseAnotherNumberOfParts() {
    TupleCodec codec = KeyCodec.tuple(KeyCodec.ints(), KeyCodec.ints());
    MemorySegment buffer = MemorySegment.ofArray(new byte[8]);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.encode(Tuple.of(1), buffer, 0))
        .withMessage("another number of parts: codec=tuple(ints, ints), parts=2, given=1");
    assertThatIllegalArgumentException().isThrownBy(() -> codec.maxBytes(Tuple.of(1, 2, 3)));
    assertThatIllegalArgumentException().isThrownBy(KeyCodec::tuple);
    assertThatExceptionOfType(ClassCastException.class)
        .isThrownBy(() -> codec.encode(Tuple.of(1, "2"), buffer, 0));
  }

  @Test
  void shouldRefuseWordsThatDoNotFit() {
    WordCodec<Long> codec = KeyCodec.words("halves", 2, (Long number) -> number, word -> word);
    assertThat(codec.fromWord(codec.toWord(-32_768L))).isEqualTo(-32_768);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.toWord(32_768L))
        .withMessage("too great a number: codec=halves, word=32768, bytes=2");
    assertThatIllegalArgumentException().isThrownBy(() -> codec.fromWord(-32_769));
    assertThatIllegalArgumentException().isThrownBy(() -> KeyCodec.ints().fromWord(1L << 40));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyCodec.words("none", 9, (Long number) -> number, word -> word))
        .withMessage("words have 1 to 8 bytes: codec=none, bytes=9");
  }

  @Test
  @SuppressWarnings({"unchecked", "rawtypes"}) // the mistake under test
  void shouldRefuseConstantsOfAnotherEnum() {
    WordCodec codec = KeyCodec.enums(TimeUnit.class);
    assertThatExceptionOfType(ClassCastException.class)
        .isThrownBy(() -> codec.toWord(Thread.State.NEW));
  }

  @Test
  void shouldEncodeValuesByFunctions() {
    ValueCodec<StringBuilder> codec =
        ValueCodec.of(
            "builders",
            builder -> new byte[] {(byte) builder.length()},
            bytes -> new StringBuilder("x".repeat(bytes[0])));
    MemorySegment buffer = MemorySegment.ofArray(new byte[4]);
    assertThat(codec.fixedBytes()).isEqualTo(ValueCodec.VARIABLE);
    assertThat(codec.encode(new StringBuilder("abc"), buffer, 1)).isOne();
    assertThat(codec.decode(buffer, 1, 1)).hasToString("xxx");
    assertThat(codec).hasToString("builders");
  }
}
