package pando.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.bench.run.Measurement;
import pando.bench.simulate.SimPlan;
import pando.bench.simulate.SimResult;
import pando.bench.workload.Values;
import pando.sim.Utilization;
import tools.jackson.core.JsonGenerator;

/** Runs in virtual time as an array of JSON objects. */
public final class SimJson {
  private SimJson() {}

  /** Writes a file anew. */
  public static void write(Path file, List<SimResult> results) throws IOException {
    JsonFile.write(file, results, SimJson::write);
  }

  private static void write(JsonGenerator json, SimResult result) {
    Measurement measured = result.measurement();
    JsonFile.writeSetup(json, result.setup());
    json.writeStringProperty("workload", result.workload());
    writePlan(json, result.plan());
    JsonFile.writeMeasurement(json, measured);
    json.writeNumberProperty("p90Nanos", measured.latencyNanos(90));
    json.writeNumberProperty("roundTripsP50", result.roundTrips().getValueAtPercentile(50));
    json.writeNumberProperty("roundTripsP99", result.roundTrips().getValueAtPercentile(99));
    json.writeNumberProperty("verified", measured.verified);
    JsonFile.writeFootprint(json, result.footprint());
    writeUtilization(json, result.utilization());
    json.writeNumberProperty("events", result.events());
    json.writeNumberProperty("realNanos", result.realNanos());
    json.writeStringProperty("hash", Long.toHexString(result.hash()));
  }

  private static void writePlan(JsonGenerator json, SimPlan plan) {
    json.writeStringProperty("distribution", plan.distribution().toString());
    json.writeNumberProperty("theta", plan.theta());
    JsonFile.writeKeys(json, plan.keys());
    if (plan.values() != Values.CHANGING) {
      json.writeStringProperty("values", plan.values().toString());
    }
    json.writeNumberProperty("records", plan.records());
    json.writeNumberProperty("threads", plan.threads());
    json.writeNumberProperty("coroutines", plan.coroutines());
    json.writeNumberProperty("clients", plan.clients());
    json.writeStringProperty("network", plan.cluster().network().toString());
    json.writeNumberProperty("processorThreads", plan.cluster().pool().processorThreads());
    json.writeNumberProperty("seed", plan.cluster().seed());
    json.writeNumberProperty("virtualNanos", plan.nanos());
  }

  private static void writeUtilization(JsonGenerator json, Utilization busy) {
    write(json, "computeOut", busy.computeOut());
    write(json, "computeIn", busy.computeIn());
    write(json, "memoryOut", busy.memoryOut());
    write(json, "memoryIn", busy.memoryIn());
    write(json, "processors", busy.processors());
  }

  private static void write(JsonGenerator json, String name, List<Double> shares) {
    json.writeArrayPropertyStart(name);
    shares.forEach(json::writeNumber);
    json.writeEndArray();
  }
}
