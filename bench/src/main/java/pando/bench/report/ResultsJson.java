package pando.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.bench.run.Measurement;
import pando.bench.run.Plan;
import pando.bench.run.Result;
import tools.jackson.core.JsonGenerator;

/** Results as an array of JSON objects, one for each workload and subject. */
public final class ResultsJson {
  private ResultsJson() {}

  /** Writes a file anew. */
  public static void write(Path file, List<Result> results) throws IOException {
    JsonFile.write(file, results, ResultsJson::write);
  }

  private static void write(JsonGenerator json, Result result) {
    Plan plan = result.plan();
    Measurement measured = result.measurement();
    JsonFile.writeSetup(json, result.setup());
    json.writeStringProperty("workload", result.workload().toString());
    json.writeStringProperty(
        "distribution", result.workload().distribution(plan.distribution()).toString());
    json.writeNumberProperty("theta", plan.theta());
    JsonFile.writeKeys(json, plan.keys());
    json.writeNumberProperty("records", plan.records());
    json.writeNumberProperty("threads", plan.threads());
    json.writeNumberProperty("lanes", plan.lanes());
    JsonFile.writeMeasurement(json, measured);
    json.writeNumberProperty("allocatedBytesPerOp", measured.perOperation(measured.allocatedBytes));
    JsonFile.writeFootprint(json, result.footprint());
    json.writeNumberProperty("verified", result.verified());
  }
}
