package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.wire.Watchdog.Watched;

@Timeout(60)
class WatchdogTest {
  private static final String NAME = "watchdog-of-a-test";
  private static final long LONG = TimeUnit.HOURS.toNanos(1);

  private final Watchdog watchdog = Watchdog.start(NAME);
  private final Thread thread = threadOf(NAME);

  private static Thread threadOf(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(found -> found.getName().equals(name) && found.isAlive())
        .findFirst()
        .orElseThrow();
  }

  @AfterEach
  void close() throws InterruptedException {
    watchdog.close();
    thread.join();
  }

  private Watched watch() throws IOException {
    return watchdog.watch(SocketChannel.open());
  }

  private void awaitState(Thread.State wanted) {
    await(() -> thread.getState() == wanted);
  }

  private static void awaitClosed(Watched watched) {
    await(() -> !watched.socket().isOpen());
    assertThat(watched.isLate()).isTrue();
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      assertThat(Thread.currentThread().isInterrupted()).as("time is over").isFalse();
      Thread.onSpinWait();
    }
  }

  @Test
  void shouldCloseThoseThatAreLate() throws IOException {
    try (Watched patient = watch()) {
      patient.expect(LONG);
      Watched late = watch();
      late.expect(1);
      awaitClosed(late);
      assertThat(patient.socket().isOpen()).isTrue();
      patient.closeOnce(() -> true);
      awaitClosed(patient);
    }
  }

  /** A limit that is set at any moment, also as the watchdog begins to rest, is seen. */
  @Test
  void shouldSeeALimitHoweverItRests() throws IOException {
    for (int i = 0; i < 20_000; i++) {
      Watched late = watch();
      late.expect(1);
      awaitClosed(late);
    }
  }

  @Test
  void shouldRestWhileNothingIsExpected() throws IOException {
    awaitState(Thread.State.WAITING);
    try (Watched watched = watch()) {
      for (int i = 0; i < 3; i++) {
        watched.expect(LONG);
        awaitState(Thread.State.TIMED_WAITING);
        watched.relax();
        awaitState(Thread.State.WAITING);
      }
    }
  }

  @Test
  void shouldCloseAllAsItIsClosed() throws IOException {
    Watched watched = watch();
    awaitState(Thread.State.WAITING);
    watchdog.close();
    assertThat(watched.socket().isOpen()).isFalse();
    assertThat(watched.isLate()).isFalse();
    assertThatThrownBy(this::watch).isInstanceOf(AsynchronousCloseException.class);
  }
}
