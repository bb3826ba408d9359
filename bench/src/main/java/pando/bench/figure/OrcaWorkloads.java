package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.Systems;

/** ORCA beside the other systems under DEX's six workloads. */
final class OrcaWorkloads implements OrcaFigure {
  @Override
  public String name() {
    return "orca-workloads";
  }

  @Override
  public String title() {
    return "ORCA: workloads, 4 + 4 servers, 144 clients, 8 % cache, Zipf 0.99 and uniform";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    List<Load> loads = loads();
    Beside beside = Beside.run(Lab.ofDex(records, seed), Systems.all(), loads);
    return loads.stream()
        .flatMap(load -> beside.lines(load.workload() + ", " + load.distribution(), load).stream())
        .toList();
  }

  private static List<Load> loads() {
    List<Load> loads = new ArrayList<>();
    for (Distribution asked : List.of(Distribution.ZIPFIAN, Distribution.UNIFORM)) {
      // Inserts alone are uniform whatever is asked for.
      Workload.ALL.stream()
          .filter(workload -> workload.distribution(asked) == asked)
          .forEach(workload -> loads.add(new Load(workload, asked)));
    }
    return loads;
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return BesidePlots.bars(lines);
  }
}
