package pando.bench;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Lengths of values in bytes, both ends included.
 *
 * @param least 0 or more
 * @param most at least that, and up to {@link #BYTES_MAX}
 */
record LengthRange(int least, int most) {
  /** Greatest length. */
  static final int BYTES_MAX = 1 << 20;

  /** Reads {@code 0..4000}. */
  static final class Converter implements ITypeConverter<LengthRange> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,7})\\.\\.(\\d{1,7})");

    @Override
    public LengthRange convert(String text) {
      Matcher matcher = FORM.matcher(text);
      if (matcher.matches()) {
        int least = Integer.parseInt(matcher.group(1));
        int most = Integer.parseInt(matcher.group(2));
        if (least <= most && most <= BYTES_MAX) {
          return new LengthRange(least, most);
        }
      }
      throw new TypeConversionException(
          "'" + text + "' is not a range of lengths up to " + BYTES_MAX + ", such as 0..4000");
    }
  }
}
