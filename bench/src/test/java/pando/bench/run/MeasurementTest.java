package pando.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class MeasurementTest {
  @Test
  void shouldSurviveTheWayToAnotherProcess() throws IOException {
    Measurement sent = measurement();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    sent.write(new DataOutputStream(bytes));
    Measurement received =
        Measurement.read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertThat(received.operations).isEqualTo(200);
    assertThat(received.throughput).isEqualTo(1.5);
    assertThat(received.verified).isEqualTo(7);
    assertThat(received.allocatedBytes).isEqualTo(8);
    assertThat(received.cacheHitRatio()).isEqualTo(0.75);
    assertThat(received.verbs).hasToString(sent.verbs.toString());
    for (double percentile : new double[] {0, 50, 99, 99.9, 100}) {
      assertThat(received.latencyNanos(percentile)).isEqualTo(sent.latencyNanos(percentile));
    }
  }

  @Test
  void shouldAddUp() {
    Measurement total = measurement();
    total.add(measurement());
    assertThat(total.operations).isEqualTo(400);
    assertThat(total.throughput).isEqualTo(3.0);
    assertThat(total.perOperation(total.verbs.bytes())).isEqualTo(42.0 / 400);
    assertThat(total.cacheHitRatio()).isEqualTo(0.75);
    assertThat(total.latencyNanos(100)).isBetween(199_000L, 201_000L);
  }

  @Test
  void shouldKnowNoRatiosOfNothing() {
    Measurement nothing = new Measurement();
    assertThat(nothing.perOperation(5)).isZero();
    assertThat(nothing.cacheHitRatio()).isZero();
    assertThat(nothing.latencyNanos(99)).isZero();
  }

  private static Measurement measurement() {
    Measurement measurement = new Measurement();
    measurement.operations = 200;
    measurement.throughput = 1.5;
    measurement.verified = 7;
    measurement.allocatedBytes = 8;
    measurement.cacheHits = 3;
    measurement.cacheMisses = 1;
    measurement.verbs.reads = 1;
    measurement.verbs.writes = 2;
    measurement.verbs.atomics = 3;
    measurement.verbs.calls = 4;
    measurement.verbs.roundTrips = 5;
    measurement.verbs.bytesIn = 10;
    measurement.verbs.bytesOut = 11;
    for (int i = 1; i <= 200; i++) {
      measurement.recordLatency(i * 1_000L);
    }
    return measurement;
  }
}
