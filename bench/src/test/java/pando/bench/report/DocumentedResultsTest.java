package pando.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.cli.text.Numbers;

/** The tables of docs/results.md have the numbers of docs/results. */
final class DocumentedResultsTest {
  private static final Path DOCS = Path.of("../docs");

  /** Decimals of each measure of the table of all systems. */
  private static final Map<String, Integer> SYSTEMS = new LinkedHashMap<>();

  static {
    List.of("READs", "WRITEs", "atomics", "CALLs", "trips")
        .forEach(measure -> SYSTEMS.put(measure, 2));
    SYSTEMS.put("bytes", 0);
    SYSTEMS.put("cached B/record", 2);
    SYSTEMS.put("pool B/record", 1);
    SYSTEMS.put("Mops", 1);
  }

  /** Returns the numbers of each row by their measures. */
  private static Map<String, Map<String, Double>> rows(String figure) throws IOException {
    Map<String, Map<String, Double>> rows = new LinkedHashMap<>();
    for (FigureResult result : FigureJson.read(DOCS.resolve("results/" + figure + ".json"))) {
      for (FigureLine line : result.lines()) {
        rows.computeIfAbsent(line.what(), _ -> new LinkedHashMap<>())
            .put(line.measure(), line.ours());
      }
    }
    return rows;
  }

  private static String number(Map<String, Double> row, String measure, int decimals) {
    return Numbers.decimal(Objects.requireNonNull(row.get(measure)), decimals);
  }

  @Test
  void shouldHaveTheNumbersOfAllSystems() throws IOException {
    String document = Files.readString(DOCS.resolve("results.md"));
    rows("systems")
        .forEach((what, row) -> {
          String cells =
              SYSTEMS.entrySet().stream()
                  .map(measure -> number(row, measure.getKey(), measure.getValue()))
                  .collect(Collectors.joining(" | "));
          assertThat(document).contains("| " + what + " | " + cells + " |\n");
        });
  }

  @Test
  void shouldHaveTheNumbersOfCachesOfManySizes() throws IOException {
    String document = Files.readString(DOCS.resolve("results.md"));
    rows("orca-caches")
        .forEach((what, row) -> {
          String[] names = what.split(", beside ", 2);
          String ratio = number(row, "x", 2);
          assertThat(document)
              .contains(
                  "| %s | %s | %s | %s %s | %s | %s, %s | %s, %s |\n"
                      .formatted(
                          names[0],
                          number(row, "ORCA Mops", 1),
                          number(row, "DEX Mops", 1),
                          names[1],
                          number(row, "best Mops", 1),
                          Objects.requireNonNull(row.get("x")) < 1 ? "**" + ratio + "**" : ratio,
                          number(row, "ORCA trips", 3),
                          number(row, "ORCA bytes", 0),
                          number(row, "best trips", 3),
                          number(row, "best bytes", 0)));
        });
  }
}
