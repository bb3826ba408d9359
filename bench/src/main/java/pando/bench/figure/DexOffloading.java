package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/**
 * What offloading gives DEX with a small cache, by the threads of each memory server. The paper
 * gives two numbers, 1.55 and 1.34, for four threads.
 */
final class DexOffloading implements Figure {
  private static final double CACHE = 0.01;
  private static final int THREADS = 4;

  /** A distribution, and the paper's ratio with all threads. */
  private record Skew(Distribution distribution, double paper) {
    Load load() {
      return new Load(Workload.READ_ONLY, distribution);
    }

    Load load(int threads) {
      return load().withProcessorThreads(threads);
    }
  }

  private static final List<Skew> SKEWS =
      List.of(new Skew(Distribution.ZIPFIAN, 1.55), new Skew(Distribution.UNIFORM, 1.34));

  @Override
  public String name() {
    return "dex-offloading";
  }

  @Override
  public String title() {
    return "DEX: offloading by threads of each of 4 memory servers, 4 compute servers, 144 clients,"
        + " 1 % cache, lookups";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed).withCache(CACHE);
    List<Load> loads =
        SKEWS.stream()
            .flatMap(skew -> IntStream.rangeClosed(1, THREADS).mapToObj(skew::load))
            .toList();
    Results with = lab.run(DexOptions.defaults(), loads);
    Results without =
        lab.run(
            DexOptions.defaults().withOffloading(false), SKEWS.stream().map(Skew::load).toList());
    List<FigureLine> lines = new ArrayList<>();
    for (Skew skew : SKEWS) {
      add(lines, skew, with, without.megaOps(skew.load()));
    }
    return lines;
  }

  private static void add(List<FigureLine> lines, Skew skew, Results with, double without) {
    String what = skew.distribution() + ", ";
    lines.add(new FigureLine(what + "no offloading", "Mops", NOT_GIVEN, without));
    for (int threads = 1; threads <= THREADS; threads++) {
      double megaOps = with.megaOps(skew.load(threads));
      String name = what + threads + (threads == 1 ? " thread" : " threads");
      lines.add(new FigureLine(name, "Mops", NOT_GIVEN, megaOps));
      lines.add(
          new FigureLine(
              name, "x", threads == THREADS ? skew.paper() : NOT_GIVEN, megaOps / without));
    }
  }
}
