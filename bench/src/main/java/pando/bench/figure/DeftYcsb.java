package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.deft.DeftOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * DEFT's comparison with Sherman over YCSB, with and without the checksums that make it correct.
 */
final class DeftYcsb implements Figure {
  private static final Load A = new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN);
  private static final Load B = new Load(Workload.READ_INTENSIVE, Distribution.ZIPFIAN);
  private static final Load C = new Load(Workload.READ_ONLY, Distribution.ZIPFIAN);
  private static final Load E = new Load(Workload.YCSB_E, Distribution.ZIPFIAN);
  private static final List<Load> ALL = List.of(A, B, C, E);

  @Override
  public String name() {
    return "deft-ycsb";
  }

  @Override
  public String title() {
    return "DEFT: YCSB, 2 memory and 10 compute servers, 300 clients, Zipf 0.99";
  }

  @Override
  public List<Reason> reasons() {
    return List.of(
        Reason.below(
            "A, DEFT over Sherman with checksums: x",
            "Summing up a node takes no processor time: Sherman with checksums only WRITEs 8 bytes"
                + " more here, which is why it is hardly behind Sherman"));
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDeft(records, seed);
    Results deft = lab.run(DeftOptions.defaults(), ALL);
    Results sherman = lab.run(ShermanOptions.sherman(), ALL);
    Results checked =
        lab.run(ShermanOptions.sherman().withValidation(ShermanValidation.CHECKSUM), ALL);
    List<FigureLine> lines = new ArrayList<>();
    lines.add(new FigureLine("A, DEFT", "Mops", 42.7, deft.megaOps(A)));
    lines.add(new FigureLine("A, DEFT over Sherman", "x", 6.1, deft.over(sherman, A)));
    lines.add(
        new FigureLine("A, DEFT over Sherman with checksums", "x", 9.5, deft.over(checked, A)));
    lines.add(new FigureLine("B, DEFT", "Mops", NOT_GIVEN, deft.megaOps(B)));
    lines.add(new FigureLine("B, DEFT over Sherman", "x", NOT_GIVEN, deft.over(sherman, B)));
    lines.add(new FigureLine("C, DEFT", "Mops", 91.0, deft.megaOps(C)));
    lines.add(new FigureLine("C, DEFT over Sherman", "x", 3.7, deft.over(sherman, C)));
    lines.add(new FigureLine("E, DEFT", "Mops", NOT_GIVEN, deft.megaOps(E)));
    lines.add(new FigureLine("E, DEFT over Sherman", "x", 1.0, deft.over(sherman, E)));
    return lines;
  }
}
