package pando.cli.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Locale;

/** Numbers as people read them. The same on every machine. */
public final class Numbers {
  private static final int DECIMALS_MAX = 4;

  private static final List<String> SIZE_UNITS = List.of("KiB", "MiB", "GiB", "TiB");

  private Numbers() {}

  /** Returns a count with its thousands apart, such as {@code 385,602}. */
  public static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Returns a number with so many decimals, and its thousands apart. */
  public static String decimal(double number, int decimals) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", number);
  }

  /**
   * Returns a number with so many digits that count, more before the decimal point if it has them,
   * and up to four decimals.
   */
  public static String significant(double number, int digits) {
    if (number == 0) {
      return "0";
    }
    int decimals = BigDecimal.valueOf(number).round(new MathContext(digits)).scale();
    return decimal(number, Math.clamp(decimals, 0, DECIMALS_MAX));
  }

  /** Returns a count as the command line takes it: {@code 20M} and {@code 500K}, {@code 1234}. */
  public static String quantity(long count) {
    if (count > 0 && count % 1_000_000 == 0) {
      return count / 1_000_000 + "M";
    }
    return count > 0 && count % 1_000 == 0 ? count / 1_000 + "K" : Long.toString(count);
  }

  /** Returns a share as a percentage, such as {@code 8.0 %}. */
  public static String percent(double share) {
    return decimal(100 * share, 1) + " %";
  }

  /**
   * Returns a size in units of 1024s if it is a whole number of them, such as {@code 8 GiB}; any
   * other as {@link #bytes} does.
   */
  public static String size(long bytes) {
    int power = Math.min(Long.numberOfTrailingZeros(bytes) / 10, SIZE_UNITS.size());
    long number = bytes >> (10 * power);
    return bytes > 0 && power > 0 && number < 10_000
        ? count(number) + " " + SIZE_UNITS.get(power - 1)
        : bytes(bytes);
  }

  /** Returns a number of bytes in units of 1024s, such as {@code 24.4 MiB}. */
  public static String binary(long bytes) {
    double number = bytes;
    String unit = "B";
    for (String larger : SIZE_UNITS) {
      if (number < 1_024) {
        break;
      }
      number /= 1_024;
      unit = larger;
    }
    return decimal(number, unit.equals("B") ? 0 : 1) + " " + unit;
  }

  /** Returns a number of bytes in units of thousands, such as {@code 25.6 MB}. */
  public static String bytes(long bytes) {
    if (bytes < 1_000) {
      return bytes + " B";
    }
    double number = bytes;
    String unit = "";
    for (String larger : new String[] {"KB", "MB", "GB", "TB"}) {
      if (number < 1_000) {
        break;
      }
      number /= 1_000;
      unit = larger;
    }
    return decimal(number, 1) + " " + unit;
  }
}
