package pando.map.codec;

import java.time.Instant;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A codec, and keys to try it with.
 *
 * @param keys makes a source of keys, which are often equal, near, or begin alike
 */
record CodecCase(KeyCodec<Object> codec, Function<SplittableRandom, Supplier<Object>> keys) {
  private static final String UNITS =
      "\0\1ab\u007F\u0080\u07FF\u0800\uD7FF\uD800\uDBFF\uDC00\uDFFF\uE000\uFFEE\uFFFF";
  private static final String[] CHARACTERS = {
    "\0",
    "\1",
    "a",
    "\u007F",
    "\u0080",
    "\u07FF",
    "\u0800",
    "\uD7FF",
    "\uE000",
    "\uFFEE",
    "\uFFFF",
    "\uD800\uDC00",
    "\uD83D\uDE00",
    "\uDBFF\uDFFF"
  };
  private static final byte[] BYTES = {0, 1, 2, 'a', 127, -128, -2, -1};
  private static final double[] DOUBLES = {
    0.0,
    -0.0,
    1,
    -1,
    Double.NaN,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    Double.MAX_VALUE,
    -Double.MAX_VALUE,
    Double.MIN_VALUE,
    -Double.MIN_VALUE,
    Double.MIN_NORMAL,
    Double.longBitsToDouble(0xFFF8_0000_0000_0001L),
    Double.longBitsToDouble(0x7FF0_0000_0000_0001L)
  };
  private static final float[] FLOATS = {
    0.0f,
    -0.0f,
    1,
    -1,
    Float.NaN,
    Float.POSITIVE_INFINITY,
    Float.NEGATIVE_INFINITY,
    Float.MAX_VALUE,
    -Float.MAX_VALUE,
    Float.MIN_VALUE,
    -Float.MIN_VALUE,
    Float.MIN_NORMAL,
    Float.intBitsToFloat(0xFFC0_0001),
    Float.intBitsToFloat(0x7F80_0001)
  };

  static final List<CodecCase> ALL =
      List.of(
          of(KeyCodec.longs(), CodecCase::longs),
          of(KeyCodec.ints(), random -> map(longs(random), Long::intValue)),
          of(KeyCodec.shorts(), random -> map(longs(random), Long::shortValue)),
          of(KeyCodec.bytes(), random -> map(longs(random), Long::byteValue)),
          of(KeyCodec.chars(), random -> map(longs(random), number -> (char) number.longValue())),
          of(KeyCodec.booleans(), random -> random::nextBoolean),
          of(KeyCodec.doubles(), CodecCase::doubles),
          of(KeyCodec.floats(), CodecCase::floats),
          of(KeyCodec.strings(), random -> texts(random, UNITS.split(""))),
          of(KeyCodec.utf8(), random -> texts(random, CHARACTERS)),
          of(KeyCodec.uuids(), CodecCase::uuids),
          of(KeyCodec.uuidsUnsigned(), CodecCase::uuids),
          of(KeyCodec.byteArrays(), CodecCase::byteArrays),
          of(KeyCodec.instants(), CodecCase::instants),
          of(KeyCodec.localDates(), CodecCase::localDates),
          of(KeyCodec.enums(TimeUnit.class), random -> oneOf(random, TimeUnit.values())),
          of(
              KeyCodec.words("tens", 3, (Integer tens) -> tens / 10, word -> (int) word * 10),
              random -> map(longs(random), number -> (int) (number << 40 >> 40) * 10)),
          tuple(
              KeyCodec.tuple(KeyCodec.strings(), KeyCodec.ints()),
              random -> texts(random, UNITS.split("")),
              random -> map(longs(random), Long::intValue)),
          tuple(KeyCodec.tuple(KeyCodec.byteArrays()), CodecCase::byteArrays),
          tuple(
              KeyCodec.tuple(KeyCodec.byteArrays(), KeyCodec.utf8(), KeyCodec.byteArrays()),
              CodecCase::byteArrays,
              random -> texts(random, CHARACTERS),
              CodecCase::byteArrays),
          tuple(
              KeyCodec.tuple(KeyCodec.booleans(), KeyCodec.shorts(), KeyCodec.uuidsUnsigned()),
              random -> random::nextBoolean,
              random -> map(longs(random), Long::shortValue),
              CodecCase::uuids),
          tuple(
              KeyCodec.tuple(
                  KeyCodec.tuple(KeyCodec.byteArrays(), KeyCodec.bytes()), KeyCodec.strings()),
              random ->
                  tuples(random, CodecCase::byteArrays, each -> map(longs(each), Long::byteValue)),
              random -> texts(random, UNITS.split(""))));

  private static <K> CodecCase of(
      KeyCodec<K> codec, Function<SplittableRandom, ? extends Supplier<? extends K>> keys) {
    return new CodecCase(ofObjects(codec), random -> keys.apply(random)::get);
  }

  /** Returns a codec whose keys are not known to the compiler. */
  @SuppressWarnings("unchecked") // Keys of another class are a ClassCastException.
  static KeyCodec<Object> ofObjects(KeyCodec<?> codec) {
    return (KeyCodec<Object>) codec;
  }

  @SafeVarargs
  private static CodecCase tuple(
      TupleCodec codec, Function<SplittableRandom, ? extends Supplier<?>>... parts) {
    return of(codec, random -> tuples(random, parts));
  }

  @SafeVarargs
  private static Supplier<Tuple> tuples(
      SplittableRandom random, Function<SplittableRandom, ? extends Supplier<?>>... parts) {
    Supplier<?>[] sources = new Supplier<?>[parts.length];
    for (int i = 0; i < parts.length; i++) {
      sources[i] = parts[i].apply(random);
    }
    return () -> {
      Object[] values = new Object[sources.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = sources[i].get();
      }
      return Tuple.of(values);
    };
  }

  private static <A, B> Supplier<B> map(Supplier<A> source, Function<A, B> function) {
    return () -> function.apply(source.get());
  }

  /** Numbers next to each other, often where a bit of higher value changes. */
  private static Supplier<Long> longs(SplittableRandom random) {
    long base =
        switch (random.nextInt(3)) {
          case 0 -> 0;
          case 1 -> 1L << random.nextInt(Long.SIZE);
          default -> random.nextLong() >> random.nextInt(Long.SIZE);
        };
    return () -> base + random.nextInt(-1, 2);
  }

  private static Supplier<Double> doubles(SplittableRandom random) {
    double base =
        random.nextBoolean()
            ? DOUBLES[random.nextInt(DOUBLES.length)]
            : Double.longBitsToDouble(random.nextLong());
    return () ->
        switch (random.nextInt(4)) {
          case 0 -> DOUBLES[random.nextInt(DOUBLES.length)];
          case 1 -> Math.nextUp(base);
          case 2 -> -base;
          default -> base;
        };
  }

  private static Supplier<Float> floats(SplittableRandom random) {
    float base =
        random.nextBoolean()
            ? FLOATS[random.nextInt(FLOATS.length)]
            : Float.intBitsToFloat(random.nextInt());
    return () ->
        switch (random.nextInt(4)) {
          case 0 -> FLOATS[random.nextInt(FLOATS.length)];
          case 1 -> Math.nextUp(base);
          case 2 -> -base;
          default -> base;
        };
  }

  /** Texts of two of the characters, so that many begin alike. */
  private static Supplier<String> texts(SplittableRandom random, String[] characters) {
    String one = characters[random.nextInt(characters.length)];
    String other = characters[random.nextInt(characters.length)];
    return () -> {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(6); length > 0; length--) {
        text.append(random.nextInt(4) == 0 ? other : one);
      }
      return text.toString();
    };
  }

  private static Supplier<byte[]> byteArrays(SplittableRandom random) {
    byte one = BYTES[random.nextInt(BYTES.length)];
    byte other = BYTES[random.nextInt(BYTES.length)];
    return () -> {
      byte[] bytes = new byte[random.nextInt(6)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = random.nextInt(4) == 0 ? other : one;
      }
      return bytes;
    };
  }

  private static Supplier<UUID> uuids(SplittableRandom random) {
    Supplier<Long> high = longs(random);
    Supplier<Long> low = longs(random);
    return () -> new UUID(high.get(), low.get());
  }

  private static Supplier<Instant> instants(SplittableRandom random) {
    if (random.nextInt(8) == 0) {
      return oneOf(random, Instant.MIN, Instant.MAX, Instant.EPOCH, Instant.MAX.minusNanos(1));
    }
    long seconds =
        random.nextLong(Instant.MIN.getEpochSecond() + 1, Instant.MAX.getEpochSecond())
            >> random.nextInt(Long.SIZE);
    return () ->
        Instant.ofEpochSecond(
            seconds + random.nextInt(-1, 1), random.nextBoolean() ? 0 : 999_999_999);
  }

  private static Supplier<LocalDate> localDates(SplittableRandom random) {
    if (random.nextInt(8) == 0) {
      return oneOf(random, LocalDate.MIN, LocalDate.MAX, LocalDate.EPOCH);
    }
    long day =
        random.nextLong(LocalDate.MIN.toEpochDay() + 1, LocalDate.MAX.toEpochDay())
            >> random.nextInt(Long.SIZE);
    return () -> LocalDate.ofEpochDay(day + random.nextInt(-1, 2));
  }

  @SafeVarargs
  private static <T> Supplier<T> oneOf(SplittableRandom random, T... values) {
    return () -> values[random.nextInt(values.length)];
  }

  /** Returns the order that the codec promises. */
  Comparator<? super Object> order() {
    return TupleCodec.orderOf(codec);
  }

  @Override
  public String toString() {
    return codec.toString();
  }
}
