package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.rolex.RolexOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;

/**
 * ROLEX with increasing numbers of cores at each compute server, compared with the systems in its
 * paper.
 */
final class RolexScaling implements Figure {
  private static final List<Workload> WORKLOADS =
      List.of(Workload.READ_ONLY, Workload.WRITE_INTENSIVE);
  private static final List<Integer> THREADS = List.of(1, 4, 12, 36);

  @Override
  public String name() {
    return "rolex-scaling";
  }

  @Override
  public String title() {
    return "ROLEX: cores of each of 3 compute servers, 3 memory servers, Zipf 0.99; Mops";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofRolex(records, seed);
    List<Load> loads = new ArrayList<>();
    for (Workload workload : WORKLOADS) {
      THREADS.forEach(threads -> loads.add(load(workload, threads)));
    }
    List<FigureLine> lines = new ArrayList<>(lines(lab, RolexOptions.ROLEX, loads));
    RolexYcsb.IN_PAPER.forEach(each -> lines.addAll(lines(lab, each, loads)));
    return lines;
  }

  private static Load load(Workload workload, int threads) {
    return new Load(workload, Distribution.ZIPFIAN).withThreads(threads);
  }

  private static List<FigureLine> lines(Lab lab, IndexSystem system, List<Load> loads) {
    Results results = lab.run(system.defaults(), loads);
    return loads.stream()
        .map(load ->
            new FigureLine(
                load.workload() + ", " + system.title(),
                "threads=" + load.threads(),
                NOT_GIVEN,
                results.megaOps(load)))
        .toList();
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return Plot.curves("Mops", "clients of each compute server", lines);
  }
}
