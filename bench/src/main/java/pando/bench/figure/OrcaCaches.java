package pando.bench.figure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.baselines.deft.DeftOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/** ORCA beside the best of the other systems with caches of many sizes. */
final class OrcaCaches implements OrcaFigure {
  private static final List<Integer> PERCENT = List.of(1, 2, 4, 8, 16, 32, 64);

  /** ORCA, and those that may be second for lookups and updates. */
  private static final List<IndexSystem> SYSTEMS =
      List.of(OrcaOptions.ORCA, DexOptions.DEX, DeftOptions.DEFT, ShermanOptions.P_SHERMAN);

  @Override
  public String name() {
    return "orca-caches";
  }

  @Override
  public String title() {
    return "ORCA: cache of each compute server, as a share of the records: 4 + 4 servers, 144"
        + " clients, Zipf 0.99";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    Map<String, Lab> labs = new LinkedHashMap<>();
    PERCENT.forEach(percent -> labs.put(place(percent), lab.withCache(percent / 100.0)));
    return Beside.sweep(labs, SYSTEMS, records);
  }

  private static String place(int percent) {
    return percent + " %";
  }

  @Override
  public List<String> places() {
    return PERCENT.stream().map(OrcaCaches::place).toList();
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return BesidePlots.curves("cache of each compute server", lines);
  }
}
