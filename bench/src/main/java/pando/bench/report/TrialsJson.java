package pando.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.bench.trial.TrialResult;
import pando.bench.trial.TrialSeries;
import tools.jackson.core.JsonGenerator;

/** The results of trials, as an array of one JSON object. */
public final class TrialsJson {
  private TrialsJson() {}

  /** Writes a file anew. */
  public static void write(Path file, TrialSeries.Summary summary) throws IOException {
    JsonFile.write(file, List.of(summary), TrialsJson::write);
  }

  private static void write(JsonGenerator json, TrialSeries.Summary summary) {
    TrialResult failed = summary.failed();
    json.writeNumberProperty("firstSeed", summary.lowest().seed());
    json.writeNumberProperty("seeds", summary.seeds());
    json.writeNumberProperty("failures", summary.failures());
    if (failed == null) {
      json.writeNullProperty("firstFailingSeed");
    } else {
      json.writeNumberProperty("firstFailingSeed", failed.seed());
    }
    json.writeNumberProperty("hangs", summary.hangs());
    json.writeObjectPropertyStart("faults");
    summary.faults().forEach((fault, times) -> json.writeNumberProperty(fault.toString(), times));
    json.writeEndObject();
    json.writeNumberProperty("changes", summary.changes());
    json.writeNumberProperty("unknown", summary.unknown());
    json.writeNumberProperty("events", summary.events());
    json.writeObjectPropertyStart("counts");
    summary.counts().forEach((what, times) -> json.writeNumberProperty(what, times));
    json.writeEndObject();
  }
}
