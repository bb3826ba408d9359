package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TriedTimeTest {
  private static final long LONGEST = TimeUnit.SECONDS.toNanos(5);
  private static final long START = Long.MAX_VALUE - 7;

  private final TriedTime time = new TriedTime(LONGEST, START);

  @Test
  void shouldBeOverAfterManyShortAttempts() {
    long step = LONGEST / 100;
    for (int i = 1; i <= 100; i++) {
      assertThat(time.isOver(START + i * step)).isFalse();
    }
    assertThat(time.isOver(START + LONGEST + 1)).isTrue();
  }

  /** As where this process was stopped for an hour. */
  @Test
  void shouldNotTakeAPauseOfThisProcessForALoss() {
    long pause = TimeUnit.HOURS.toNanos(1);
    assertThat(time.isOver(START + pause)).isFalse();
    assertThat(time.isOver(START + pause + 1)).isFalse();
    long left = LONGEST - TriedTime.ATTEMPT_NANOS_MAX;
    assertThat(time.isOver(START + pause + left)).isFalse();
    assertThat(time.isOver(START + pause + left + 1)).isTrue();
  }
}
