package pando.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.management.ManagementFactory;
import java.util.function.DoubleSupplier;
import pando.fabric.PandoException;
import pando.index.Meters;

/**
 * Meters of one registry.
 *
 * @param owner what is metered; the registry refers to it weakly, functions refer to it
 */
record RegistryMeters(MeterRegistry registry, Object owner, Tags tags) implements Meters {
  private static final double MILLIS_OF_SECOND = 1e3;

  /** The version of this program, {@code unknown} if it is not from its jar. */
  static final String VERSION = version();

  private static String version() {
    Module module = RegistryMeters.class.getModule();
    return module.isNamed() ? module.getDescriptor().rawVersion().orElse("unknown") : "unknown";
  }

  /** Adds what is known of the process. */
  void process(String system, String fabric) {
    gauge(
        "pando.info",
        "The system, the fabric and the version; always 1.",
        () -> 1,
        "system",
        system,
        "fabric",
        fabric,
        "version",
        VERSION);
    gauge(
        "pando.uptime.seconds",
        "How long this process has been running.",
        () -> ManagementFactory.getRuntimeMXBean().getUptime() / MILLIS_OF_SECOND);
  }

  @Override
  public void count(String name, String meaning, DoubleSupplier number, String... own) {
    FunctionCounter.builder(name, owner, _ -> orGone(number))
        .tags(tags.and(own))
        .description(meaning)
        .register(registry);
  }

  @Override
  public void gauge(String name, String meaning, DoubleSupplier number, String... own) {
    Gauge.builder(name, () -> orGone(number))
        .tags(tags.and(own))
        .description(meaning)
        .register(registry);
  }

  @Override
  public void slowGauge(String name, String meaning, DoubleSupplier number, String... own) {
    gauge(name, meaning, new CostlyNumber(number), own);
  }

  /** Returns a number, or {@code NaN} if what it counts is gone or does not answer. */
  private static double orGone(DoubleSupplier number) {
    try {
      return number.getAsDouble();
    } catch (IllegalStateException | PandoException e) {
      return Double.NaN;
    }
  }
}
