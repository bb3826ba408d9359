package pando.bench.page;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import pando.bench.figure.FigureResult;
import pando.bench.figure.Plot;
import pando.bench.figure.Plot.Mark;
import pando.bench.page.Palette.Theme;
import pando.cli.text.Numbers;

/** The pictures of the documents in SVG, each for light and for dark background. */
public final class Pictures {
  private static final String SVG = "http://www.w3.org/2000/svg";
  private static final int WIDTH = 860;
  private static final int MARGIN = 12;
  private static final int GAP = 28;
  private static final int HEADING = 22;

  private static final String LOOKUPS = "read-only";
  private static final String UPDATES = "write-intensive";

  private Pictures() {}

  /**
   * Returns the pictures by their file names: {@code systems-light.svg}, what the systems make of
   * the same operations, {@code caches-light.svg}, ORCA and the best of the others with caches of
   * many sizes, and the same for dark background.
   *
   * @throws IllegalArgumentException if results of {@code systems} or {@code orca-caches} are
   *     missing
   */
  public static Map<String, String> of(List<FigureResult> results) {
    Map<String, String> pictures = new LinkedHashMap<>();
    for (Theme theme : Theme.values()) {
      String end = "-" + theme.name().toLowerCase(Locale.ROOT) + ".svg";
      pictures.put("systems" + end, systems(result(results, "systems"), theme));
      pictures.put("caches" + end, caches(result(results, "orca-caches"), theme));
    }
    return pictures;
  }

  private static FigureResult result(List<FigureResult> results, String figure) {
    return results.stream()
        .filter(result -> result.figure().name().equals(figure))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no results of " + figure + ": run ./pando compare --figure " + figure));
  }

  private static String systems(FigureResult result, Theme theme) {
    long systems =
        marks(result, "Mops").stream().filter(mark -> mark.group().equals(LOOKUPS)).count();
    return picture(
        "%d systems, %s records, 108 clients, caches of 8 %%, in virtual time"
            .formatted(systems, Numbers.quantity(result.records())),
        List.of(
            bars(result, "Mops", "million operations a second (more is better)"),
            bars(result, "bytes", "bytes an operation over the network (less is better)")),
        theme);
  }

  /** Returns bars of lookups and updates, in each group the fastest system on top. */
  private static Plot bars(FigureResult result, String measure, String title) {
    Map<String, Double> speeds =
        marks(result, "Mops").stream()
            .collect(Collectors.toMap(mark -> mark.line().what(), mark -> mark.line().ours()));
    List<Mark> marks =
        marks(result, measure).stream()
            .filter(mark -> mark.group().equals(LOOKUPS) || mark.group().equals(UPDATES))
            .sorted(
                Comparator.comparing(Mark::group)
                    .thenComparingDouble(mark -> -speeds.getOrDefault(mark.line().what(), 0.0)))
            .toList();
    return new Plot.Bars(title, marks);
  }

  private static List<Mark> marks(FigureResult result, String title) {
    return plot(result, title).marks();
  }

  private static String caches(FigureResult result, Theme theme) {
    return picture(
        ("ORCA and the best of the other systems by the size of the cache: lookups, %s records, 144"
                + " clients, in virtual time")
            .formatted(Numbers.quantity(result.records())),
        List.of(
            curves(result, "Mops", "million lookups a second"),
            curves(result, "trips", "round trips a lookup"),
            curves(result, "bytes", "bytes a lookup")),
        theme);
  }

  private static Plot curves(FigureResult result, String unit, String title) {
    List<Mark> marks = marks(result, LOOKUPS + ": " + unit);
    return new Plot.Curves(title, "cache of each compute server", marks);
  }

  private static Plot plot(FigureResult result, String title) {
    return result.figure().plots(result.lines()).stream()
        .filter(plot -> plot.title().equals(title))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "results of " + result.figure().name() + " have no " + title));
  }

  /** Returns diagrams beside each other, each below its title. */
  private static String picture(String title, List<Plot> plots, Theme theme) {
    int width = (WIDTH - 2 * MARGIN - (plots.size() - 1) * GAP) / plots.size();
    List<Drawing> drawings =
        plots.stream().map(plot -> Drawing.of(plot, Palette.OTHER, width)).toList();
    int tallest = drawings.stream().mapToInt(Drawing::height).max().orElseThrow();
    int height = tallest + 2 * HEADING + 2 * MARGIN;
    Markup svg = new Markup("");
    String box = "0 0 " + WIDTH + " " + height;
    svg.open("svg", "xmlns", SVG, "width", WIDTH, "height", height, "viewBox", box, "role", "img");
    svg.element("title", title).line();
    svg.element("style", "\n" + Palette.rules(theme) + Drawing.RULES).line();
    svg.empty("rect", "width", WIDTH, "height", height, "fill", "var(--background)").line();
    svg.element("text", title, "class", "strong", "x", MARGIN, "y", MARGIN + Drawing.LETTER).line();
    for (int i = 0; i < plots.size(); i++) {
      int left = MARGIN + i * (width + GAP);
      svg.open("g", "transform", "translate(%d %d)".formatted(left, MARGIN + HEADING));
      svg.element("text", plots.get(i).title(), "class", "lesser", "y", Drawing.LETTER);
      svg.open("g", "transform", "translate(0 %d)".formatted(HEADING)).line();
      drawings.get(i).write(svg);
      svg.close().close().line();
    }
    return svg.close().line().toString();
  }
}
