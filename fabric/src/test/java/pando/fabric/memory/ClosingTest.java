package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClosingTest {
  private final List<Integer> closed = new ArrayList<>();

  private Runnable failing(int number, RuntimeException failure) {
    return () -> {
      closed.add(number);
      throw failure;
    };
  }

  @Test
  void shouldRunEveryStepInOrder() {
    Closing.all(() -> closed.add(1), () -> closed.add(2));
    assertThat(closed).containsExactly(1, 2);
  }

  @Test
  void shouldRunEveryStepThoughSomeFail() {
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second");
    assertThatThrownBy(
            () -> Closing.all(failing(1, first), failing(2, second), () -> closed.add(3)))
        .isSameAs(first)
        .hasSuppressedException(second);
    assertThat(closed).containsExactly(1, 2, 3);
  }

  @Test
  void shouldRunEveryStepThoughOneThrowsAnError() {
    StackOverflowError error = new StackOverflowError();
    assertThatThrownBy(() ->
            Closing.all(
                () -> {
                  throw error;
                },
                () -> closed.add(2)))
        .isSameAs(error);
    assertThat(closed).containsExactly(2);
  }
}
