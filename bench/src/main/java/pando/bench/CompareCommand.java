package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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

/** Runs a figure of a paper again, or one of the project's own. */
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
              + " rolex-ycsb, rolex-scaling, rolex-data, rolex-retraining, rolex-empty, systems, or"
              + " orca, which is orca-table2, orca-caches, orca-workloads, orca-ablation and"
              + " orca-scaling.")
  private Figure figure;

  @Option(
      names = "--records",
      paramLabel = "N",
      converter = Quantity.class,
      description = "Records to load (default: 20M; ORCA's figures: 500K).")
  private @Nullable Long asked;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Start of all randomness (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Mixin private JsonOption jsonOption;

  @Override
  public Integer call() throws IOException {
    long records = asked == null ? figure.records() : asked;
    Ranges.check(spec, "--records", records, RECORDS_MIN, Ledger.RECORDS_MAX);
    jsonOption.check();
    List<FigureLine> lines = new ArrayList<>();
    PrintWriter out = spec.commandLine().getOut();
    for (Figure part : figure.parts()) {
      List<FigureLine> its = part.run(records, seed);
      out.printf("%s%n%s", part.title(), FigureReport.table(its));
      out.flush();
      lines.addAll(its);
    }
    figure.remark(lines).ifPresent(out::println);
    out.flush();
    Path json = jsonOption.file();
    if (json != null) {
      FigureReport.write(json, lines);
    }
    return CommandLine.ExitCode.OK;
  }
}
