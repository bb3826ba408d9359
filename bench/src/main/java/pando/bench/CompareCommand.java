package pando.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.bench.page.FigurePage;
import pando.bench.page.Pictures;
import pando.bench.records.Ledger;
import pando.bench.report.FigureJson;
import pando.bench.report.FigureReport;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a figure of a paper again, or one of the project's own; shows results as a page. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "compare",
    description = {
      "Runs a figure or table of a paper in virtual time, and prints the paper's numbers and ours;"
          + " or shows the results of such runs in one page.",
      "",
      "Results are kept as JSON, so that a page needs no run:",
      "  pando compare --figure dex-6 --json results/dex-6.json",
      "  pando compare --html figures.html results/*.json",
      "",
      "Every system takes 500 ns of processor time for an operation; the three systems of"
          + " sherman-10 and sherman-11 take 2,500, as in pando simulate.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class CompareCommand implements Callable<Integer> {
  /** Minimum number of records: with fewer, a cache of 8 % is too small. */
  private static final int RECORDS_MIN = 100_000;

  private static final String HTML = ".html";

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "RESULTS",
      arity = "0..*",
      description = "What --json has written, of one figure or several, for --html or --pictures.")
  private List<Path> files = List.of();

  @Option(
      names = "--figure",
      paramLabel = "NAME",
      converter = BenchChoices.FigureConverter.class,
      completionCandidates = BenchChoices.FigureNames.class,
      description = "Runs it: ${COMPLETION-CANDIDATES}. The figure orca is all of orca-*.")
  private @Nullable Figure figure;

  @Option(
      names = "--records",
      paramLabel = "N",
      converter = Quantity.class,
      description =
          "Records to load (default: 20M; dex-repartitioning: 4M; dex-16: 600K; ORCA's figures:"
              + " 500K).")
  private @Nullable Long asked;

  @Option(names = "--seed", paramLabel = "N", description = "Start of all randomness (default: 1).")
  private @Nullable Long seed;

  @Mixin private JsonOption jsonOption;

  @Option(
      names = "--html",
      paramLabel = "FILE" + HTML,
      description =
          "Writes a page that needs no other file: diagrams of the paper's numbers and ours, why"
              + " they differ by more than a third, the command that gives them again, tables and"
              + " CSV.")
  private @Nullable Path html;

  @Option(
      names = "--pictures",
      paramLabel = "FOLDER",
      description =
          "Writes the pictures of the documents, from results of systems and orca-caches.")
  private @Nullable Path pictures;

  @Override
  public Integer call() throws IOException {
    Ranges.checkFile(spec, "--html", html);
    Ranges.check(
        spec, "--html", html == null || html.toString().endsWith(HTML), html + "", "*" + HTML);
    Ranges.check(
        spec,
        "--pictures",
        pictures == null || Files.isDirectory(pictures),
        pictures + "",
        "a folder");
    List<FigureResult> results = figure == null ? read() : run(figure);
    try {
      show(results);
    } catch (IllegalArgumentException e) {
      throw refusal(String.valueOf(e.getMessage()));
    }
    return CommandLine.ExitCode.OK;
  }

  private ParameterException refusal(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private List<FigureResult> run(Figure chosen) throws IOException {
    if (!files.isEmpty()) {
      throw refusal("--figure runs one anew, without files of results: files=" + files);
    }
    long records = asked == null ? chosen.records() : asked;
    Ranges.check(spec, "--records", records, RECORDS_MIN, Ledger.RECORDS_MAX);
    jsonOption.check();
    long start = seed == null ? 1 : seed;
    List<FigureResult> results = new ArrayList<>();
    PrintWriter out = spec.commandLine().getOut();
    for (Figure part : chosen.parts()) {
      List<FigureLine> lines =
          ScopedValue.where(Figure.PROGRESS, progress(part))
              .call(() -> Ranges.accepted(spec, () -> part.run(records, start)));
      out.printf("%s%n%s", part.title(), FigureReport.table(lines));
      out.flush();
      results.add(new FigureResult(part, records, start, commit(), lines));
      if (jsonOption.file() != null) {
        FigureJson.write(jsonOption.file(), results);
      }
    }
    chosen
        .remark(results.stream().flatMap(result -> result.lines().stream()).toList())
        .ifPresent(out::println);
    out.flush();
    return results;
  }

  /** Prints each step of a figure to the standard error, with the seconds since its start. */
  private Consumer<String> progress(Figure part) {
    PrintWriter err = spec.commandLine().getErr();
    long start = System.nanoTime();
    return step -> {
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      err.printf("%s, %d s: %s%n", part.name(), seconds, step);
      err.flush();
    };
  }

  private List<FigureResult> read() throws IOException {
    if (files.isEmpty() || (html == null && pictures == null)) {
      throw refusal("needs --figure NAME, or --html or --pictures with files of results");
    }
    if (asked != null || seed != null || jsonOption.file() != null) {
      throw refusal("--records, --seed and --json are for a run: they need --figure NAME");
    }
    List<FigureResult> results = new ArrayList<>();
    Map<String, Path> origins = new HashMap<>();
    for (Path file : files) {
      for (FigureResult result : parsed(file)) {
        String name = result.figure().name();
        Path other = origins.put(name, file);
        if (other != null) {
          throw refusal("results of " + name + " twice: files=" + other + ", " + file);
        }
        results.add(result);
      }
    }
    return results;
  }

  private List<FigureResult> parsed(Path file) throws IOException {
    try {
      return FigureJson.read(file);
    } catch (IllegalArgumentException e) {
      throw refusal(String.valueOf(e.getMessage()));
    }
  }

  private void show(List<FigureResult> results) throws IOException {
    if (html != null) {
      Files.writeString(html, FigurePage.of(results), UTF_8);
    }
    if (pictures != null) {
      for (Map.Entry<String, String> picture : Pictures.of(results).entrySet()) {
        Files.writeString(pictures.resolve(picture.getKey()), picture.getValue(), UTF_8);
      }
    }
  }

  /**
   * Returns the commit of the code, which the launcher gives by {@code -Dpando.commit=}; {@code
   * null} if it does not.
   */
  private static @Nullable String commit() {
    String commit = System.getProperty("pando.commit");
    return commit != null && FigureResult.isCommit(commit) ? commit : null;
  }
}
