package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.records.Ledger;
import pando.bench.report.FigureReport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a figure of a paper again. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "compare",
    description = {
      "Runs a figure or table of a paper in virtual time, and prints the paper's numbers and ours."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class CompareCommand implements Callable<Integer> {
  /** Minimum number of records: with fewer, a cache of 8 % is too small. */
  private static final int RECORDS_MIN = 100_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--figure",
      paramLabel = "NAME",
      required = true,
      converter = Choices.FigureConverter.class,
      description =
          "sherman-10, sherman-11, dex-6, dex-table2, deft-ycsb, deft-ablation, deft-dex,"
              + " rolex-ycsb, rolex-scaling, rolex-data, rolex-retraining, rolex-empty or systems.")
  private Figure figure;

  @Option(
      names = "--records",
      paramLabel = "N",
      defaultValue = "20M",
      converter = Quantity.class,
      description = "Records to load (default: ${DEFAULT-VALUE}).")
  private long records;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Start of all randomness (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Mixin private JsonOption jsonOption;

  @Override
  public Integer call() throws IOException {
    Ranges.check(spec, "--records", records, RECORDS_MIN, Ledger.RECORDS_MAX);
    jsonOption.check();
    List<FigureLine> lines = figure.run(records, seed);
    PrintWriter out = spec.commandLine().getOut();
    out.printf("%s%n%s", figure.title(), FigureReport.table(lines));
    out.flush();
    Path json = jsonOption.file();
    if (json != null) {
      FigureReport.write(json, lines);
    }
    return CommandLine.ExitCode.OK;
  }
}
