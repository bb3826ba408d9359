package pando.bench.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import pando.bench.figure.Plot;
import pando.bench.figure.Plot.Mark;
import pando.cli.text.Numbers;

/**
 * Curves over places that are the same distance from each other; the axis of numbers begins at
 * zero. Each curve has a colour and a marker; the names stand above.
 */
final class CurveDrawing implements Drawing {
  private static final int LEGEND_LINE = 16;
  private static final int SWATCH = 22;
  private static final int HEIGHT = 170;
  private static final int BELOW = 34;
  private static final int SPACE = 6;
  private static final int GAP = 4;
  private static final int TICKS = 5;

  /** Markers around 0, 0: circle, square, triangle, diamond. */
  private static final List<String> MARKERS =
      List.of(
          "M-3.5 0A3.5 3.5 0 1 1 3.5 0A3.5 3.5 0 1 1 -3.5 0Z",
          "M-3.2 -3.2H3.2V3.2H-3.2Z",
          "M0 -4.2L4 3H-4Z",
          "M0 -4.5L4.5 0L0 4.5L-4.5 0Z");

  private final Plot.Curves plot;
  private final int width;
  private final List<String> places;
  private final Map<String, List<Mark>> curves;
  private final List<Name> names;
  private final int top;
  private final double left;
  private final double step;
  private final double greatest;

  /** The place of a curve's name. */
  private record Name(String text, double x, int line) {}

  CurveDrawing(Plot.Curves plot, int width) {
    this.plot = plot;
    this.width = width;
    this.places = plot.marks().stream().map(Mark::group).distinct().toList();
    this.curves = Plot.grouped(plot.marks(), Mark::label);
    double most = plot.marks().stream().mapToDouble(mark -> mark.line().ours()).max().orElse(0);
    this.step = step(most);
    this.greatest = step * Math.max(1, Math.ceil(most / step));
    this.names = names();
    this.top = (names.getLast().line() + 1) * LEGEND_LINE + LETTER;
    this.left = Drawing.widthOf(tick(greatest)) + SPACE;
  }

  /** Returns the distance of ticks: 1, 2 or 5 times a power of ten. */
  private static double step(double most) {
    double least = most > 0 ? most / TICKS : 1;
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    for (double factor : new double[] {1, 2, 5}) {
      if (factor * power >= least) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private String tick(double number) {
    int decimals = (int) Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    return Numbers.decimal(number, decimals);
  }

  @Override
  public int height() {
    return top + HEIGHT + BELOW;
  }

  private List<Name> names() {
    List<Name> placed = new ArrayList<>();
    double x = 0;
    int line = 0;
    for (String text : curves.keySet()) {
      double taken = SWATCH + SPACE + Drawing.widthOf(text);
      if (x > 0 && x + taken > width) {
        x = 0;
        line++;
      }
      placed.add(new Name(text, x, line));
      x += taken + 2 * SPACE;
    }
    return placed;
  }

  @Override
  public void write(Markup svg) {
    writeAxes(svg);
    // The first curve comes last, on top of the others.
    for (int number = names.size() - 1; number >= 0; number--) {
      writeCurve(svg, names.get(number), number);
    }
  }

  private void writeAxes(Markup svg) {
    for (double number = 0; number < greatest + step / 2; number += step) {
      double y = y(number);
      svg.empty("line", "class", "rule", "x1", left, "x2", width, "y1", y, "y2", y);
      text(svg, tick(number), "end", left - SPACE, y + LETTER / 2.0 - 0.5);
    }
    for (int place = 0; place < places.size(); place++) {
      text(svg, places.get(place), "middle", x(place), y(0) + 2 * LETTER);
    }
    text(svg, plot.across(), "middle", (left + width) / 2, y(0) + BELOW - GAP);
    svg.line();
  }

  private static void text(Markup svg, String text, String anchor, double x, double y) {
    svg.element("text", text, "class", "lesser", "x", x, "y", y, "text-anchor", anchor);
  }

  private void writeCurve(Markup svg, Name name, int number) {
    String colour = Palette.system(name.text()).orElse(Palette.OTHER);
    String marker = MARKERS.get(number % MARKERS.size());
    double middle = name.line() * LEGEND_LINE + LETTER;
    svg.empty("path", "class", "curve " + colour, "d", "M" + at(name.x(), middle) + "h" + SWATCH);
    writePoint(svg, colour, marker, name.x() + SWATCH / 2.0, middle);
    svg.element(
        "text", name.text(), "x", name.x() + SWATCH + SPACE, "y", middle + LETTER / 2.0 - 0.5);
    List<Mark> marks = Objects.requireNonNull(curves.get(name.text()));
    String way =
        marks.stream()
            .map(mark -> at(x(places.indexOf(mark.group())), y(mark.line().ours())))
            .collect(Collectors.joining("L", "M", ""));
    svg.empty("path", "class", "curve " + colour, "d", way);
    for (Mark mark : marks) {
      writePoint(svg, colour, marker, x(places.indexOf(mark.group())), y(mark.line().ours()));
    }
    svg.line();
  }

  private static void writePoint(Markup svg, String colour, String marker, double x, double y) {
    String place = "translate(" + at(x, y) + ")";
    svg.empty("path", "class", "point " + colour, "d", marker, "transform", place);
  }

  private static String at(double x, double y) {
    return Markup.decimal(x) + " " + Markup.decimal(y);
  }

  private double x(int place) {
    double room = (width - left) / places.size();
    return left + room * (place + 0.5);
  }

  private double y(double number) {
    return top + HEIGHT * (1 - number / greatest);
  }
}
