package pando.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

final class ActivityTest {
  private final Activity activity = new Activity();

  @Test
  void shouldTellWhatClientsDo() {
    MeterRegistry registry = new SimpleMeterRegistry();
    activity.bindTo(registry);
    Measurement one = new Measurement();
    Measurement other = new Measurement();
    activity.begin(one);
    activity.begin(other);
    one.operations = 3;
    other.operations = 4;
    for (int micros = 1; micros <= 100; micros++) {
      (micros % 2 == 0 ? one : other).recordLatency(1_000L * micros);
    }
    assertThat(registry.get("pando.ops").functionCounter().count()).isEqualTo(7);
    assertThat(latency(registry, "0.5")).isBetween(50e-6, 50.1e-6);
    assertThat(latency(registry, "0.99")).isBetween(99e-6, 99.1e-6);
  }

  @Test
  void shouldKeepCountsOfClientsThatEnd() {
    assertThat(activity.operations()).isZero();
    for (int client = 1; client <= 10; client++) {
      Measurement measurement = new Measurement();
      activity.begin(measurement);
      measurement.operations = 100;
      assertThat(activity.operations()).isEqualTo(100L * client);
      activity.end(measurement);
      assertThat(activity.operations()).isEqualTo(100L * client);
    }
  }

  @Test
  void shouldHaveNoLatencyWithoutOperations() {
    assertThat(activity.latencySeconds(50)).isNaN();
  }

  private static double latency(MeterRegistry registry, String quantile) {
    return registry.get("pando.latency.seconds").tag("quantile", quantile).gauge().value();
  }
}
