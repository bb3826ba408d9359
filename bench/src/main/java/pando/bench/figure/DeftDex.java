package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.deft.DeftOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.run.Measurement;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/**
 * DEFT compared with DEX and P-Sherman, which no paper does: on the testbed of DEX's paper, with
 * equal caches.
 */
final class DeftDex implements Figure {
  private static final List<Workload> WORKLOADS =
      List.of(
          Workload.READ_ONLY,
          Workload.READ_INTENSIVE,
          Workload.WRITE_INTENSIVE,
          Workload.INSERT_INTENSIVE,
          Workload.SCAN_INTENSIVE);

  @Override
  public String name() {
    return "deft-dex";
  }

  @Override
  public String title() {
    return "DEFT, DEX and P-Sherman: 4 + 4 servers, 144 clients, 8 % cache";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    List<Load> loads = new ArrayList<>();
    for (Distribution distribution : List.of(Distribution.ZIPFIAN, Distribution.UNIFORM)) {
      WORKLOADS.forEach(workload -> loads.add(new Load(workload, distribution)));
    }
    Results deft = lab.run(DeftOptions.defaults(), loads);
    Results dex = lab.run(DexOptions.defaults(), loads);
    Results partitioned = lab.run(ShermanOptions.partitionedSherman(), loads);
    List<FigureLine> lines = new ArrayList<>();
    for (Load load : loads) {
      add(lines, load, "DEFT", deft);
      add(lines, load, "DEX", dex);
      add(lines, load, "P-Sherman", partitioned);
    }
    return lines;
  }

  private static void add(List<FigureLine> lines, Load load, String index, Results results) {
    String what = load.workload() + ", " + load.distribution() + ", " + index;
    Measurement ours = results.measurement(load);
    lines.add(new FigureLine(what, "Mops", NOT_GIVEN, results.megaOps(load)));
    lines.add(new FigureLine(what, "verbs", NOT_GIVEN, ours.perOperation(verbs(ours))));
    lines.add(new FigureLine(what, "trips", NOT_GIVEN, ours.perOperation(ours.verbs.roundTrips)));
    lines.add(new FigureLine(what, "bytes", NOT_GIVEN, ours.perOperation(ours.verbs.bytes())));
  }

  private static long verbs(Measurement measured) {
    return measured.verbs.reads + measured.verbs.writes + measured.verbs.atomics;
  }
}
