package pando.bench.page;

import java.util.List;
import java.util.Map;
import pando.bench.figure.FigureLine;
import pando.bench.figure.Plot;
import pando.bench.figure.Plot.Mark;
import pando.cli.text.Numbers;

/**
 * Bars in groups: ours are solid, the paper's above them hollow. The number stands behind the bar,
 * with its ratio to the paper's, heavy where they differ by more than a third.
 *
 * <pre>
 *   group
 *   label  |=========   8.00 paper
 *          |########    7.90 (0.99 x)
 * </pre>
 */
final class BarDrawing implements Drawing {
  private static final int HEADING = 20;
  private static final int LABEL = 14;
  private static final int BAR = 13;
  private static final int BAR_THICKNESS = 9;

  /** Free height below the bars of a mark. */
  private static final int GAP = 4;

  /** Labels of up to so many letters stand beside their bars, longer ones above them. */
  private static final int BESIDE_MAX = 14;

  private static final int SPACE = 6;

  private final Map<String, List<Mark>> groups;
  private final String subject;
  private final boolean areLabelsBeside;
  private final double start;
  private final double scale;

  BarDrawing(Plot.Bars plot, String subject, int width) {
    this.groups = Plot.grouped(plot.marks(), Mark::group);
    this.subject = subject;
    int longest = plot.marks().stream().mapToInt(mark -> mark.label().length()).max().orElse(0);
    this.areLabelsBeside = longest <= BESIDE_MAX;
    this.start = areLabelsBeside ? longest * LETTER_WIDTH + 2 * SPACE : 0.5;
    double texts =
        plot.marks().stream()
            .map(Mark::line)
            .mapToDouble(
                line -> Math.max(Drawing.widthOf(ours(line)), Drawing.widthOf(paper(line))))
            .max()
            .orElse(0);
    double greatest =
        plot.marks().stream()
            .map(Mark::line)
            .mapToDouble(line -> line.isGiven() ? Math.max(line.ours(), line.paper()) : line.ours())
            .max()
            .orElse(0);
    this.scale = greatest == 0 ? 0 : Math.max(0, width - start - SPACE - texts) / greatest;
  }

  private static String ours(FigureLine line) {
    String number = Numbers.significant(line.ours(), DIGITS);
    return Double.isNaN(line.ratio())
        ? number
        : number + " (" + Numbers.decimal(line.ratio(), 2) + " x)";
  }

  private static String paper(FigureLine line) {
    return line.isGiven() ? Numbers.significant(line.paper(), DIGITS) + " paper" : "";
  }

  @Override
  public int height() {
    int height = 0;
    for (Map.Entry<String, List<Mark>> group : groups.entrySet()) {
      height += heading(group.getKey());
      height += group.getValue().stream().mapToInt(this::height).sum();
    }
    return height;
  }

  private static int heading(String group) {
    return group.isEmpty() ? 0 : HEADING;
  }

  private int height(Mark mark) {
    return (areLabelsBeside ? 0 : LABEL) + bars(mark) + GAP;
  }

  private static int bars(Mark mark) {
    return mark.line().isGiven() ? 2 * BAR : BAR;
  }

  @Override
  public void write(Markup svg) {
    int y = 0;
    for (Map.Entry<String, List<Mark>> group : groups.entrySet()) {
      if (!group.getKey().isEmpty()) {
        svg.element("text", group.getKey(), "class", "strong", "x", 0, "y", y + HEADING - SPACE);
      }
      y += heading(group.getKey());
      for (Mark mark : group.getValue()) {
        write(svg, mark, y);
        y += height(mark);
      }
    }
  }

  private void write(Markup svg, Mark mark, int top) {
    FigureLine line = mark.line();
    String colour = Palette.system(mark.label()).orElse(subject);
    int y = top;
    if (areLabelsBeside) {
      double middle = y + bars(mark) / 2.0 + LETTER / 2.0;
      svg.element(
          "text", mark.label(), "x", start - SPACE, "y", middle - 0.5, "text-anchor", "end");
    } else {
      svg.element("text", mark.label(), "x", 0, "y", y + LABEL - GAP);
      y += LABEL;
    }
    if (line.isGiven()) {
      bar(svg, "paper " + colour, y, line.paper(), paper(line), "lesser");
      y += BAR;
    }
    bar(svg, "ours " + colour, y, line.ours(), ours(line), line.isFar() ? "strong" : "plain");
    svg.line();
  }

  private void bar(Markup svg, String colours, int top, double number, String text, String weight) {
    double length = number * scale;
    double y = top + (BAR - BAR_THICKNESS) / 2.0;
    svg.empty(
        "rect", "class", colours, "x", start, "y", y, "width", length, "height", BAR_THICKNESS);
    double x = start + length + SPACE;
    svg.element("text", text, "class", weight, "x", x, "y", y + BAR_THICKNESS - 1);
  }
}
