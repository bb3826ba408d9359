package pando.bench.run;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What clients are doing, for a page that shows it: their operations, and how long recent ones
 * took. Reads the measurements of running clients from outside; the clients do nothing for it but
 * begin and end. Numbers are recent, not exact, until the clients have ended. Thread-safe.
 */
public final class Activity implements MeterBinder {
  private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<Measurement> running = new ArrayList<>();
  private final Measurement ended = new Measurement();
  private Histogram before = Measurement.noLatencies();
  private Histogram recent = Measurement.noLatencies();
  private long recentAt = System.nanoTime() - RECENT_NANOS;

  /** Creates an activity without clients. */
  public Activity() {}

  /** Notes that a client begins to measure. */
  synchronized void begin(Measurement measurement) {
    running.add(measurement);
  }

  /** Notes that a client has ended. */
  synchronized void end(Measurement measurement) {
    running.remove(measurement);
    ended.add(measurement);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    FunctionCounter.builder("pando.ops", this, Activity::operations)
        .description("Operations of all clients.")
        .register(registry);
    for (double percentile : new double[] {50, 99}) {
      Gauge.builder("pando.latency.seconds", () -> latencySeconds(percentile))
          .tag("quantile", String.valueOf(percentile / 100))
          .description("What operations took since the last look, or in the second before.")
          .register(registry);
    }
  }

  /** Returns the operations of all clients so far. */
  synchronized long operations() {
    return ended.operations + running.stream().mapToLong(client -> client.operations).sum();
  }

  /**
   * Returns the seconds within which so many percent of recent operations ended: those since the
   * last call, but of a second at least. {@code NaN} if there were none.
   */
  synchronized double latencySeconds(double percentile) {
    long now = System.nanoTime();
    if (now - recentAt >= RECENT_NANOS) {
      Histogram all = Measurement.noLatencies();
      ended.addLatenciesTo(all);
      running.forEach(client -> client.addLatenciesTo(all));
      recent = all.copy();
      recent.subtract(before);
      before = all;
      recentAt = now;
    }
    return recent.getTotalCount() == 0 ? Double.NaN : recent.getValueAtPercentile(percentile) / 1e9;
  }
}
