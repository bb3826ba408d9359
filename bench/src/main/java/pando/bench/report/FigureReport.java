package pando.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.bench.figure.FigureLine;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;

/** A figure's numbers, the paper's next to ours, as a table. */
public final class FigureReport {
  private static final int DECIMALS = 2;
  private static final int GRID_DECIMALS = 3;

  private FigureReport() {}

  /**
   * Returns a table: the paper's numbers next to ours; or, if the paper gives none and all lines
   * have the same measures, a column for each measure.
   */
  public static String table(List<FigureLine> lines) {
    Map<String, Map<String, Double>> ours = new LinkedHashMap<>();
    for (FigureLine line : lines) {
      ours.computeIfAbsent(line.what(), _ -> new LinkedHashMap<>())
          .put(line.measure(), line.ours());
    }
    boolean isGiven = lines.stream().anyMatch(FigureLine::isGiven);
    long kinds = ours.values().stream().map(Map::keySet).distinct().count();
    return isGiven || kinds != 1 ? beside(lines) : grid(ours);
  }

  private static String grid(Map<String, Map<String, Double>> ours) {
    List<String> headers = new ArrayList<>(List.of("what"));
    headers.addAll(ours.values().iterator().next().keySet());
    TextTable table = new TextTable(1, headers);
    ours.forEach((what, measured) -> {
      List<String> cells = new ArrayList<>(List.of(what));
      measured.values().forEach(number -> cells.add(Numbers.decimal(number, GRID_DECIMALS)));
      table.add(cells);
    });
    return table.toString();
  }

  private static String beside(List<FigureLine> lines) {
    TextTable table = new TextTable(2, List.of("what", "measure", "paper", "ours", "ours / paper"));
    for (FigureLine line : lines) {
      table.add(
          List.of(
              line.what(),
              line.measure(),
              orDash(line.paper()),
              Numbers.decimal(line.ours(), DECIMALS),
              orDash(line.ratio())));
    }
    return table.toString();
  }

  private static String orDash(double number) {
    return Double.isNaN(number) ? "-" : Numbers.decimal(number, DECIMALS);
  }
}
