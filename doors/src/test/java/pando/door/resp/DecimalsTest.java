package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.Test;
import pando.index.AllocatedBytes;
import pando.index.Seeds;

/** Sums of numbers with a fraction; {@link RedisAnswersTest} compares more of them with Redis. */
class DecimalsTest {
  private static final int SUMS = Seeds.count(2_000, 200_000);

  /** Whole numbers, or fractions alone, of 9 digits have 64 bits that are enough. */
  @Test
  void shouldAddAsWithoutALimitWhereNothingIsLost() {
    long seed = Seeds.of(26);
    Random random = new Random(seed);
    for (int i = 0; i < SUMS; i++) {
      int places = random.nextBoolean() ? 0 : 9;
      BigDecimal one = number(random, places);
      BigDecimal other = number(random, places);
      BigDecimal sum = one.add(other);
      String expected = sum.signum() == 0 ? "0" : sum.stripTrailingZeros().toPlainString();
      assertThat(Decimals.sum(text(random, one), text(random, other)))
          .as("%s + %s, seed=%s", one, other, seed)
          .isEqualTo(expected);
    }
  }

  private static BigDecimal number(Random random, int places) {
    return BigDecimal.valueOf(random.nextLong(2_000_000_000L) - 1_000_000_000L, places);
  }

  private static String text(Random random, BigDecimal number) {
    return random.nextBoolean()
        ? number.toPlainString()
        : number.unscaledValue() + "e-" + number.scale();
  }

  /** Or the other number would be shifted by that power, to 125 MB. */
  @Test
  void shouldTakeAZeroForZeroWhateverItsPowerIs() {
    AllocatedBytes allocated = new AllocatedBytes();
    long before = allocated.get();
    for (String zero : new String[] {"0x0p-999999999", "0x0p999999999", "-0x0.0p-999999999"}) {
      assertThat(Decimals.sum("1", zero)).isEqualTo("1");
      assertThat(Decimals.sum(zero, zero)).isEqualTo("0");
    }
    assertThat(allocated.get() - before).isLessThan(50_000_000);
  }

  /** It would take minutes if a letter were looked at for each other one. */
  @Test
  void shouldReadWhatIsLongInOnePass() {
    String longest = "1".repeat(5118);
    for (int i = 0; i < 1000; i++) {
      for (String each : new String[] {longest + "x", "0x" + longest.substring(2) + "x"}) {
        assertThatExceptionOfType(Refusal.class)
            .isThrownBy(() -> Decimals.sum("0", each))
            .withMessage("ERR value is not a valid float");
      }
    }
  }
}
