package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import pando.bench.simulate.Windows;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/**
 * DEX's throughput over time, while one of three compute servers writes its cache back and gives
 * half of its range to a new one. The paper has curves without numbers, of caches of 256 MB, 512 MB
 * and 1 GB, which are 8, 16 and 32 % of its records; repartitioning begins after 2 s there, and
 * ends within 2 s. Here all is shorter, as caches are smaller.
 */
final class DexRepartitioning {
  private static final List<Double> CACHES = List.of(0.08, 0.16, 0.32);
  private static final int SERVERS = 3;

  /** Length of a run, the moment of the split, and the length of a slice of time. */
  private static final int MILLIS = 100;

  private static final int SPLIT_MILLIS = 20;
  private static final int SLICE_MILLIS = 5;

  /** Share of the throughput before, from which on repartitioning counts as over. */
  private static final double NEARLY = 0.95;

  private DexRepartitioning() {}

  static Figure figure() {
    return new Figure(
            "dex-repartitioning",
            "DEX: throughput over time, of 3 compute servers one gives half of its range to a new"
                + " one at 20 ms; half updates, skewed, 4 memory servers, 108 clients; Mops",
            DexRepartitioning::run)
        .withRecords(4_000_000)
        .drawnBy(DexRepartitioning::plots);
  }

  private static List<FigureLine> run(long records, long seed) {
    Load load =
        Load.zipfian(Workload.WRITE_INTENSIVE)
            .withWarmup(2 * records)
            .forMillis(MILLIS)
            .splitAfterMillis(SPLIT_MILLIS);
    List<FigureLine> lines = new ArrayList<>();
    for (double cache : CACHES) {
      Lab lab = Lab.ofDex(records, seed).withOnly(SERVERS).withCache(cache);
      Results results = lab.run(DexOptions.defaults(), List.of(load));
      add(lines, Math.round(100 * cache) + " % cache", results.of(load).windows());
    }
    return lines;
  }

  private static void add(List<FigureLine> lines, String what, Windows windows) {
    for (int from = 0; from + SLICE_MILLIS <= windows.count(); from += SLICE_MILLIS) {
      double mops = megaOps(windows, from, from + SLICE_MILLIS);
      lines.add(FigureLine.ours("over time, " + what, "ms=" + from, mops));
    }
    double before = megaOps(windows, 0, SPLIT_MILLIS);
    double least =
        IntStream.range(SPLIT_MILLIS, windows.count())
            .mapToDouble(windows::megaOps)
            .min()
            .orElseThrow();
    lines.add(FigureLine.ours(what, "least of 1 ms / before", least / before));
    lines.add(FigureLine.ours(what, "ms below 95 %", millisBelow(windows, before)));
  }

  private static double megaOps(Windows windows, int from, int to) {
    return IntStream.range(from, to).mapToDouble(windows::megaOps).average().orElseThrow();
  }

  private static double millisBelow(Windows windows, double before) {
    return IntStream.range(SPLIT_MILLIS, windows.count())
        .filter(window -> windows.megaOps(window) < NEARLY * before)
        .count();
  }

  private static List<Plot> plots(List<FigureLine> lines) {
    List<FigureLine> slices =
        lines.stream().filter(line -> line.measure().startsWith("ms=")).toList();
    List<FigureLine> others = lines.stream().filter(line -> !slices.contains(line)).toList();
    List<Plot> plots = new ArrayList<>(Plot.curves("Mops", "ms", slices));
    plots.addAll(Plot.bars(others));
    return plots;
  }
}
