package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import pando.baselines.rolex.RolexOptions;
import pando.bench.simulate.Windows;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * ROLEX under inserts with and without retraining, for each millisecond after a fresh load: leaves
 * fill up, synonym leaves pile up, and models are retrained. A twentieth of the records is loaded,
 * so that as many are inserted within a tenth of a second.
 */
final class RolexRetraining implements Figure {
  private static final int SHARE_LOADED = 20;

  /** Records per measured millisecond. */
  private static final int RECORDS_TO_A_MILLI = 10_000;

  private static final int MILLIS_MIN = 4;

  /**
   * One warm-up operation for so many records: enough to cache the models, and too few to fill
   * leaves.
   */
  private static final int SHARE_WARM = 20;

  @Override
  public String name() {
    return "rolex-retraining";
  }

  @Override
  public String title() {
    return "ROLEX: half inserts, uniform, from a fresh load of a twentieth of the records on; the"
        + " milliseconds before the first model is retrained, and after";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    long loaded = records / SHARE_LOADED;
    Lab lab = Lab.ofRolex(loaded, seed);
    Load load =
        new Load(Workload.INSERT_INTENSIVE, Distribution.UNIFORM)
            .withWarmup(loaded / SHARE_WARM)
            .forMillis(Math.max(MILLIS_MIN, loaded / RECORDS_TO_A_MILLI));
    RolexOptions rolex = RolexOptions.rolex();
    Results on = lab.run(rolex.withRetraining(true), List.of(load));
    Results off = lab.run(rolex.withRetraining(false), List.of(load));
    int began = began(on.windows(load));
    List<FigureLine> lines = new ArrayList<>();
    add(lines, "retraining=on", on, load, began);
    add(lines, "retraining=off", off, load, began);
    return lines;
  }

  /**
   * Returns the window in which the first model was retrained, but at least the second, so that
   * there is one before it to compare with.
   */
  private static int began(Windows windows) {
    int last = windows.count() - 1;
    return IntStream.range(1, last)
        .filter(window -> windows.admissions(window + 1) > windows.admissions(0))
        .findFirst()
        .orElse(last);
  }

  private static void add(
      List<FigureLine> lines, String what, Results results, Load load, int began) {
    Windows windows = results.windows(load);
    int count = windows.count();
    double before = megaOps(windows, 0, began).average().orElseThrow();
    double after = megaOps(windows, began, count).average().orElseThrow();
    double least = megaOps(windows, began, count).min().orElseThrow();
    double last = megaOps(windows, count - (count + 3) / 4, count).average().orElseThrow();
    add(lines, what, "Mops", results.megaOps(load));
    add(lines, what, "ms before", began);
    add(lines, what, "Mops before", before);
    add(lines, what, "Mops after", after);
    add(lines, what, "least of 1 ms / before", least / before);
    add(lines, what, "Mops, last quarter", last);
    add(lines, what, "bytes READ", results.bytesIn(load));
    add(lines, what, "pool B/record", results.footprint(load).poolBytesPerRecord());
  }

  private static DoubleStream megaOps(Windows windows, int from, int to) {
    return IntStream.range(from, to).mapToDouble(windows::megaOps);
  }

  private static void add(List<FigureLine> lines, String what, String measure, double ours) {
    lines.add(new FigureLine(what, measure, NOT_GIVEN, ours));
  }
}
