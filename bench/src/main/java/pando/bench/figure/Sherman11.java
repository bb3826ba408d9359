package pando.bench.figure;

import java.util.List;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/** Sherman, figure 11, and the end of figure 13: what its techniques add without skew. */
final class Sherman11 implements Figure {
  private static final Load WRITE_INTENSIVE =
      new Load(Workload.WRITE_INTENSIVE, Distribution.UNIFORM);
  private static final Load WRITE_ONLY = new Load(Workload.WRITE_ONLY, Distribution.UNIFORM);
  private static final Load READ_INTENSIVE =
      new Load(Workload.READ_INTENSIVE, Distribution.UNIFORM);
  private static final Load CROWDED = WRITE_INTENSIVE.withCoroutines(3);
  private static final List<Load> ALL =
      List.of(WRITE_INTENSIVE, WRITE_ONLY, READ_INTENSIVE, CROWDED);

  @Override
  public String name() {
    return "sherman-11";
  }

  @Override
  public String title() {
    return "Sherman figures 11 and 13: 8 + 8 servers, uniform";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofSherman(records, seed);
    Results fg = lab.run(ShermanOptions.fg(), ALL);
    Results sherman = lab.run(ShermanOptions.sherman(), ALL);
    return List.of(
        new FigureLine("write-intensive, FG+", "Mops", 18.7, fg.megaOps(WRITE_INTENSIVE)),
        new FigureLine(
            "write-intensive, Sherman over FG+", "x", 1.15, sherman.over(fg, WRITE_INTENSIVE)),
        new FigureLine("write-only, Sherman over FG+", "x", 1.24, sherman.over(fg, WRITE_ONLY)),
        new FigureLine("read-intensive, FG+", "Mops", 31.8, fg.megaOps(READ_INTENSIVE)),
        new FigureLine("528 clients, Sherman", "Mops", 44, sherman.megaOps(CROWDED)),
        new FigureLine("528 clients, Sherman over FG+", "x", 1.14, sherman.over(fg, CROWDED)));
  }
}
