package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.bench.report.SimJson;
import pando.bench.report.SimTable;
import pando.bench.simulate.SimResult;

/** Collects results, writes each to a file if one was given, and prints all at the end. */
final class SimulationOutput {
  private final @Nullable Path json;
  private final List<SimResult> results = new ArrayList<>();

  SimulationOutput(@Nullable Path json) {
    this.json = json;
  }

  void add(SimResult result) throws IOException {
    results.add(result);
    if (json != null) {
      SimJson.write(json, results);
    }
  }

  void print(PrintWriter out) {
    SimTable table = new SimTable(results);
    out.printf(
        "%s%nPer operation:%n%s%nBusy, on the average and at the most:%n%s",
        table.speed(), table.cost(), table.busy());
    out.flush();
  }
}
