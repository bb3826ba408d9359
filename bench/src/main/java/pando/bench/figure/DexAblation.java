package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.dex.DexOptions;

/**
 * DEX with one technique changed at a time, with a small cache and with the usual one; beside it a
 * tree with partitions alone, which is P-Sherman, and one without, which is Sherman.
 */
final class DexAblation implements Figure {
  private static final List<Integer> PERCENT = List.of(1, 8);
  private static final List<Load> LOADS =
      List.of(
          new Load(Workload.READ_ONLY, Distribution.ZIPFIAN),
          new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN),
          new Load(Workload.INSERT_INTENSIVE, Distribution.ZIPFIAN),
          new Load(Workload.SCAN_INTENSIVE, Distribution.ZIPFIAN));

  @Override
  public String name() {
    return "dex-ablation";
  }

  @Override
  public String title() {
    return "DEX with one technique changed, caches of 1 % and 8 %: 4 + 4 servers, 144 clients, Zipf"
        + " 0.99; Mops";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    List<FigureLine> lines = new ArrayList<>();
    for (int percent : PERCENT) {
      Lab lab = Lab.ofDex(records, seed).withCache(percent / 100.0);
      variants()
          .forEach((name, options) -> {
            Results results = lab.run(options, LOADS);
            for (Load load : LOADS) {
              lines.add(
                  new FigureLine(
                      percent + " %, " + name,
                      load.workload().toString(),
                      NOT_GIVEN,
                      results.megaOps(load)));
            }
          });
    }
    return lines;
  }

  private static Map<String, IndexOptions> variants() {
    DexOptions dex = DexOptions.defaults();
    Map<String, IndexOptions> variants = new LinkedHashMap<>();
    variants.put("DEX", dex);
    variants.put("offloading=off", dex.withOffloading(false));
    variants.put("admission=0.01", dex.with("admission", "0.01"));
    variants.put("admission=1", dex.with("admission", "1"));
    variants.put("caching=off", dex.withCaching(false));
    variants.put("P-Sherman", ShermanOptions.partitionedSherman());
    variants.put("Sherman", ShermanOptions.sherman());
    return variants;
  }
}
