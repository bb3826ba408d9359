package pando.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import tools.jackson.core.JsonGenerator;

/** Results of figures as an array of JSON objects, one for each figure. */
public final class FigureJson {
  private FigureJson() {}

  /** Writes a file anew. */
  public static void write(Path file, List<FigureResult> results) throws IOException {
    JsonFile.write(file, results, FigureJson::write);
  }

  /**
   * Reads what {@link #write} has written.
   *
   * @throws IllegalArgumentException if the file is anything else
   */
  public static List<FigureResult> read(Path file) throws IOException {
    return FigureJsonReader.read(file);
  }

  private static void write(JsonGenerator json, FigureResult result) {
    json.writeStringProperty("figure", result.figure().name());
    json.writeNumberProperty("records", result.records());
    json.writeNumberProperty("seed", result.seed());
    json.writeStringProperty("commit", result.commit());
    json.writeArrayPropertyStart("lines");
    for (FigureLine line : result.lines()) {
      json.writeRaw(System.lineSeparator());
      json.writeStartObject();
      write(json, line);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void write(JsonGenerator json, FigureLine line) {
    json.writeStringProperty("what", line.what());
    json.writeStringProperty("measure", line.measure());
    if (line.isGiven()) {
      json.writeNumberProperty("paper", line.paper());
    } else {
      json.writeNullProperty("paper");
    }
    json.writeNumberProperty("ours", line.ours());
  }
}
