package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import pando.bench.run.Measurement;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.index.orca.DirectoryTooLargeException;
import pando.index.orca.OrcaOptions;

/** ORCA beside DEX, and beside the best of the other systems. */
final class Beside {
  /** The measure of ORCA's throughput over that of the best of the others. */
  static final String RATIO = "x";

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

  /** Runs loads on systems, among them ORCA and DEX. */
  static Beside run(Lab lab, List<IndexSystem> systems, List<Load> loads) {
    return new Beside(lab.runEach(systems, loads));
  }

  /**
   * Runs lookups and updates on several testbeds, with a warm-up in which large caches are filled
   * and settle, too; returns a row for each load on each testbed. A testbed whose caches are too
   * small for ORCA's directory has no row.
   *
   * @param labs testbeds of so many records, by name
   */
  static List<FigureLine> sweep(Map<String, Lab> labs, List<IndexSystem> systems, long records) {
    List<Load> loads =
        SWEPT.stream()
            .map(workload ->
                new Load(workload, Distribution.ZIPFIAN)
                    .withWarmup(2 * records)
                    .forMillis(millis(records)))
            .toList();
    Map<String, Beside> points = new LinkedHashMap<>();
    labs.forEach(
        (name, lab) -> runIfHeld(lab, systems, loads).ifPresent(its -> points.put(name, its)));
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
    return List.of(
        line(row, "ORCA Mops", orca.megaOps(load)),
        line(row, "DEX Mops", of(DexOptions.DEX).megaOps(load)),
        line(row, BEST + " Mops", best.megaOps(load)),
        line(row, RATIO, orca.over(best, load)),
        line(row, "ORCA trips", trips(orca, load)),
        line(row, BEST + " trips", trips(best, load)),
        line(row, "ORCA bytes", bytes(orca, load)),
        line(row, BEST + " bytes", bytes(best, load)));
  }

  private IndexSystem bestOther(Load load) {
    return results.keySet().stream()
        .filter(system -> !system.equals(OrcaOptions.ORCA))
        .max(Comparator.comparingDouble(system -> of(system).megaOps(load)))
        .orElseThrow();
  }

  private Results of(IndexSystem system) {
    Results its = results.get(system);
    if (its == null) {
      throw new IllegalArgumentException("this was not run: system=" + system.name());
    }
    return its;
  }

  private static FigureLine line(String what, String measure, double ours) {
    return new FigureLine(what, measure, NOT_GIVEN, ours);
  }

  private static double trips(Results results, Load load) {
    Measurement measured = results.measurement(load);
    return measured.perOperation(measured.verbs.roundTrips);
  }

  private static double bytes(Results results, Load load) {
    Measurement measured = results.measurement(load);
    return measured.perOperation(measured.verbs.bytes());
  }
}
