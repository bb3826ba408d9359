package pando.map.codec;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * Text in sequences of bytes as UTF-8 has them, either for each code point or for each UTF-16 unit.
 * Sequences of more bytes than needed are refused, so each text has one encoding.
 */
final class TextCodec implements KeyCodec<String> {
  /** Least number that needs a sequence of so many bytes. */
  private static final int[] LEAST = {0, 0, 0x80, 0x800, 0x10000};

  private static final int UNIT_BYTES_MAX = 3;

  private final String name;
  private final boolean codePoints;

  TextCodec(String name, boolean codePoints) {
    this.name = name;
    this.codePoints = codePoints;
  }

  @Override
  public int fixedBytes() {
    return VARIABLE;
  }

  @Override
  public int maxBytes(String text) {
    return Encodings.maxBytes(this, (long) UNIT_BYTES_MAX * text.length());
  }

  @Override
  public int encode(String text, MemorySegment to, long offset) {
    long at = offset;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (unit < LEAST[2]) {
        Encodings.set(to, at++, unit);
      } else if (codePoints && Character.isSurrogate(unit)) {
        at = encode(pair(text, i++), 4, to, at);
      } else {
        at = encode(unit, unit < LEAST[3] ? 2 : 3, to, at);
      }
    }
    return (int) (at - offset);
  }

  private int pair(String text, int place) {
    int point = text.codePointAt(place);
    if (!Character.isSupplementaryCodePoint(point)) {
      throw new IllegalArgumentException(
          "a surrogate without its other half: codec=%s, place=%s, unit=%s"
              .formatted(name, place, Integer.toHexString(point)));
    }
    return point;
  }

  /** Writes a sequence of at least two bytes, and returns where it ends. */
  private static long encode(int number, int bytes, MemorySegment to, long offset) {
    int lead = -1 << (Byte.SIZE - bytes);
    Encodings.set(to, offset, lead | (number >> (6 * (bytes - 1))));
    for (int i = 1; i < bytes; i++) {
      Encodings.set(to, offset + i, 0x80 | ((number >> (6 * (bytes - 1 - i))) & 0x3F));
    }
    return offset + bytes;
  }

  @Override
  public String decode(MemorySegment from, long offset, int bytes) {
    int units = units(from, offset, bytes);
    if (units < 0) {
      byte[] ascii = new byte[bytes];
      MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, ascii, 0, bytes);
      return new String(ascii, ISO_8859_1);
    }
    char[] text = new char[units];
    int length = 0;
    for (int at = 0; at < bytes; ) {
      int sequence = sequence(Encodings.unsigned(from, offset + at), at);
      if (sequence > bytes - at) {
        throw Encodings.malformed(this, "truncated", at);
      }
      length += Character.toChars(number(from, offset, at, sequence), text, length);
      at += sequence;
    }
    return new String(text, 0, length);
  }

  /** Returns the number of UTF-16 units of what is well-formed, -1 if all bytes are ASCII. */
  private static int units(MemorySegment from, long offset, int bytes) {
    int units = 0;
    int high = 0;
    for (int i = 0; i < bytes; i++) {
      int unsigned = Encodings.unsigned(from, offset + i);
      high |= unsigned;
      units += (unsigned & 0xC0) == 0x80 ? 0 : unsigned < 0xF0 ? 1 : 2;
    }
    return high < 0x80 ? -1 : units;
  }

  /** Returns the length of the sequence that a byte begins. */
  private int sequence(int lead, int place) {
    int ones = Integer.numberOfLeadingZeros(~(lead << (Integer.SIZE - Byte.SIZE)));
    int max = codePoints ? 4 : UNIT_BYTES_MAX;
    if (ones == 1 || ones > max) {
      throw Encodings.malformed(
          this, "no sequence begins with " + Integer.toHexString(lead), place);
    }
    return Math.max(1, ones);
  }

  private int number(MemorySegment from, long offset, int place, int bytes) {
    int number = Encodings.unsigned(from, offset + place);
    if (bytes == 1) {
      return number;
    }
    number &= 0x7F >> bytes;
    for (int i = 1; i < bytes; i++) {
      int next = Encodings.unsigned(from, offset + place + i);
      if ((next & 0xC0) != 0x80) {
        throw Encodings.malformed(
            this, "no sequence goes on with " + Integer.toHexString(next), place + i);
      }
      number = (number << 6) | (next & 0x3F);
    }
    if (number < LEAST[bytes]) {
      throw Encodings.malformed(this, "a sequence with more bytes than needed", place);
    }
    if (codePoints && !isCodePointOfText(number)) {
      throw Encodings.malformed(this, "no character " + Integer.toHexString(number), place);
    }
    return number;
  }

  private static boolean isCodePointOfText(int number) {
    return number < Character.MIN_SURROGATE
        || (number > Character.MAX_SURROGATE && number <= Character.MAX_CODE_POINT);
  }

  @Override
  public @Nullable Comparator<? super String> order() {
    return codePoints ? TextCodec::compareCodePoints : null;
  }

  /** Compares the first units that differ; surrogates stand for what is above all other units. */
  private static int compareCodePoints(String one, String other) {
    int length = Math.min(one.length(), other.length());
    for (int i = 0; i < length; i++) {
      char a = one.charAt(i);
      char b = other.charAt(i);
      if (a != b) {
        int surrogates = Boolean.compare(Character.isSurrogate(a), Character.isSurrogate(b));
        return surrogates != 0 ? surrogates : Character.compare(a, b);
      }
    }
    return Integer.compare(one.length(), other.length());
  }

  @Override
  public String toString() {
    return name;
  }
}
