package pando.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.StringWriter;
import java.util.stream.Collectors;
import pando.index.Metered;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * What the page shows, as JSON: all of Pando's meters, and of an index of 8-byte keys the share of
 * the key space that each compute server owns. Made once for all clients that ask within a second.
 * Has no key and no value.
 */
final class LiveFeed {
  private static final JsonFactory JSON = new JsonFactory();
  private static final double KEYS = 0x1p64;

  private final Metered metered;
  private final MeterRegistry registry;
  private final long opened;
  private long lastSecond = -1;
  private String last = "";

  /**
   * Prepares a feed.
   *
   * @param opened distinguishes what is shown from what was before
   */
  LiveFeed(Metered metered, MeterRegistry registry, long opened) {
    this.metered = metered;
    this.registry = registry;
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
      json.writeStringProperty("system", metered.name());
      json.writeStringProperty("fabric", metered.fabric().name());
      json.writeNumberProperty("memoryServers", metered.fabric().memoryServers());
      json.writeBooleanProperty("closed", metered.isClosed());
      json.writeObjectPropertyStart("meters");
      registry.getMeters().forEach(meter -> write(json, meter));
      json.writeEndObject();
      json.writeArrayPropertyStart("partitions");
      if (metered instanceof RangeIndex index) {
        writePartitions(json, index);
      }
      json.writeEndArray();
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

  private static void writePartitions(JsonGenerator json, RangeIndex index) {
    Partitioning partitioning = index.partitioning();
    for (int range = 0; range < partitioning.servers(); range++) {
      double keys = (double) partitioning.highOfRange(range) - partitioning.lowOfRange(range) + 1;
      json.writeStartObject();
      json.writeNumberProperty("server", partitioning.ownerOfRange(range));
      json.writeBooleanProperty("here", index.serves(partitioning.lowOfRange(range)));
      json.writeNumberProperty("share", keys / KEYS);
      json.writeEndObject();
    }
  }
}
