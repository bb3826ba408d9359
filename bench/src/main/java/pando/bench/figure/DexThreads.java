package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;

/**
 * DEX, P-Sherman and Sherman with increasing numbers of threads: up to 36 on one compute server,
 * then further compute servers of 36. The paper has curves without numbers.
 */
final class DexThreads implements Figure {
  private static final List<IndexSystem> SYSTEMS =
      List.of(DexOptions.DEX, ShermanOptions.P_SHERMAN, ShermanOptions.SHERMAN);
  private static final List<Load> LOADS =
      List.of(
          new Load(Workload.READ_ONLY, Distribution.ZIPFIAN),
          new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN),
          new Load(Workload.READ_ONLY, Distribution.UNIFORM),
          new Load(Workload.WRITE_INTENSIVE, Distribution.UNIFORM));

  /** Threads of a full compute server. */
  private static final int FULL = 36;

  /** Threads of a compute server that is alone. */
  private static final List<Integer> FEW = List.of(2, 9, 18, FULL);

  private static final int SERVERS = 4;

  @Override
  public String name() {
    return "dex-threads";
  }

  @Override
  public String title() {
    return "DEX: threads, up to 36 on each of 1 to 4 compute servers, 4 memory servers, 8 % cache;"
        + " Mops";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    List<FigureLine> lines = new ArrayList<>();
    for (IndexSystem system : SYSTEMS) {
      add(lines, lab.withOnly(1), FEW, system);
      for (int servers = 2; servers <= SERVERS; servers++) {
        add(lines, lab.withOnly(servers), List.of(FULL), system);
      }
    }
    return lines;
  }

  private static void add(
      List<FigureLine> lines, Lab lab, List<Integer> threads, IndexSystem system) {
    List<Load> loads =
        threads.stream()
            .flatMap(number -> LOADS.stream().map(load -> load.withThreads(number)))
            .toList();
    Results results = lab.run(system.defaults(), loads);
    for (Load load : loads) {
      lines.add(
          new FigureLine(
              load.workload() + ", " + load.distribution() + ", " + system.title(),
              "threads=" + lab.computeServers() * load.threads(),
              NOT_GIVEN,
              results.megaOps(load)));
    }
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return Plot.curves("Mops", "threads", lines);
  }
}
