package pando.bench.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.bench.figure.Plot;
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

  private static final int SWATCH = 12;

  /** Nothing is fetched, and nothing runs. */
  private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'";

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
    html.element("style", "\n" + rules() + Drawing.RULES + Palette.rules(Theme.LIGHT)).line();
    String dark = "@media(prefers-color-scheme:dark){\n" + Palette.rules(Theme.DARK) + "}\n";
    html.element("style", "\n" + dark).line();
    html.close().line();
  }

  private static String rules() {
    try (InputStream rules = FigurePage.class.getResourceAsStream("page.css")) {
      return new String(Objects.requireNonNull(rules).readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    List<String> zeros = new ArrayList<>();
    for (Plot plot : figure.plots(result.lines())) {
      if (isZero(plot)) {
        zeros.add(caption(plot));
      } else {
        writePlot(plot, subject);
      }
    }
    html.close().line();
    if (!zeros.isEmpty()) {
      String all = String.join(", ", zeros);
      html.element("p", "Zero throughout: " + all + ".", "class", "about").line();
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
    String address = Csv.address(result.lines());
    String file = result.figure().name() + ".csv";
    html.text(commit + ", ").element("a", "all numbers as CSV", "href", address, "download", file);
    html.close().line();
  }

  private void writePlot(Plot plot, String subject) {
    Drawing drawing = Drawing.of(plot, subject, WIDTH);
    html.open("figure").element("figcaption", caption(plot)).line();
    String box = "0 0 " + WIDTH + " " + drawing.height();
    String label = plot.title() + "; the numbers are in the table below";
    html.open("svg", "viewBox", box, "role", "img", "aria-label", label);
    drawing.write(html.line());
    html.close().line();
    html.open("details").element("summary", "Table").open("div", "class", "scroll");
    html.open("table").line();
    new PlotTable(html).write(plot);
    html.close().close().close().close().line();
  }

  private static String caption(Plot plot) {
    return plot.title().replaceFirst("(^|: )x$", "$1times (x)");
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
