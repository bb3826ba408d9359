package pando.door.resp;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers with a fraction, as {@code INCRBYFLOAT} adds them: as Redis on x86, which has 64 bits for
 * the digits, and writes 17 digits behind the point at the most.
 */
final class Decimals {
  private static final int BITS = 64;
  private static final int PLACES = 17;
  private static final BigInteger SCALE = BigInteger.TEN.pow(PLACES);
  private static final int LENGTH_MAX = 5119;

  /** The greatest number is below 2 to this power, a number below 2 to the other one is 0. */
  private static final int POWER_MAX = 16384;

  private static final int POWER_MIN = -16446;

  /** Powers of ten beyond which no number is. */
  private static final int EXPONENT_MAX = 5000;

  /** It takes no letter back, as what is long would take the square of its length then. */
  private static final Pattern NUMBER =
      Pattern.compile(
          "(?<decimal>[-+]?(?:\\d++\\.?+\\d*+|\\.\\d++)(?:e[-+]?\\d{1,9}+)?)"
              + "|(?<sign>[-+]?)0x(?=\\.?\\p{XDigit})(?<whole>\\p{XDigit}*+)\\.?+(?<rest>\\p{XDigit}*+)"
              + "(?:p(?<power>[-+]?\\d{1,9}+))?|(?<infinite>[-+]?(?:inf|infinity))",
          Pattern.CASE_INSENSITIVE);

  /** A number: a whole one of so many bits at the most, times a power of two. */
  private record Binary(BigInteger digits, int power) {
    static final Binary INFINITE = new Binary(BigInteger.ONE, POWER_MAX);

    /** Returns the nearest number to a quotient. */
    static Binary nearest(BigInteger number, BigInteger divisor) {
      int shift = Math.max(BITS + 2 + divisor.bitLength() - number.bitLength(), 0);
      BigInteger[] quotient = number.abs().shiftLeft(shift).divideAndRemainder(divisor);
      BigInteger digits = quotient[0].shiftLeft(1);
      boolean isExact = quotient[1].signum() == 0;
      BigInteger above = isExact ? digits : digits.setBit(0); // no tie, and no other number
      return nearest(number.signum() < 0 ? above.negate() : above, -shift - 1);
    }

    /** Returns the nearest number to a whole one times a power of two. */
    static Binary nearest(BigInteger number, int power) {
      int more = Math.max(number.bitLength() - BITS, 0);
      return new Binary(shifted(number, more), power + more);
    }

    /** Returns a number without its last bits, rounded to the nearest one, or the even one. */
    static BigInteger shifted(BigInteger number, int bits) {
      if (bits == 0) {
        return number;
      }
      BigInteger twice = number.shiftRight(bits - 1);
      boolean isTie = twice.testBit(0) && number.getLowestSetBit() == bits - 1;
      BigInteger below = twice.shiftRight(1);
      boolean isUp = isTie ? below.testBit(0) : twice.testBit(0);
      return isUp ? below.add(BigInteger.ONE) : below;
    }

    boolean isInfinite() {
      return digits.signum() != 0 && digits.abs().bitLength() + power > POWER_MAX;
    }

    boolean isTooSmall() {
      return digits.signum() != 0 && digits.bitLength() + power <= POWER_MIN;
    }

    Binary plus(Binary other) {
      int least = Math.min(power, other.power);
      return nearest(
          digits.shiftLeft(power - least).add(other.digits.shiftLeft(other.power - least)), least);
    }

    String text() {
      if (power >= 0) {
        return digits.shiftLeft(power).toString();
      }
      BigDecimal places = new BigDecimal(shifted(digits.multiply(SCALE), -power), PLACES);
      return places.signum() == 0 ? "0" : places.stripTrailingZeros().toPlainString();
    }
  }

  private Decimals() {}

  /**
   * Adds two numbers.
   *
   * @throws Refusal if one is none
   */
  static String sum(String one, String other) {
    Binary first = number(one);
    Binary second = number(other);
    Binary sum = first.plus(second);
    if (first.isInfinite() || second.isInfinite() || sum.isInfinite()) {
      throw new Refusal("ERR increment would produce NaN or Infinity");
    }
    return sum.text();
  }

  private static Binary number(String text) {
    Matcher number = NUMBER.matcher(text);
    if (text.length() > LENGTH_MAX || !number.matches()) {
      throw notAFloat();
    }
    if (number.group("infinite") != null) {
      return Binary.INFINITE;
    }
    String decimal = number.group("decimal");
    Binary nearest = decimal == null ? hexadecimal(number) : nearest(new BigDecimal(decimal));
    if (nearest.isInfinite() || nearest.isTooSmall()) {
      throw notAFloat();
    }
    return nearest;
  }

  private static Binary nearest(BigDecimal number) {
    int scale = number.scale();
    if (Math.abs((long) number.precision() - scale) > EXPONENT_MAX && number.signum() != 0) {
      throw notAFloat();
    }
    BigInteger digits = number.unscaledValue();
    if (digits.signum() == 0) {
      return new Binary(digits, 0);
    }
    BigInteger power = BigInteger.TEN.pow(Math.abs(scale));
    return scale < 0 ? Binary.nearest(digits.multiply(power), 0) : Binary.nearest(digits, power);
  }

  private static Binary hexadecimal(Matcher number) {
    String rest = number.group("rest");
    String given = number.group("power");
    BigInteger digits = new BigInteger(number.group("sign") + number.group("whole") + rest, 16);
    int power = given == null ? 0 : Integer.parseInt(given);
    if (digits.signum() == 0) {
      // Whatever its power is: the other number is not shifted by that.
      return new Binary(digits, 0);
    }
    return Binary.nearest(digits, power - Byte.SIZE / 2 * rest.length());
  }

  private static Refusal notAFloat() {
    return new Refusal("ERR value is not a valid float");
  }
}
