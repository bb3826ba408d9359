package pando.sim.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class EventQueueTest {
  private static final long SEED = 31;

  @Test
  void shouldKeepTheOrderOfTimes() {
    System.out.println("seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    EventQueue queue = new EventQueue(SEED);
    List<Long> expected = new ArrayList<>();
    List<Long> seen = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      long time = random.nextLong(1_000);
      expected.add(time);
      queue.add(time, () -> seen.add(time));
    }
    while (!queue.isEmpty()) {
      queue.remove().run();
    }
    expected.sort(Long::compare);
    assertThat(seen).isEqualTo(expected);
  }

  @Test
  void shouldOrderEventsOfOneTimeByItsSeed() {
    assertThat(orderOf(1)).isEqualTo(orderOf(1)).isNotEqualTo(orderOf(2));
    assertThat(orderOf(1)).containsExactlyInAnyOrderElementsOf(orderOf(2));
  }

  private static List<Integer> orderOf(long seed) {
    EventQueue queue = new EventQueue(seed);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      int number = i;
      queue.add(7, () -> order.add(number));
    }
    while (!queue.isEmpty()) {
      queue.remove().run();
    }
    return order;
  }
}
