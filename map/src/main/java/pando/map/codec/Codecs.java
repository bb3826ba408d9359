package pando.map.codec;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.UUID;

/** The codecs that have no settings. */
final class Codecs {
  static final WordCodec<Long> LONGS = new WordCodec<>("longs", 8, Long::longValue, w -> w);
  static final WordCodec<Integer> INTS =
      new WordCodec<>("ints", 4, Integer::longValue, w -> (int) w);
  static final WordCodec<Short> SHORTS =
      new WordCodec<>("shorts", 2, Short::longValue, w -> (short) w);
  static final WordCodec<Byte> BYTES = new WordCodec<>("bytes", 1, Byte::longValue, w -> (byte) w);
  static final WordCodec<Character> CHARS =
      new WordCodec<>("chars", 2, c -> c + Short.MIN_VALUE, w -> (char) (w - Short.MIN_VALUE));
  static final WordCodec<Boolean> BOOLEANS =
      new WordCodec<>("booleans", 1, b -> Byte.MIN_VALUE + (b ? 1 : 0), Codecs::toBoolean);
  static final WordCodec<Double> DOUBLES =
      new WordCodec<>("doubles", 8, d -> flip(Double.doubleToLongBits(d)), Codecs::toDouble);
  static final WordCodec<Float> FLOATS =
      new WordCodec<>("floats", 4, f -> flip(Float.floatToIntBits(f)), Codecs::toFloat);
  static final WordCodec<LocalDate> LOCAL_DATES =
      new WordCodec<>("localDates", 5, LocalDate::toEpochDay, Codecs::toLocalDate);
  static final KeyCodec<String> STRINGS = new TextCodec("strings", false);
  static final KeyCodec<String> UTF8 = new TextCodec("utf8", true);
  static final KeyCodec<UUID> UUIDS = new UuidCodec("uuids", Long.MIN_VALUE, null);
  static final KeyCodec<UUID> UUIDS_UNSIGNED =
      new UuidCodec("uuidsUnsigned", 0, UuidCodec.UNSIGNED);
  static final KeyCodec<byte[]> BYTE_ARRAYS = new ByteArrayCodec();
  static final KeyCodec<Instant> INSTANTS = new InstantCodec();

  private Codecs() {}

  @SuppressWarnings("EnumOrdinal") // The order of constants is that of their ordinal numbers.
  static <E extends Enum<E>> WordCodec<E> enums(Class<E> type) {
    E[] constants = type.getEnumConstants();
    String name = "enums(" + type.getSimpleName() + ")";
    return new WordCodec<>(
        name,
        2,
        constant -> type.cast(constant).ordinal() + Short.MIN_VALUE,
        word -> {
          int ordinal = (int) word - Short.MIN_VALUE;
          if (ordinal >= constants.length) {
            throw new IllegalArgumentException(
                "no such constant: codec=%s, ordinal=%s, constants=%s"
                    .formatted(name, ordinal, constants.length));
          }
          return constants[ordinal];
        });
  }

  private static boolean toBoolean(long word) {
    long number = word - Byte.MIN_VALUE;
    if (number > 1) {
      throw new IllegalArgumentException("neither 0 nor 1: codec=booleans, byte=" + number);
    }
    return number == 1;
  }

  /** Turns the bits of a number, which have a sign and a magnitude, into a number, and back. */
  private static long flip(long bits) {
    return bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE);
  }

  private static int flip(int bits) {
    return bits ^ ((bits >> (Integer.SIZE - 1)) & Integer.MAX_VALUE);
  }

  private static double toDouble(long word) {
    double value = Double.longBitsToDouble(flip(word));
    if (Double.isNaN(value) && Double.doubleToLongBits(value) != flip(word)) {
      throw new IllegalArgumentException(
          "another NaN: codec=doubles, bits=" + Long.toHexString(flip(word)));
    }
    return value;
  }

  private static float toFloat(long word) {
    int bits = flip((int) word);
    float value = Float.intBitsToFloat(bits);
    if (Float.isNaN(value) && Float.floatToIntBits(value) != bits) {
      throw new IllegalArgumentException(
          "another NaN: codec=floats, bits=" + Integer.toHexString(bits));
    }
    return value;
  }

  private static LocalDate toLocalDate(long word) {
    try {
      return LocalDate.ofEpochDay(word);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException("no such date: codec=localDates, epochDay=" + word, e);
    }
  }
}
