package pando.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

@Timeout(300)
class TrialWatchdogTest {
  private static final long NANOS_MAX = 1_000_000_000;
  private static final long EVENTS_MAX = 1_000;

  private final AtomicBoolean released = new AtomicBoolean();

  private static Cluster cluster() {
    return new Cluster(ClusterOptions.defaults().withBytesPerServer(8 << 20));
  }

  @Test
  void shouldRunAClusterToItsEnd() {
    try (Cluster cluster = cluster()) {
      cluster.core(0).spawn("sleeper", () -> cluster.sleepNanos(10));
      TrialWatchdog.run(cluster);
      assertThat(cluster.nanos()).isEqualTo(10);
    }
  }

  @Test
  void shouldHandOnWhatAClientThrew() {
    try (Cluster cluster = cluster()) {
      cluster
          .core(0)
          .spawn(
              "thrower",
              () -> {
                throw new IllegalArgumentException("mine");
              });
      assertThatExceptionOfType(IllegalArgumentException.class)
          .isThrownBy(() -> TrialWatchdog.run(cluster))
          .withMessage("mine");
    }
  }

  @Test
  void shouldNameAClientThatSpinsAndNeverWaits() {
    try (Cluster cluster = cluster()) {
      cluster.core(0).spawn("spinner", this::spin);
      assertThatExceptionOfType(HangException.class)
          .isThrownBy(() ->
              TrialWatchdog.run(cluster, () -> cluster.run(NANOS_MAX, EVENTS_MAX), 200_000_000))
          .withMessageContaining("spinner")
          .withMessageContaining("spin(");
      released.set(true);
    }
  }

  private void spin() {
    while (!released.get()) {
      Thread.onSpinWait();
    }
  }
}
