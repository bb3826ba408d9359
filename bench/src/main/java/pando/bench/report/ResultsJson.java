package pando.bench.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import pando.bench.run.Measurement;
import pando.bench.run.Plan;
import pando.bench.run.Result;
import pando.bench.run.Setup;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Results as an array of JSON objects, one for each workload and subject. */
public final class ResultsJson {
  private ResultsJson() {}

  /** Writes a file anew. */
  public static void write(Path file, List<Result> results) throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartArray();
      for (Result result : results) {
        json.writeRaw(System.lineSeparator());
        write(json, result);
      }
      json.writeRaw(System.lineSeparator());
      json.writeEndArray();
    }
  }

  private static void write(JsonGenerator json, Result result) {
    Setup setup = result.setup();
    Plan plan = result.plan();
    Measurement measured = result.measurement();
    json.writeStartObject();
    json.writeStringProperty("index", setup.index());
    json.writeStringProperty("fabric", setup.fabric());
    json.writeStringProperty("workload", result.workload().toString());
    json.writeStringProperty(
        "distribution", result.workload().distribution(plan.distribution()).toString());
    json.writeNumberProperty("theta", plan.theta());
    json.writeNumberProperty("records", plan.records());
    json.writeNumberProperty("operations", measured.operations);
    json.writeNumberProperty("threads", plan.threads());
    json.writeNumberProperty("computeServers", setup.computeServers());
    json.writeNumberProperty("memoryServers", setup.memoryServers());
    json.writeNumberProperty("cacheBytesPerServer", setup.cacheBytesPerServer());
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
    json.writeNumberProperty("allocatedBytesPerOp", measured.perOperation(measured.allocatedBytes));
    json.writeNumberProperty("poolBytesPerRecord", result.bytesPerRecord());
    json.writeNumberProperty("verified", result.verified());
    json.writeEndObject();
  }
}
