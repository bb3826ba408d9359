package pando.bench.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import pando.bench.figure.FigureLine;

/** A figure's numbers with all their digits, separated by commas. */
final class Csv {
  private Csv() {}

  /** Returns an address that holds the table itself. */
  static String address(List<FigureLine> lines) {
    String table =
        lines.stream()
            .map(Csv::row)
            .collect(Collectors.joining("\n", "what,measure,paper,ours,ours/paper\n", "\n"));
    return "data:text/csv;charset=utf-8;base64,"
        + Base64.getEncoder().encodeToString(table.getBytes(UTF_8));
  }

  private static String row(FigureLine line) {
    return Stream.of(
            quoted(line.what()),
            quoted(line.measure()),
            number(line.paper()),
            number(line.ours()),
            number(line.ratio()))
        .collect(Collectors.joining(","));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\"", "\"\"") + '"';
  }

  private static String number(double number) {
    return Double.isNaN(number) ? "" : Double.toString(number);
  }
}
