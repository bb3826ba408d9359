package pando.cli.option;

import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads counts and sizes: digits, with a fraction if the result is a whole number, and a unit: K,
 * M, G, T for thousands, Ki, Mi, Gi, Ti for 1024s; a B may follow.
 */
public final class Quantity implements ITypeConverter<Long> {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)(?:([KMGT])(i?))?B?");

  private static final List<String> UNITS = List.of("K", "M", "G", "T");

  @Override
  public Long convert(String text) {
    return parse(text);
  }

  /**
   * Reads a quantity.
   *
   * @throws TypeConversionException if the text is no quantity, or its value is not a whole number
   *     or above 2^63 - 1
   */
  public static long parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw notAQuantity(text);
    }
    BigDecimal number = new BigDecimal(matcher.group(1));
    if (matcher.group(2) != null) {
      int base = matcher.group(3).isEmpty() ? 1000 : 1024;
      int power = UNITS.indexOf(matcher.group(2)) + 1;
      number = number.multiply(BigDecimal.valueOf(base).pow(power));
    }
    try {
      return number.longValueExact();
    } catch (ArithmeticException notWholeOrTooLarge) {
      throw notAQuantity(text);
    }
  }

  private static TypeConversionException notAQuantity(String text) {
    return new TypeConversionException(
        "'"
            + text
            + "' is not a quantity such as 1024, 20M (20 million) or 64KiB (64 times 1024);"
            + " units: K, M, G, T, Ki, Mi, Gi, Ti");
  }
}
