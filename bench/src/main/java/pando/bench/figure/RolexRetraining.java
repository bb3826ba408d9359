package pando.bench.figure;

import static pando.bench.figure.Measure.BYTES_READ;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.POOL;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import pando.baselines.rolex.RolexOptions;
import pando.bench.simulate.Windows;
import pando.bench.workload.Workload;

/**
 * ROLEX under inserts with and without retraining, for each millisecond after a fresh load: leaves
 * fill up, synonym leaves pile up, and models are retrained. A twentieth of the records is loaded,
 * so that as many are inserted within a tenth of a second.
 */
final class RolexRetraining {
  private static final int SHARE_LOADED = 20;

  /** Records per measured millisecond. */
  private static final int RECORDS_TO_A_MILLI = 10_000;

  private static final int MILLIS_MIN = 4;

  /**
   * One warm-up operation for so many records: enough to cache the models, and too few to fill
   * leaves.
   */
  private static final int SHARE_WARM = 20;

  private RolexRetraining() {}

  static Figure figure() {
    return new Figure(
        "rolex-retraining",
        "ROLEX: half inserts, uniform, from a fresh load of a twentieth of the records on; the"
            + " milliseconds before the first model is retrained, and after",
        RolexRetraining::run);
  }

  private static List<FigureLine> run(long records, long seed) {
    long loaded = records / SHARE_LOADED;
    Lab lab = Lab.ofRolex(loaded, seed);
    Load load =
        Load.uniform(Workload.INSERT_INTENSIVE)
            .withWarmup(loaded / SHARE_WARM)
            .forMillis(Math.max(MILLIS_MIN, loaded / RECORDS_TO_A_MILLI));
    RolexOptions rolex = RolexOptions.rolex();
    Results on = lab.run(rolex.withRetraining(true), List.of(load));
    Results off = lab.run(rolex.withRetraining(false), List.of(load));
    int began = began(on.of(load).windows());
    return Stream.of(
            lines("retraining=on", on, load, began), lines("retraining=off", off, load, began))
        .flatMap(List::stream)
        .toList();
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

  private static List<FigureLine> lines(String what, Results results, Load load, int began) {
    Windows windows = results.of(load).windows();
    int count = windows.count();
    double before = megaOps(windows, 0, began).average().orElseThrow();
    double after = megaOps(windows, began, count).average().orElseThrow();
    double least = megaOps(windows, began, count).min().orElseThrow();
    double last = megaOps(windows, count - (count + 3) / 4, count).average().orElseThrow();
    List<FigureLine> lines = new ArrayList<>(results.lines(what, List.of(MOPS), load));
    lines.add(FigureLine.ours(what, "ms before", began));
    lines.add(FigureLine.ours(what, "Mops before", before));
    lines.add(FigureLine.ours(what, "Mops after", after));
    lines.add(FigureLine.ours(what, "least of 1 ms / before", least / before));
    lines.add(FigureLine.ours(what, "Mops, last quarter", last));
    lines.addAll(results.lines(what, List.of(BYTES_READ, POOL), load));
    return lines;
  }

  private static DoubleStream megaOps(Windows windows, int from, int to) {
    return IntStream.range(from, to).mapToDouble(windows::megaOps);
  }
}
