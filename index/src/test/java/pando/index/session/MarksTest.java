package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Marks beside a set. */
class MarksTest {
  private static final int NUMBERS = 20_000;

  @Test
  void shouldFindWhatIsMarked() {
    Marks marks = new Marks(100);
    marks.ensure(NUMBERS);
    int[] set = new int[1];
    marks.onSet(() -> set[0]++);
    TreeSet<Long> model = new TreeSet<>();
    int added = 0;
    SplittableRandom random = new SplittableRandom(71);
    for (int i = 0; i < 50_000; i++) {
      long number = random.nextInt(NUMBERS);
      if (random.nextInt(3) == 0) {
        marks.set(number);
        added += model.add(number) ? 1 : 0;
      } else {
        marks.clear(number);
        model.remove(number);
      }
      Long next = model.ceiling(number);
      assertThat(marks.next(number)).isEqualTo(next == null ? Marks.NONE : next);
    }
    assertThat(set[0]).isEqualTo(added);
  }
}
