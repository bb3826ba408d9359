package pando.bench;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a time of up to an hour as nanoseconds: {@code 20ms}. */
final class VirtualTime implements ITypeConverter<Long> {
  private static final Pattern FORM = Pattern.compile("(\\d{1,12})(ns|us|ms|s)");
  private static final Map<String, Long> UNITS =
      Map.of("ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L);
  private static final long NANOS_MAX = 3_600_000_000_000L;

  @Override
  public Long convert(String text) {
    Matcher matcher = FORM.matcher(text);
    if (matcher.matches()) {
      long unit = UNITS.getOrDefault(matcher.group(2), 0L);
      long number = Long.parseLong(matcher.group(1));
      if (number > 0 && number <= NANOS_MAX / unit) {
        return number * unit;
      }
    }
    throw new TypeConversionException(
        "'" + text + "' is not a time above 0 and up to an hour, such as 500us, 20ms or 1s");
  }
}
