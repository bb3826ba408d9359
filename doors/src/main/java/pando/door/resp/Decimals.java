package pando.door.resp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers with a fraction, as {@code INCRBYFLOAT} adds them: as Redis on x86, which has 64 bits for
 * the digits, and writes 17 digits behind the point at the most.
 */
final class Decimals {
  private static final int BITS = 64;
  private static final int PLACES = 17;
  private static final int LENGTH_MAX = 5119;

  /** About the greatest power of ten, and the least one. */
  private static final int EXPONENT_MAX = 4932;

  private static final int EXPONENT_MIN = -4950;
  private static final BigDecimal TWO = BigDecimal.valueOf(2);

  private static final Pattern NUMBER =
      Pattern.compile(
          "([-+]?)(?:(\\d+\\.?\\d*|\\.\\d+)(?:[eE]([-+]?\\d{1,9}))?|(inf|infinity))",
          Pattern.CASE_INSENSITIVE);

  private Decimals() {}

  /**
   * Adds two numbers.
   *
   * @throws Refusal if one is none
   */
  static String sum(String one, String other) {
    Matcher first = matched(one);
    Matcher second = matched(other);
    if (first.group(4) != null || second.group(4) != null) {
      throw new Refusal("ERR increment would produce NaN or Infinity");
    }
    BigDecimal sum = rounded(number(first).add(number(second)));
    if (exponent(sum) > EXPONENT_MAX) {
      throw new Refusal("ERR increment would produce NaN or Infinity");
    }
    BigDecimal places = sum.setScale(PLACES, RoundingMode.HALF_EVEN);
    return places.signum() == 0 ? "0" : places.stripTrailingZeros().toPlainString();
  }

  private static Matcher matched(String text) {
    Matcher number = NUMBER.matcher(text);
    if (text.length() > LENGTH_MAX || !number.matches()) {
      throw notAFloat();
    }
    return number;
  }

  private static BigDecimal number(Matcher matched) {
    BigDecimal digits = new BigDecimal(matched.group(1) + matched.group(2));
    String given = matched.group(3);
    int power = given == null ? 0 : Integer.parseInt(given);
    if (digits.signum() == 0) {
      return BigDecimal.ZERO;
    }
    long exponent = (long) exponent(digits) + power;
    if (exponent > EXPONENT_MAX || exponent < EXPONENT_MIN) {
      throw notAFloat();
    }
    return rounded(digits.scaleByPowerOfTen(power));
  }

  private static int exponent(BigDecimal number) {
    return number.precision() - number.scale() - 1;
  }

  /** Returns the nearest number of so many bits. */
  private static BigDecimal rounded(BigDecimal number) {
    BigInteger whole = number.abs().toBigInteger();
    int shift = BITS - whole.bitLength(); // negative, where digits in front of the point are lost
    if (whole.signum() == 0 && number.signum() != 0) {
      BigInteger inverse = BigDecimal.ONE.divide(number.abs(), 0, RoundingMode.DOWN).toBigInteger();
      shift = BITS + inverse.bitLength() - 1;
    }
    BigDecimal factor = TWO.pow(Math.abs(shift));
    BigDecimal scaled = shift < 0 ? number.divide(factor) : number.multiply(factor);
    BigDecimal digits = scaled.setScale(0, RoundingMode.HALF_EVEN);
    return shift < 0 ? digits.multiply(factor) : digits.divide(factor);
  }

  private static Refusal notAFloat() {
    return new Refusal("ERR value is not a valid float");
  }
}
