package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
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

  @Test
  void aThreadThatWasNotStartedHasEnded() {
    assertThat(Closing.join(new Thread(() -> {}), Duration.ofDays(1))).isTrue();
  }

  @Test
  void aWaiterThatIsInterruptedWaitsAllTheSame() {
    Thread holder = Thread.currentThread();
    Thread ends =
        Thread.ofPlatform()
            .start(() -> {
              holder.interrupt();
              LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
            });
    Closing.join(ends);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(ends.isAlive()).isFalse();
  }

  @Test
  void aWaitEndsWithItsTime() {
    CountDownLatch end = new CountDownLatch(1);
    Thread waits =
        Thread.ofVirtual()
            .start(() -> {
              try {
                end.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    assertThat(Closing.join(waits, Duration.ofMillis(1))).isFalse();
    end.countDown();
    Closing.join(waits);
  }
}
