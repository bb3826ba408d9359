package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import pando.fabric.StalledException;

class RenewalsTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void shouldRefuseTheFourthInTenSeconds() {
    for (long start : new long[] {0, -5 * SECOND, Long.MAX_VALUE - SECOND}) {
      Renewals renewals = new Renewals(3);
      renewals.count(start);
      renewals.count(start + SECOND);
      renewals.count(start + 2 * SECOND);
      for (long now : new long[] {2 * SECOND, 9 * SECOND, 10 * SECOND - 1}) {
        assertThatThrownBy(() -> renewals.count(start + now))
            .isInstanceOf(StalledException.class)
            .hasMessageContaining("server=3, renewals=3");
      }
      // Those that were refused do not count.
      renewals.count(start + 10 * SECOND);
      assertThatThrownBy(() -> renewals.count(start + 10 * SECOND + 1))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("withinMillis=9000, nextInMillis=999");
      renewals.count(start + 11 * SECOND);
      renewals.count(start + 12 * SECOND);
    }
  }

  @Test
  void shouldNotMindThoseThatAreFarApart() {
    Renewals renewals = new Renewals(0);
    for (int i = 0; i < 100; i++) {
      renewals.count(4L * i * SECOND);
    }
  }
}
