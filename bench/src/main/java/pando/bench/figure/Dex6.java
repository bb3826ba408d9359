package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.List;
import java.util.stream.Stream;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.dex.DexOptions;

/** DEX, figure 6: throughput over Sherman and P-Sherman. */
final class Dex6 implements Figure {
  private static final List<Bars> PAPER =
      List.of(
          new Bars(Workload.READ_ONLY, Distribution.ZIPFIAN, 3.6, 2.5),
          new Bars(Workload.READ_INTENSIVE, Distribution.ZIPFIAN, 3.4, 2.5),
          new Bars(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN, 9.6, 7),
          new Bars(Workload.SCAN_INTENSIVE, Distribution.ZIPFIAN, 2.8, NOT_GIVEN),
          new Bars(Workload.READ_ONLY, Distribution.UNIFORM, NOT_GIVEN, 1),
          new Bars(Workload.READ_INTENSIVE, Distribution.UNIFORM, NOT_GIVEN, 1),
          new Bars(Workload.WRITE_INTENSIVE, Distribution.UNIFORM, NOT_GIVEN, 1),
          new Bars(Workload.SCAN_INTENSIVE, Distribution.UNIFORM, NOT_GIVEN, 1));

  /** The paper's numbers for one load. */
  private record Bars(Load load, double overSherman, double overPartitioned) {
    Bars(Workload workload, Distribution distribution, double overSherman, double overPartitioned) {
      this(new Load(workload, distribution), overSherman, overPartitioned);
    }

    Stream<FigureLine> beside(Results dex, Results sherman, Results partitioned) {
      boolean isUniform = load.distribution() == Distribution.UNIFORM;
      String what = load.workload() + (isUniform ? ", uniform" : ", Zipf 0.99");
      return Stream.of(
          new FigureLine(what + ", DEX", "Mops", NOT_GIVEN, dex.megaOps(load)),
          new FigureLine(what + ", DEX over Sherman", "x", overSherman, dex.over(sherman, load)),
          new FigureLine(
              what + ", DEX over P-Sherman", "x", overPartitioned, dex.over(partitioned, load)));
    }
  }

  /** Returns the Sherman that the DEX paper measured: reads validated by versions. */
  static IndexOptions sherman() {
    return ShermanOptions.sherman().withValidation(ShermanValidation.VERSIONS);
  }

  @Override
  public String name() {
    return "dex-6";
  }

  @Override
  public String title() {
    return "DEX figure 6: 4 + 4 servers, 144 clients, 8 % cache";
  }

  @Override
  public List<Reason> reasons() {
    return List.of(
        Reason.below(
            "write-intensive, Zipf 0.99, DEX over P-Sherman: x",
            "P-Sherman's writers queue locally for a hot leaf and issue one READ and one WRITE"
                + " each, no atomic"),
        Reason.above(
            "read-intensive, Zipf 0.99, DEX over Sherman: x",
            "Sherman's readers with versions READ three times, and again while a hot leaf is"
                + " locked"),
        Reason.above(
            "scan-intensive, .*",
            "A scan of 100 takes 4.0 READs in P-Sherman and 12.0 in Sherman with versions, where"
                + " DEX takes 1.3"));
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    List<Load> loads = PAPER.stream().map(Bars::load).toList();
    Results dex = lab.run(DexOptions.defaults(), loads);
    Results sherman = lab.run(sherman(), loads);
    Results partitioned = lab.run(ShermanOptions.partitionedSherman(), loads);
    return PAPER.stream().flatMap(bars -> bars.beside(dex, sherman, partitioned)).toList();
  }
}
