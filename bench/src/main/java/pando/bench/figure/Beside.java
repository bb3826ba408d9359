package pando.bench.figure;

import static pando.bench.figure.Measure.BYTES;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.RATIO;
import static pando.bench.figure.Measure.TRIPS;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import pando.bench.workload.Workload;
import pando.cli.text.Numbers;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.index.orca.DirectoryTooLargeException;
import pando.index.orca.OrcaOptions;

/** ORCA beside DEX, and beside the best of the other systems. */
final class Beside {
  /** Begins the measures of the best of the others. */
  static final String BEST = "best";

  /** Stands before the name of the best of the others. */
  static final String BESIDE = ", beside ";

  private static final List<Workload> SWEPT = List.of(Workload.READ_ONLY, Workload.WRITE_INTENSIVE);

  private static final long RECORDS_PER_MILLI = 125_000;

  private static final long MILLIS_MAX = 4;

  private final Map<IndexSystem, Results> results;

  private Beside(Map<IndexSystem, Results> results) {
    this.results = results;
  }

  /**
   * Returns a figure of rows, which are bars. Its remark says where ORCA is behind, and which
   * places have no row, because their caches are too small.
   *
   * @param places what names the rows of each workload, if they are those of a sweep
   */
  static Figure figure(
      String name, String title, Set<String> places, Function<Lab, List<FigureLine>> rows) {
    return new Figure(name, title, (records, seed) -> rows.apply(Lab.ofDex(records, seed)))
        .drawnBy(BesidePlots::bars)
        .summedUpBy(lines -> remark(lines).map(remark -> remark + leftOut(places, lines)));
  }

  /**
   * Returns a figure of lookups and updates, drawn as curves.
   *
   * @param across what the places stand for
   * @param places what is changed in the testbed for each
   */
  static Figure sweep(
      String name,
      String title,
      String across,
      Map<String, UnaryOperator<Lab>> places,
      List<IndexSystem> systems) {
    return figure(name, title, places.keySet(), lab -> sweep(lab, places, systems))
        .drawnBy(lines -> BesidePlots.curves(across, lines));
  }

  /** Runs loads on systems, among them ORCA and DEX. */
  static Beside run(Lab lab, List<IndexSystem> systems, List<Load> loads) {
    return new Beside(lab.runEach(systems, loads));
  }

  /**
   * Runs lookups and updates on several testbeds, with a warm-up in which large caches are filled
   * and settle, too; returns a row for each load on each testbed. A testbed whose caches are too
   * small for ORCA's directory has no row.
   */
  private static List<FigureLine> sweep(
      Lab lab, Map<String, UnaryOperator<Lab>> places, List<IndexSystem> systems) {
    List<Load> loads =
        SWEPT.stream()
            .map(workload ->
                Load.zipfian(workload)
                    .withWarmup(2 * lab.records())
                    .forMillis(millis(lab.records())))
            .toList();
    Map<String, Beside> points = new LinkedHashMap<>();
    places.forEach((name, change) ->
        runIfHeld(change.apply(lab), systems, loads).ifPresent(its -> points.put(name, its)));
    List<FigureLine> lines = new ArrayList<>();
    for (Load load : loads) {
      points.forEach(
          (name, beside) -> lines.addAll(beside.lines(load.workload() + ", " + name, load)));
    }
    return lines;
  }

  /** Returns 4; less for few records, so that a first look takes less than a minute. */
  private static long millis(long records) {
    return Math.clamp(records / RECORDS_PER_MILLI, 1, MILLIS_MAX);
  }

  private static Optional<Beside> runIfHeld(Lab lab, List<IndexSystem> systems, List<Load> loads) {
    try {
      return Optional.of(run(lab, systems, loads));
    } catch (DirectoryTooLargeException e) {
      Figure.PROGRESS.orElse(_ -> {}).accept("left out: " + e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Returns what ORCA, DEX and the best of the others made of a load: a row.
   *
   * @param what names the load; the name of the best system is added
   */
  List<FigureLine> lines(String what, Load load) {
    IndexSystem other = bestOther(load);
    Results orca = of(OrcaOptions.ORCA);
    Results best = of(other);
    String row = what + BESIDE + other.title();
    List<FigureLine> lines = new ArrayList<>();
    add(lines, row, "ORCA", MOPS, orca, load);
    add(lines, row, "DEX", MOPS, of(DexOptions.DEX), load);
    add(lines, row, BEST, MOPS, best, load);
    double ratio = orca.number(RATIO, load) / best.number(RATIO, load);
    lines.add(FigureLine.ours(row, RATIO.name(), ratio));
    for (Measure measure : List.of(TRIPS, BYTES)) {
      add(lines, row, "ORCA", measure, orca, load);
      add(lines, row, BEST, measure, best, load);
    }
    return lines;
  }

  private static void add(
      List<FigureLine> lines, String row, String subject, Measure measure, Results its, Load load) {
    String name = subject + " " + measure.name();
    lines.add(FigureLine.ours(row, name, its.number(measure, load)));
  }

  private IndexSystem bestOther(Load load) {
    return results.keySet().stream()
        .filter(system -> !system.equals(OrcaOptions.ORCA))
        .max(Comparator.comparingDouble(system -> of(system).number(MOPS, load)))
        .orElseThrow();
  }

  private Results of(IndexSystem system) {
    Results its = results.get(system);
    if (its == null) {
      throw new IllegalArgumentException("this was not run: system=" + system.name());
    }
    return its;
  }

  /** Returns in how many rows ORCA does not lead, and in which; nothing if there are none. */
  static Optional<String> remark(List<FigureLine> lines) {
    List<FigureLine> ratios = lines.stream().filter(Beside::isRatio).toList();
    if (ratios.isEmpty()) {
      return Optional.empty();
    }
    List<FigureLine> behind = ratios.stream().filter(line -> line.ours() < 1).toList();
    String start = "ORCA does not lead in " + behind.size() + " of " + ratios.size() + " rows";
    String rows =
        behind.stream()
            .map(line -> line.what() + " (" + Numbers.decimal(line.ours(), 2) + " x)")
            .collect(Collectors.joining("; "));
    return Optional.of((rows.isEmpty() ? start : start + ": " + rows) + ".");
  }

  /** Returns whether a number is ORCA's throughput over that of the best of the others. */
  static boolean isRatio(FigureLine line) {
    return line.measure().equals(RATIO.name()) && line.what().contains(BESIDE);
  }

  private static String leftOut(Set<String> places, List<FigureLine> lines) {
    String missing =
        places.stream()
            .filter(place ->
                lines.stream().noneMatch(line -> line.what().contains(", " + place + BESIDE)))
            .collect(Collectors.joining(", "));
    return missing.isEmpty()
        ? ""
        : " Left out, as caches do not hold ORCA's directory: " + missing + ".";
  }
}
