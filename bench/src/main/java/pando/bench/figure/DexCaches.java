package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;

/**
 * DEX, P-Sherman and Sherman with caches of many sizes. The paper has curves without numbers. The
 * warm-up is twice as many operations as there are records, so that large caches settle, too.
 */
final class DexCaches implements Figure {
  private static final List<IndexSystem> SYSTEMS =
      List.of(DexOptions.DEX, ShermanOptions.P_SHERMAN, ShermanOptions.SHERMAN);
  private static final List<Integer> PERCENT = List.of(1, 2, 4, 8, 16, 32, 64);

  @Override
  public String name() {
    return "dex-caches";
  }

  @Override
  public String title() {
    return "DEX: cache of each compute server, as a share of the records, 4 + 4 servers, 144"
        + " clients, Zipf 0.99; Mops";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    List<Load> loads =
        List.of(
            new Load(Workload.READ_ONLY, Distribution.ZIPFIAN).withWarmup(2 * records),
            new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN).withWarmup(2 * records));
    List<FigureLine> lines = new ArrayList<>();
    for (int percent : PERCENT) {
      Map<IndexSystem, Results> results = lab.withCache(percent / 100.0).runEach(SYSTEMS, loads);
      for (Load load : loads) {
        results.forEach((system, its) ->
            lines.add(
                new FigureLine(
                    load.workload() + ", " + system.title(),
                    "cache=" + percent + " %",
                    NOT_GIVEN,
                    its.megaOps(load))));
      }
    }
    return lines;
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return Plot.curves("Mops", "cache of each compute server", lines);
  }
}
