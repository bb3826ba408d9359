package pando.cli.text;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Byte strings as text for a terminal, and text as byte strings. */
public final class ByteText {
  private static final int SEQUENCE_BYTES_MAX = 4;

  private ByteText() {}

  /** Returns the bytes of a text in UTF-8. */
  public static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  /**
   * Returns the text that bytes are in UTF-8. What is no text, or cannot be shown, is {@code \x}
   * and the byte in hexadecimal digits; a backslash is two of them.
   */
  public static String shown(MemorySegment string) {
    byte[] bytes = string.toArray(JAVA_BYTE);
    StringBuilder text = new StringBuilder();
    int at = 0;
    while (at < bytes.length) {
      int length = characterLength(bytes, at);
      if (length == 0) {
        text.append("\\x%02x".formatted(bytes[at++]));
      } else {
        text.append(new String(bytes, at, length, UTF_8).replace("\\", "\\\\"));
        at += length;
      }
    }
    return text.toString();
  }

  /** Returns the bytes of the character that begins somewhere, 0 if none does that can be shown. */
  private static int characterLength(byte[] bytes, int at) {
    int end = Math.min(SEQUENCE_BYTES_MAX, bytes.length - at);
    for (int length = 1; length <= end; length++) {
      byte[] some = Arrays.copyOfRange(bytes, at, at + length);
      String character = new String(some, UTF_8);
      if (character.codePointCount(0, character.length()) == 1
          && Arrays.equals(character.getBytes(UTF_8), some)) {
        return isShown(character.codePointAt(0)) ? length : 0;
      }
    }
    return 0;
  }

  private static boolean isShown(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
