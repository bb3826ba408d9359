package pando.bench.page;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import pando.bench.figure.FigureLine;
import pando.bench.figure.Plot;
import pando.bench.figure.Plot.Mark;
import pando.cli.text.Numbers;

/** The numbers of a diagram as rows of a table in HTML. */
record PlotTable(Markup html) {
  private static final int DIGITS = 5;

  void write(Plot plot) {
    switch (plot) {
      case Plot.Bars bars -> write(bars);
      case Plot.Curves curves -> write(curves);
    }
  }

  /** A row for each number. */
  private void write(Plot.Bars plot) {
    boolean isGiven = plot.marks().stream().anyMatch(mark -> mark.line().isGiven());
    writeRow("th", isGiven ? List.of("", "paper", "ours", "ours / paper") : List.of("", "ours"));
    for (Mark mark : plot.marks()) {
      FigureLine line = mark.line();
      String ours = number(line.ours());
      writeRow(
          "td",
          isGiven
              ? List.of(line.what(), number(line.paper()), ours, number(line.ratio()))
              : List.of(line.what(), ours));
    }
  }

  /** A row for each place on the axis, a column for each curve. */
  private void write(Plot.Curves plot) {
    List<String> curves = plot.marks().stream().map(Mark::label).distinct().toList();
    List<String> headers = new ArrayList<>(List.of(plot.across()));
    headers.addAll(curves);
    writeRow("th", headers);
    Plot.grouped(plot.marks(), Mark::group)
        .forEach((place, marks) -> {
          List<String> cells = new ArrayList<>(List.of(place));
          curves.forEach(curve -> cells.add(ours(marks, curve)));
          writeRow("td", cells);
        });
  }

  private static String ours(List<Mark> marks, String curve) {
    return marks.stream()
        .filter(mark -> mark.label().equals(curve))
        .map(mark -> number(mark.line().ours()))
        .collect(Collectors.joining(", "));
  }

  private void writeRow(String kind, List<String> cells) {
    html.open("tr");
    cells.forEach(cell -> html.element(kind, cell));
    html.close().line();
  }

  private static String number(double number) {
    return Double.isNaN(number) ? "" : Numbers.significant(number, DIGITS);
  }
}
