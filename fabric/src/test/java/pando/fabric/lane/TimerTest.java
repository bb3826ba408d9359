package pando.fabric.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TimerTest {
  private static final long SLOT_NANOS = 1 << 16;

  @Test
  void shouldWakeEachInItsSlot() {
    long seed = 0x5EED_7137L;
    System.out.println("seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 200; round++) {
      check(random);
    }
  }

  private static void check(SplittableRandom random) {
    Timer timer = new Timer();
    long now = random.nextLong();
    Map<Sleeper, Long> due = new HashMap<>();
    for (int step = 0; step < 100; step++) {
      if (random.nextBoolean()) {
        Sleeper sleeper = new Sleeper();
        long nanos = random.nextLong(Timer.NANOS_MAX + 1);
        timer.add(sleeper, now, nanos);
        due.put(sleeper, now + nanos);
      }
      assertThat(timer.isEmpty()).isEqualTo(due.isEmpty());
      now += random.nextLong(random.nextInt(10) == 0 ? 2 * Timer.NANOS_MAX : 3 * SLOT_NANOS);
      boolean some = timer.expire(now);
      List<Sleeper> woken = new ArrayList<>();
      for (Map.Entry<Sleeper, Long> entry : due.entrySet()) {
        if (!entry.getKey().waiter.waits()) {
          assertThat(now - entry.getValue()).isGreaterThanOrEqualTo(0);
          woken.add(entry.getKey());
        } else {
          assertThat(now - entry.getValue()).isLessThan(SLOT_NANOS);
        }
      }
      assertThat(some).isEqualTo(!woken.isEmpty());
      due.keySet().removeAll(woken);
    }
  }

  @Test
  void shouldRefuseSleepsBeyondTheWheel() {
    Sleeper sleeper = new Sleeper();
    Timer timer = new Timer();
    assertThatThrownBy(() -> timer.add(sleeper, 0, Timer.NANOS_MAX + 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nanos=" + (Timer.NANOS_MAX + 1));
    assertThatThrownBy(() -> timer.add(sleeper, 0, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
