package pando.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpinBackoffTest {
  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(20);

  @ParameterizedTest
  @ValueSource(ints = {0, 15, 16, 63, 1_000})
  void shouldLetTheTimersOfVirtualThreadsRun(int attempt) throws Exception {
    int waiters = 4 * Runtime.getRuntime().availableProcessors();
    AtomicBoolean done = new AtomicBoolean();
    AtomicBoolean late = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    threads.add(
        Thread.ofVirtual()
            .start(() -> {
              for (int i = 0; i < 10; i++) {
                LockSupport.parkNanos(100_000);
              }
              done.set(true);
            }));
    for (int i = 0; i < waiters; i++) {
      threads.add(Thread.ofVirtual().start(() -> waitFor(done, late, attempt)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(late).isFalse();
  }

  private static void waitFor(AtomicBoolean done, AtomicBoolean late, int attempt) {
    Backoff backoff = new SpinBackoff();
    long start = System.nanoTime();
    while (!done.get()) {
      backoff.pauseBriefly(attempt);
      if (System.nanoTime() - start > NANOS_MAX) {
        late.set(true);
        return;
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldWaitAsLongInAThreadThatIsInterrupted(boolean virtual) throws Exception {
    AtomicBoolean interrupted = new AtomicBoolean();
    long[] nanos = new long[1];
    Thread.Builder builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform();
    Thread thread =
        builder.start(() -> {
          Thread.currentThread().interrupt();
          Backoff backoff = new SpinBackoff();
          long start = System.nanoTime();
          for (int i = 0; i < 10; i++) {
            backoff.pause(1_000);
          }
          nanos[0] = System.nanoTime() - start;
          interrupted.set(Thread.currentThread().isInterrupted());
        });
    thread.join();
    assertThat(interrupted).isTrue();
    assertThat(nanos[0]).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(10));
  }
}
