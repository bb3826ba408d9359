package pando.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.StringWriter;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import pando.index.Metered;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * What the page shows, as JSON: Pando's meters, what is not well, and what is shown adds. Made once
 * for all clients that ask within a second. Has no key and no value, but the bounds of ranges.
 */
final class LiveFeed {
  private static final JsonFactory JSON = new JsonFactory();

  private final MeterRegistry registry;
  private final Supplier<List<String>> hindrances;
  private final Consumer<JsonGenerator> own;
  private final long opened;
  private long lastSecond = -1;
  private String last = "";

  /**
   * Prepares a feed.
   *
   * @param hindrances why what is shown is not ready, one line each
   * @param own writes properties of what is shown, before the rest is asked
   * @param opened distinguishes what is shown from what was before
   */
  LiveFeed(
      MeterRegistry registry,
      Supplier<List<String>> hindrances,
      Consumer<JsonGenerator> own,
      long opened) {
    this.registry = registry;
    this.hindrances = hindrances;
    this.own = own;
    this.opened = opened;
  }

  /** Returns the numbers of a second. */
  synchronized String numbers(long second) {
    if (second != lastSecond) {
      last = numbers();
      lastSecond = second;
    }
    return last;
  }

  private String numbers() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      json.writeNumberProperty("opened", opened);
      json.writeNumberProperty("millis", System.currentTimeMillis());
      json.writeStringProperty("version", RegistryMeters.VERSION);
      own.accept(json);
      PandoHttp.writeReasons(json, hindrances.get());
      json.writeObjectPropertyStart("meters");
      registry.getMeters().forEach(meter -> write(json, meter));
      json.writeEndObject();
      json.writeEndObject();
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, Meter meter) {
    double value =
        switch (meter) {
          case FunctionCounter counter -> counter.count();
          case Counter counter -> counter.count();
          case Gauge gauge -> gauge.value();
          default -> Double.NaN;
        };
    if (!Double.isFinite(value) || !meter.getId().getName().startsWith("pando.")) {
      return;
    }
    json.writeName(name(meter.getId()));
    if (value == Math.rint(value) && Math.abs(value) < 0x1p53) {
      json.writeNumber((long) value);
    } else {
      json.writeNumber(value);
    }
  }

  /** Returns {@code pando.verbs{kind=read}}, say. */
  static String name(Meter.Id id) {
    return id.getTags().isEmpty()
        ? id.getName()
        : id.getTags().stream()
            .map(tag -> tag.getKey() + "=" + tag.getValue())
            .collect(Collectors.joining(",", id.getName() + "{", "}"));
  }

  /** Writes the properties of an index, a map or a door. */
  static void write(JsonGenerator json, Metered metered) {
    json.writeStringProperty("system", metered.name());
    json.writeStringProperty("fabric", metered.fabric().name());
    json.writeNumberProperty("memoryServers", metered.fabric().memoryServers());
    json.writeBooleanProperty("closed", metered.isClosed());
    metered
        .lastError()
        .ifPresent(error -> {
          json.writeObjectPropertyStart("lastError");
          json.writeStringProperty("what", error.what());
          json.writeNumberProperty("millis", error.millis());
          json.writeEndObject();
        });
    json.writeArrayPropertyStart("partitions");
    if (metered instanceof RangeIndex index) {
      writePartitions(json, index);
    }
    json.writeEndArray();
  }

  private static void writePartitions(JsonGenerator json, RangeIndex index) {
    Partitioning partitioning = index.partitioning();
    for (int range = 0; range < partitioning.servers(); range++) {
      json.writeStartObject();
      json.writeNumberProperty("server", partitioning.ownerOfRange(range));
      json.writeBooleanProperty("served", index.serves(partitioning.lowOfRange(range)));
      json.writeNumberProperty("share", partitioning.shareOfRange(range));
      json.writeEndObject();
    }
  }
}
