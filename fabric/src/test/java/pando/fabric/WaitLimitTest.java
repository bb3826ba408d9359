package pando.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitLimitTest {
  private static final WaitLimit LIMIT = new WaitLimit(100);

  /** The attempts that have paused, and those that have done so briefly, below zero. */
  private final List<Integer> pauses = new ArrayList<>();

  private long now = Long.MAX_VALUE - 50;

  private final Backoff backoff =
      new Backoff() {
        @Override
        public void pause(int attempt) {
          pauses.add(attempt);
        }

        @Override
        public void pauseBriefly(int attempt) {
          pauses.add(-attempt);
        }

        @Override
        public long nanoTime() {
          return now;
        }
      };

  @Test
  void shouldPauseUntilTheTimeIsOver() {
    long start = LIMIT.pause(backoff, 0, 0, "it stays: place", 7);
    assertThat(start).isEqualTo(now);
    now += 100; // The clock may overflow.
    assertThat(LIMIT.pauseBriefly(backoff, 1, start, "it stays")).isEqualTo(start);
    now++;
    assertThatThrownBy(() -> LIMIT.pause(backoff, 2, start, "it stays: place", 7))
        .isInstanceOf(StalledException.class)
        .hasMessage("it stays: place=7, waitedNanos=101, attempts=2");
    assertThatThrownBy(() -> LIMIT.pauseBriefly(backoff, 2, start, "it stays"))
        .isInstanceOf(StalledException.class)
        .hasMessage("it stays: waitedNanos=101, attempts=2");
    assertThat(pauses).containsExactly(0, -1);
  }

  @Test
  void shouldBeginAnewWithTheFirstAttempt() {
    long start = LIMIT.pause(backoff, 0, 0, "it stays");
    now += 1_000;
    assertThat(LIMIT.pause(backoff, 0, start, "it stays")).isEqualTo(now);
  }

  @Test
  void shouldGiveTheTextOfAValue() {
    long start = LIMIT.pause(backoff, 0, 0, "locked: node");
    now += 101;
    assertThatThrownBy(
            () -> LIMIT.pause(backoff, 1, start, "locked: node", 64, GlobalAddress::toString))
        .hasMessage("locked: node=" + GlobalAddress.toString(64) + ", waitedNanos=101, attempts=1");
  }
}
