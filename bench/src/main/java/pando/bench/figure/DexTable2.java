package pando.bench.figure;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.run.Measurement;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/** DEX, table 2: verbs and bytes of an operation. */
final class DexTable2 implements Figure {
  private static final Load READ_ONLY = new Load(Workload.READ_ONLY, Distribution.ZIPFIAN_DEX);
  private static final Load WRITE_INTENSIVE =
      new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN_DEX);
  static final List<Load> BOTH = List.of(READ_ONLY, WRITE_INTENSIVE);

  @Override
  public String name() {
    return "dex-table2";
  }

  @Override
  public String title() {
    return "DEX table 2: verbs and bytes per operation, 4 + 4 servers, 8 % cache, zipfian-dex";
  }

  @Override
  public List<Reason> reasons() {
    return List.of(
        Reason.above(
            "write-intensive, Sherman: (READs|bytes)",
            "Sherman write-intensive has more READs than the paper's 2.71, as its readers READ"
                + " again while a hot leaf is locked"),
        Reason.below(
            "write-intensive, Sherman: atomics",
            "There are fewer atomics than the paper's 0.59, as locks are handed over"));
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    Results dex = lab.run(DexOptions.defaults(), BOTH);
    Results sherman = lab.run(Dex6.sherman(), BOTH);
    Results partitioned = lab.run(ShermanOptions.partitionedSherman(), BOTH);
    List<FigureLine> lines = new ArrayList<>();
    add(lines, "read-only, DEX", dex, READ_ONLY, 0.33, 0, 0, 333.9);
    add(lines, "write-intensive, DEX", dex, WRITE_INTENSIVE, 0.33, 0.19, 0, 524.1);
    add(lines, "read-only, Sherman", sherman, READ_ONLY, 3.02, 0, 0, 1064.7);
    add(lines, "write-intensive, Sherman", sherman, WRITE_INTENSIVE, 2.71, 0.99, 0.59, 1079.0);
    add(lines, "read-only, P-Sherman", partitioned, READ_ONLY, 1.00, 0, 0, 1025.0);
    add(lines, "write-intensive, P-Sherman", partitioned, WRITE_INTENSIVE, 1.02, 0.50, 0, 1054.4);
    return lines;
  }

  private static void add(
      List<FigureLine> lines,
      String what,
      Results results,
      Load load,
      double reads,
      double writes,
      double atomics,
      double bytes) {
    Measurement ours = results.measurement(load);
    lines.add(new FigureLine(what, "READs", reads, ours.perOperation(ours.verbs.reads)));
    lines.add(new FigureLine(what, "WRITEs", writes, ours.perOperation(ours.verbs.writes)));
    lines.add(new FigureLine(what, "atomics", atomics, ours.perOperation(ours.verbs.atomics)));
    lines.add(new FigureLine(what, "bytes", bytes, ours.perOperation(ours.verbs.bytes())));
  }
}
