package pando.door.resp;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Scores as text. */
final class Scores {
  private static final double WHOLE_MAX = 1e17;
  private static final MathContext PRECISION = new MathContext(17, RoundingMode.HALF_EVEN);

  /** Numbers with a lesser exponent are written with it. */
  private static final int EXPONENT_MIN = -4;

  private static final Pattern NUMBER =
      Pattern.compile(
          "[-+]?(?:(?<decimal>\\d{1,400}\\.?\\d{0,400}|\\.\\d{1,400})(?:[eE][-+]?\\d{1,9})?"
              + "|0[xX](?<hexadecimal>[0-9a-fA-F]{1,400}\\.?[0-9a-fA-F]{0,400}|\\.[0-9a-fA-F]{1,400})"
              + "(?<exponent>[pP][-+]?\\d{1,9})?)");

  private static final Pattern ZERO = Pattern.compile("[0.]*");

  private Scores() {}

  /**
   * Reads a score.
   *
   * @throws Refusal if it is none
   */
  static double of(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "inf", "+inf", "infinity", "+infinity" -> Double.POSITIVE_INFINITY;
      case "-inf", "-infinity" -> Double.NEGATIVE_INFINITY;
      default -> number(text);
    };
  }

  private static double number(String text) {
    Matcher number = NUMBER.matcher(text);
    if (!number.matches()) {
      throw notAFloat();
    }
    String decimal = number.group("decimal");
    boolean needsExponent = decimal == null && number.group("exponent") == null;
    double score = Double.parseDouble(needsExponent ? text + "p0" : text);
    String digits = decimal == null ? number.group("hexadecimal") : decimal;
    boolean isTooSmall = score == 0 && !ZERO.matcher(digits).matches();
    if (Double.isInfinite(score) || isTooSmall) {
      throw notAFloat();
    }
    return score + 0.0; // -0 is 0
  }

  private static Refusal notAFloat() {
    return new Refusal("ERR value is not a valid float");
  }

  /** Returns a score as Redis 7.0 writes it: 17 digits, without zeros at the end. */
  static String text(double score) {
    if (Double.isInfinite(score)) {
      return score > 0 ? "inf" : "-inf";
    }
    if (score == Math.rint(score) && Math.abs(score) < WHOLE_MAX) {
      return Long.toString((long) score);
    }
    BigDecimal number = new BigDecimal(score).round(PRECISION).stripTrailingZeros();
    int exponent = number.precision() - number.scale() - 1;
    return exponent >= EXPONENT_MIN && exponent < PRECISION.getPrecision()
        ? number.toPlainString()
        : "%se%+03d".formatted(number.movePointLeft(exponent).toPlainString(), exponent);
  }
}
