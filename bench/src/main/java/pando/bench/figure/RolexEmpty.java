package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.deft.DeftOptions;
import pando.baselines.rolex.RolexOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;

/** ROLEX filled by inserts alone, starting empty, compared with the systems in its paper. */
final class RolexEmpty implements Figure {
  private static final int MILLIS_MIN = 2;
  private static final int MILLIS_MAX = 40;

  /** Records per measured millisecond: as many as are inserted in ten milliseconds. */
  private static final int RECORDS_TO_A_MILLI = 100_000;

  @Override
  public String name() {
    return "rolex-empty";
  }

  @Override
  public String title() {
    return "ROLEX: inserts alone from an empty index on, for up to 40 ms, 3 + 3 servers, 108"
        + " clients";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofRolex(records, seed);
    long millis = Math.clamp(records / RECORDS_TO_A_MILLI, MILLIS_MIN, MILLIS_MAX);
    Load inserts =
        new Load(Workload.INSERT_ONLY, Distribution.UNIFORM).fromNothing().forMillis(millis);
    List<FigureLine> lines = new ArrayList<>(lines(lab, RolexOptions.ROLEX, inserts));
    RolexYcsb.IN_PAPER.forEach(each -> lines.addAll(lines(lab, each, inserts)));
    lines.addAll(lines(lab, DeftOptions.DEFT, inserts));
    return lines;
  }

  private static List<FigureLine> lines(Lab lab, IndexSystem system, Load inserts) {
    Results results = lab.run(system.defaults(), List.of(inserts));
    return List.of(
        line(system, "Mops", results.megaOps(inserts)),
        line(system, "p99 us", results.measurement(inserts).latencyNanos(99) / 1e3),
        line(system, "M records", results.footprint(inserts).records() / 1e6),
        line(system, "pool B/record", results.footprint(inserts).poolBytesPerRecord()),
        line(system, "cached B/record", results.footprint(inserts).cachedBytesPerRecord()));
  }

  private static FigureLine line(IndexSystem system, String measure, double ours) {
    return new FigureLine(system.title(), measure, NOT_GIVEN, ours);
  }
}
