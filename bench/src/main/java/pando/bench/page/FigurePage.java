package pando.bench.page;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.bench.figure.Plot;
import pando.bench.figure.Plot.Mark;
import pando.bench.page.Palette.Theme;
import pando.cli.text.Numbers;
import pando.index.IndexSystem;
import pando.index.Systems;

/**
 * Results of figures as one page in HTML, which needs no other file and no script. The same results
 * give the same bytes, in whatever order they come.
 */
public final class FigurePage {
  /** Width of a diagram, which a telephone shows in its own size. */
  private static final int WIDTH = 320;

  /** Significant digits of numbers in tables. */
  private static final int DIGITS = 5;

  private static final int SWATCH = 12;

  /** Nothing is fetched, and nothing runs. */
  private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'";

  private static final String RULES =
      """
      *{box-sizing:border-box}
      html{color-scheme:light dark}
      body{margin:0;background:var(--background);color:var(--text);line-height:1.5;
        font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;overflow-wrap:break-word}
      main{max-width:1280px;margin:0 auto;padding:16px}
      h1{font-size:26px;line-height:1.2}
      h2{font-size:19px;line-height:1.3;margin:0 0 4px}
      h3{font-size:15px;margin:16px 0 4px}
      a{color:var(--link)}
      section{border-top:1px solid var(--rule);padding-top:20px;margin-top:32px}
      .about{color:var(--lesser);font-size:14px;margin:0 0 12px}
      .plots{display:grid;gap:24px 32px;align-items:start;
        grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr))}
      figure{margin:0;min-width:0}
      figcaption{font-weight:600;font-size:14px;margin-bottom:4px}
      figure svg{display:block;width:100%;max-width:420px;height:auto}
      ul.key{list-style:none;display:flex;flex-wrap:wrap;gap:4px 18px;padding:0}
      ul.key li{display:flex;align-items:center;gap:6px}
      ul{padding-left:20px}
      .scroll{overflow-x:auto}
      code{font-size:13px}
      pre{white-space:pre-wrap;background:color-mix(in srgb,var(--text) 7%,transparent);border-radius:6px;padding:10px 12px;
        font-size:13px}
      details{font-size:13px;margin-top:4px}
      summary{cursor:pointer;color:var(--lesser)}
      table{border-collapse:collapse;font-variant-numeric:tabular-nums}
      th,td{padding:2px 10px 2px 0;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top}
      th:first-child,td:first-child{text-align:left}
      """;

  private static final String SUBJECT =
      "This page compares ORCA, Pando's own index, with published indexes, and these with the"
          + " numbers of their papers; all of them ran in a simulated network.";

  private static final String READING =
      "Solid bars are Pando's numbers and hollow ones the paper's; behind ours stands the ratio of"
          + " the two, heavy where they differ by more than a third.";

  private static final String UNITS =
      "Mops are million operations a second, x is one throughput over another; verbs, trips (round"
          + " trips) and bytes are those of one operation.";

  private static final List<IndexSystem> FIRST_ORCA =
      Systems.all().stream()
          .sorted(Comparator.comparing(system -> !system.name().equals("orca")))
          .toList();

  private final List<FigureResult> results;
  private final Markup html = new Markup("<!DOCTYPE html>\n");

  private FigurePage(List<FigureResult> results) {
    this.results = results.stream().sorted(Comparator.comparingInt(FigurePage::place)).toList();
  }

  private static int place(FigureResult result) {
    return Figure.all().stream().map(Figure::name).toList().indexOf(result.figure().name());
  }

  /**
   * Returns the page.
   *
   * @param results no two of the same figure
   */
  public static String of(List<FigureResult> results) {
    FigurePage page = new FigurePage(results);
    page.write();
    return page.html.toString();
  }

  private void write() {
    html.open("html", "lang", "en").line();
    writeHead();
    html.open("body").open("main").line();
    html.element("h1", "Pando beside the papers").line();
    html.element("p", SUBJECT).line();
    html.element("p", READING).line();
    html.element("p", outcome()).line();
    html.element("p", UNITS, "class", "about").line();
    writeKey();
    writeContents();
    results.forEach(this::writeSection);
    writeMissing();
    html.close().close().close().line();
  }

  /** What came out, in a sentence. */
  private String outcome() {
    double[] ratios = results.stream().flatMapToDouble(FigureResult::orcaRatios).sorted().toArray();
    List<FigureLine> given =
        results.stream()
            .flatMap(result -> result.lines().stream())
            .filter(line -> !Double.isNaN(line.ratio()))
            .toList();
    List<String> parts = new ArrayList<>();
    if (ratios.length > 0) {
      parts.add(
          "ORCA is the fastest in %d of %d comparisons, with %s times the throughput of the best other"
                  .formatted(
                      DoubleStream.of(ratios).filter(ratio -> ratio >= 1).count(),
                      ratios.length,
                      Numbers.decimal(median(ratios), 2))
              + " system in the median");
    }
    if (!given.isEmpty()) {
      long near = given.stream().filter(line -> !line.isFar()).count();
      parts.add(
          "%d of %d numbers of the papers came out within a third".formatted(near, given.size()));
    }
    return parts.isEmpty()
        ? "The results here have no number to compare."
        : String.join("; ", parts) + ".";
  }

  private static double median(double[] sorted) {
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  private void writeHead() {
    html.open("head").line();
    html.empty("meta", "charset", "utf-8").line();
    html.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1").line();
    html.empty("meta", "http-equiv", "Content-Security-Policy", "content", POLICY).line();
    html.element("title", "Pando beside the papers").line();
    html.element("style", "\n" + RULES + Drawing.RULES + Palette.rules(Theme.LIGHT)).line();
    String dark = "@media(prefers-color-scheme:dark){\n" + Palette.rules(Theme.DARK) + "}\n";
    html.element("style", "\n" + dark).line();
    html.close().line();
  }

  /** The colours of the systems. */
  private void writeKey() {
    html.open("ul", "class", "key").line();
    for (IndexSystem system : FIRST_ORCA) {
      html.open("li");
      html.open("svg", "width", SWATCH, "height", SWATCH, "aria-hidden", "true");
      html.empty("rect", "class", "ours " + system.name(), "width", SWATCH, "height", SWATCH);
      html.close().text(system.title()).close().line();
    }
    html.close().line();
  }

  private void writeContents() {
    html.open("nav", "aria-label", "Figures").open("ul").line();
    for (FigureResult result : results) {
      html.open("li");
      html.element("a", result.figure().title(), "href", "#" + result.figure().name());
      html.close().line();
    }
    html.close().close().line();
  }

  private void writeSection(FigureResult result) {
    Figure figure = result.figure();
    html.open("section", "id", figure.name()).line();
    html.element("h2", figure.title()).line();
    writeOrigin(result);
    String subject = Palette.system(figure.title()).orElse(Palette.OTHER);
    html.open("div", "class", "plots").line();
    List<Plot> plots = figure.plots(result.lines());
    plots.stream().filter(plot -> !isZero(plot)).forEach(plot -> writePlot(plot, subject));
    html.close().line();
    String zeros =
        plots.stream()
            .filter(FigurePage::isZero)
            .map(FigurePage::caption)
            .collect(Collectors.joining(", "));
    if (!zeros.isEmpty()) {
      html.element("p", "Zero throughout: " + zeros + ".", "class", "about").line();
    }
    figure.remark(result.lines()).ifPresent(remark -> html.element("p", remark).line());
    writeReasons(result);
    html.open("pre").element("code", result.command()).close().line();
    html.close().line();
  }

  private static boolean isZero(Plot plot) {
    return plot.marks().stream()
        .allMatch(mark -> mark.line().ours() == 0 && !mark.line().isGiven());
  }

  private void writeOrigin(FigureResult result) {
    String commit = result.commit() == null ? "commit unknown" : "commit " + result.commit();
    html.open("p", "class", "about");
    html.text(Numbers.count(result.records()) + " records, seed " + result.seed() + ", ");
    html.text(commit + ", ");
    html.element(
        "a",
        "all numbers as CSV",
        "href",
        Csv.address(result.lines()),
        "download",
        result.figure().name() + ".csv");
    html.close().line();
  }

  private void writePlot(Plot plot, String subject) {
    Drawing drawing = Drawing.of(plot, subject, WIDTH);
    html.open("figure").element("figcaption", caption(plot)).line();
    html.open(
        "svg",
        "viewBox",
        "0 0 " + WIDTH + " " + drawing.height(),
        "role",
        "img",
        "aria-label",
        plot.title() + "; the numbers are in the table below");
    drawing.write(html.line());
    html.close().line();
    html.open("details").element("summary", "Table").open("div", "class", "scroll");
    html.open("table").line();
    switch (plot) {
      case Plot.Bars bars -> writeTable(bars);
      case Plot.Curves curves -> writeTable(curves);
    }
    html.close().close().close().close().line();
  }

  private static String caption(Plot plot) {
    return plot.title().replaceFirst("(^|: )x$", "$1times (x)");
  }

  /** A row for each number. */
  private void writeTable(Plot.Bars plot) {
    boolean isGiven = plot.marks().stream().anyMatch(mark -> mark.line().isGiven());
    writeRow("th", isGiven ? List.of("", "paper", "ours", "ours / paper") : List.of("", "ours"));
    for (Mark mark : plot.marks()) {
      FigureLine line = mark.line();
      List<String> cells = new ArrayList<>(List.of(line.what()));
      if (isGiven) {
        cells.add(number(line.paper()));
      }
      cells.add(number(line.ours()));
      if (isGiven) {
        cells.add(number(line.ratio()));
      }
      writeRow("td", cells);
    }
  }

  /** A row for each place on the axis, a column for each curve. */
  private void writeTable(Plot.Curves plot) {
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

  /** Why numbers differ, where they differ much. */
  private void writeReasons(FigureResult result) {
    Map<String, List<FigureLine>> far =
        Plot.grouped(
            result.lines().stream().filter(FigureLine::isFar).toList(),
            line -> result.reason(line).orElse(unknown(result)));
    if (far.isEmpty()) {
      return;
    }
    html.element("h3", "Where they differ by more than a third").open("ul").line();
    far.forEach((reason, lines) -> {
      String names =
          lines.stream()
              .map(line ->
                  "%s: %s, %s times the paper's"
                      .formatted(line.what(), line.measure(), Numbers.decimal(line.ratio(), 2)))
              .collect(Collectors.joining("; "));
      html.open("li").text(reason + ". ").element("span", names, "class", "about").close().line();
    });
    html.close().line();
  }

  private static String unknown(FigureResult result) {
    return result.isSmall()
        ? "The run is too small to compare: %s records, where the figure has %s and the paper more"
            .formatted(Numbers.count(result.records()), Numbers.count(result.figure().records()))
        : "Why is not known";
  }

  /** The figures without results, in one line, and the command that gives them. */
  private void writeMissing() {
    List<String> names = results.stream().map(result -> result.figure().name()).toList();
    String missing =
        Figure.all().stream()
            .filter(figure -> figure.parts().size() == 1)
            .map(Figure::name)
            .filter(name -> !names.contains(name))
            .collect(Collectors.joining(", "));
    if (missing.isEmpty()) {
      return;
    }
    html.open("p", "class", "about").text("Not in these results: " + missing + ". Run each by ");
    html.element("code", "./pando compare --figure NAME --json NAME.json").text(".").close().line();
  }
}
