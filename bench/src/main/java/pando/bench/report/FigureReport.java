package pando.bench.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import pando.bench.console.Numbers;
import pando.bench.console.TextTable;
import pando.bench.figure.FigureLine;
import tools.jackson.core.JsonGenerator;

/** A figure's numbers, the paper's beside ours, as a table and as JSON. */
public final class FigureReport {
  private static final int DECIMALS = 2;

  private FigureReport() {}

  /** Returns a table. */
  public static String table(List<FigureLine> lines) {
    TextTable table = new TextTable(2, List.of("what", "measure", "paper", "ours", "ours / paper"));
    for (FigureLine line : lines) {
      boolean isGiven = !Double.isNaN(line.paper());
      table.add(
          List.of(
              line.what(),
              line.measure(),
              isGiven ? Numbers.decimal(line.paper(), DECIMALS) : "-",
              Numbers.decimal(line.ours(), DECIMALS),
              isGiven && line.paper() != 0
                  ? Numbers.decimal(line.ours() / line.paper(), DECIMALS)
                  : "-"));
    }
    return table.toString();
  }

  /** Writes a file anew, as an array of JSON objects. */
  public static void write(Path file, List<FigureLine> lines) throws IOException {
    JsonFile.write(file, lines, FigureReport::write);
  }

  private static void write(JsonGenerator json, FigureLine line) {
    json.writeStringProperty("what", line.what());
    json.writeStringProperty("measure", line.measure());
    if (Double.isNaN(line.paper())) {
      json.writeNullProperty("paper");
    } else {
      json.writeNumberProperty("paper", line.paper());
    }
    json.writeNumberProperty("ours", line.ours());
  }
}
