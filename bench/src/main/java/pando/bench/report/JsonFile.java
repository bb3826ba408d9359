package pando.bench.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;
import pando.bench.keys.KeySet;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.run.Setup;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Arrays of JSON objects, one for each result, and the fields that all results have. */
final class JsonFile {
  private JsonFile() {}

  /**
   * Writes a file anew.
   *
   * @param fields writes those of a result
   */
  static <T> void write(Path file, List<T> results, BiConsumer<JsonGenerator, T> fields)
      throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartArray();
      for (T result : results) {
        json.writeRaw(System.lineSeparator());
        json.writeStartObject();
        fields.accept(json, result);
        json.writeEndObject();
      }
      json.writeRaw(System.lineSeparator());
      json.writeEndArray();
    }
  }

  /** Writes what ran. */
  static void writeSetup(JsonGenerator json, Setup setup) {
    json.writeStringProperty("index", setup.index());
    json.writeStringProperty("fabric", setup.fabric());
    json.writeNumberProperty("computeServers", setup.computeServers());
    json.writeNumberProperty("memoryServers", setup.memoryServers());
    json.writeNumberProperty("cacheBytesPerServer", setup.cacheBytesPerServer());
  }

  /** Writes what the keys were, where they were not uniform. */
  static void writeKeys(JsonGenerator json, KeySet keys) {
    if (keys != KeySet.UNIFORM) {
      json.writeStringProperty("keys", keys.toString());
    }
  }

  /** Writes the memory that was taken. */
  static void writeFootprint(JsonGenerator json, Footprint footprint) {
    json.writeNumberProperty("cachedBytesPerRecord", footprint.cachedBytesPerRecord());
    json.writeNumberProperty("poolBytesPerRecord", footprint.poolBytesPerRecord());
  }

  /** Writes what was measured. */
  static void writeMeasurement(JsonGenerator json, Measurement measured) {
    json.writeNumberProperty("operations", measured.operations);
    json.writeNumberProperty("throughputOps", measured.throughput);
    json.writeNumberProperty("readsPerOp", measured.perOperation(measured.verbs.reads));
    json.writeNumberProperty("writesPerOp", measured.perOperation(measured.verbs.writes));
    json.writeNumberProperty("atomicsPerOp", measured.perOperation(measured.verbs.atomics));
    json.writeNumberProperty("callsPerOp", measured.perOperation(measured.verbs.calls));
    json.writeNumberProperty("roundTripsPerOp", measured.perOperation(measured.verbs.roundTrips));
    json.writeNumberProperty("bytesPerOp", measured.perOperation(measured.verbs.bytes()));
    json.writeNumberProperty("cacheHitRatio", measured.cacheHitRatio());
    json.writeNumberProperty("p50Nanos", measured.latencyNanos(50));
    json.writeNumberProperty("p99Nanos", measured.latencyNanos(99));
    json.writeNumberProperty("p999Nanos", measured.latencyNanos(99.9));
  }
}
