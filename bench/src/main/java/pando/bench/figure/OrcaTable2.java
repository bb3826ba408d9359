package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import pando.index.IndexSystem;
import pando.index.Systems;

/** Verbs and bytes of ORCA and all other systems, by the protocol of DEX's table 2. */
final class OrcaTable2 implements OrcaFigure {
  @Override
  public String name() {
    return "orca-table2";
  }

  @Override
  public String title() {
    return "ORCA: verbs and bytes of an operation as in DEX's table 2, 4 + 4 servers, 8 % cache,"
        + " zipfian-dex";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Map<IndexSystem, Results> results =
        Lab.ofDex(records, seed).runEach(Systems.all(), DexTable2.BOTH);
    List<FigureLine> lines = new ArrayList<>();
    for (Load load : DexTable2.BOTH) {
      results.forEach(
          (system, its) -> lines.addAll(its.verbs(load.workload() + ", " + system.title(), load)));
    }
    return lines;
  }
}
