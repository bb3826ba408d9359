package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import pando.bench.run.Footprint;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.Systems;

/**
 * All systems compared, which no paper does: the same operations on the same testbed, each run
 * after a warm-up of half as many operations as there are records.
 */
final class AllSystems implements Figure {
  private static final List<Workload> WORKLOADS =
      List.of(Workload.READ_ONLY, Workload.WRITE_INTENSIVE, Workload.INSERT_ONLY);

  @Override
  public String name() {
    return "systems";
  }

  @Override
  public String title() {
    return "All systems: 3 + 3 servers, 108 clients, 8 % cache, Zipf 0.99; each operation, and each"
        + " record in all caches together and in the pool";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofRolex(records, seed);
    List<Load> loads = WORKLOADS.stream().map(workload -> load(workload, records)).toList();
    Map<IndexSystem, Results> results = lab.runEach(Systems.all(), loads);
    List<FigureLine> lines = new ArrayList<>();
    for (Load load : loads) {
      results.forEach((system, its) -> add(lines, load, system, its));
    }
    return lines;
  }

  private static Load load(Workload workload, long records) {
    return new Load(workload, Distribution.ZIPFIAN).withWarmup(records / 2);
  }

  private static void add(List<FigureLine> lines, Load load, IndexSystem system, Results results) {
    String what = load.workload() + ", " + system.title();
    Footprint footprint = results.footprint(load);
    lines.addAll(results.verbs(what, load));
    add(lines, what, "cached B/record", footprint.cachedBytesPerRecord());
    add(lines, what, "pool B/record", footprint.poolBytesPerRecord());
    add(lines, what, "Mops", results.megaOps(load));
  }

  private static void add(List<FigureLine> lines, String what, String measure, double ours) {
    lines.add(new FigureLine(what, measure, NOT_GIVEN, ours));
  }
}
