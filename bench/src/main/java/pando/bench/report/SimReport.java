package pando.bench.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import pando.bench.console.Numbers;
import pando.bench.console.TextTable;
import pando.bench.simulate.SimResult;
import pando.sim.Utilization;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Runs in virtual time as tables and as JSON. */
public final class SimReport {
  private SimReport() {}

  /**
   * A run.
   *
   * @param workload what was run
   * @param result what it came to
   */
  public record Line(String workload, SimResult result) {}

  /** Returns three tables: how fast, at what cost, and what was busy. */
  public static String table(List<Line> lines) {
    TextTable speed =
        new TextTable(
            2,
            List.of(
                "workload",
                "index",
                "clients",
                "Mops/s",
                "p50 us",
                "p90 us",
                "p99 us",
                "p99.9 us",
                "operations",
                "verified"));
    TextTable cost =
        new TextTable(
            1,
            List.of(
                "workload",
                "READs",
                "WRITEs",
                "atomics",
                "CALLs",
                "trips",
                "trips p50",
                "trips p99",
                "bytes",
                "cache hits"));
    TextTable busy =
        new TextTable(
            1,
            List.of(
                "workload",
                "compute out",
                "compute in",
                "memory out",
                "memory in",
                "processors",
                "events",
                "M events/s",
                "seconds"));
    for (Line line : lines) {
      SimResult result = line.result();
      speed.add(speed(line.workload(), result));
      cost.add(cost(line.workload(), result));
      busy.add(busy(line.workload(), result));
    }
    return speed + "\nPer operation:\n" + cost + "\nBusy, on the average and at the most:\n" + busy;
  }

  private static List<String> speed(String workload, SimResult result) {
    return List.of(
        workload,
        result.name(),
        Numbers.count(result.clients()),
        Numbers.decimal(result.throughput() / 1e6, 3),
        micros(result, 50),
        micros(result, 90),
        micros(result, 99),
        micros(result, 99.9),
        Numbers.count(result.operations()),
        Numbers.count(result.verified()));
  }

  private static List<String> cost(String workload, SimResult result) {
    return List.of(
        workload,
        perOperation(result, result.verbs().reads),
        perOperation(result, result.verbs().writes),
        perOperation(result, result.verbs().atomics),
        perOperation(result, result.verbs().calls),
        perOperation(result, result.verbs().roundTrips),
        String.valueOf(result.roundTrips().getValueAtPercentile(50)),
        String.valueOf(result.roundTrips().getValueAtPercentile(99)),
        Numbers.decimal(result.perOperation(result.verbs().bytes()), 1),
        Numbers.percent(result.hitRatio()));
  }

  private static List<String> busy(String workload, SimResult result) {
    Utilization busy = result.utilization();
    double seconds = result.cpuNanos() / 1e9;
    return List.of(
        workload,
        shares(busy.computeOut()),
        shares(busy.computeIn()),
        shares(busy.memoryOut()),
        shares(busy.memoryIn()),
        shares(busy.processors()),
        Numbers.count(result.events()),
        Numbers.decimal(result.events() / seconds / 1e6, 2),
        Numbers.decimal(seconds, 1));
  }

  private static String shares(List<Double> shares) {
    double mean = shares.stream().mapToDouble(Double::doubleValue).average().orElse(0);
    double most = shares.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    return Numbers.percent(mean) + ", " + Numbers.percent(most);
  }

  private static String micros(SimResult result, double percentile) {
    return Numbers.decimal(result.latencies().getValueAtPercentile(percentile) / 1e3, 2);
  }

  private static String perOperation(SimResult result, long count) {
    return Numbers.decimal(result.perOperation(count), 3);
  }

  /** Writes a file anew. */
  public static void write(Path file, List<Line> lines) throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartArray();
      for (Line line : lines) {
        json.writeRaw(System.lineSeparator());
        write(json, line.workload(), line.result());
      }
      json.writeRaw(System.lineSeparator());
      json.writeEndArray();
    }
  }

  private static void write(JsonGenerator json, String workload, SimResult result) {
    json.writeStartObject();
    json.writeStringProperty("index", result.name());
    json.writeStringProperty("fabric", "sim");
    json.writeStringProperty("workload", workload);
    json.writeNumberProperty("clients", result.clients());
    json.writeNumberProperty("operations", result.operations());
    json.writeNumberProperty("virtualNanos", result.nanos());
    json.writeNumberProperty("throughputOps", result.throughput());
    json.writeNumberProperty("readsPerOp", result.perOperation(result.verbs().reads));
    json.writeNumberProperty("writesPerOp", result.perOperation(result.verbs().writes));
    json.writeNumberProperty("atomicsPerOp", result.perOperation(result.verbs().atomics));
    json.writeNumberProperty("callsPerOp", result.perOperation(result.verbs().calls));
    json.writeNumberProperty("roundTripsPerOp", result.perOperation(result.verbs().roundTrips));
    json.writeNumberProperty("roundTripsP50", result.roundTrips().getValueAtPercentile(50));
    json.writeNumberProperty("roundTripsP99", result.roundTrips().getValueAtPercentile(99));
    json.writeNumberProperty("bytesPerOp", result.perOperation(result.verbs().bytes()));
    json.writeNumberProperty("cacheHitRatio", result.hitRatio());
    json.writeNumberProperty("p50Nanos", result.latencies().getValueAtPercentile(50));
    json.writeNumberProperty("p90Nanos", result.latencies().getValueAtPercentile(90));
    json.writeNumberProperty("p99Nanos", result.latencies().getValueAtPercentile(99));
    json.writeNumberProperty("p999Nanos", result.latencies().getValueAtPercentile(99.9));
    json.writeNumberProperty("verified", result.verified());
    write(json, "computeOut", result.utilization().computeOut());
    write(json, "computeIn", result.utilization().computeIn());
    write(json, "memoryOut", result.utilization().memoryOut());
    write(json, "memoryIn", result.utilization().memoryIn());
    write(json, "processors", result.utilization().processors());
    json.writeNumberProperty("events", result.events());
    json.writeNumberProperty("realNanos", result.cpuNanos());
    json.writeStringProperty("hash", Long.toHexString(result.hash()));
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, String name, List<Double> shares) {
    json.writeArrayPropertyStart(name);
    shares.forEach(json::writeNumber);
    json.writeEndArray();
  }
}
