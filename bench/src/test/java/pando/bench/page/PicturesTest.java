package pando.bench.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.bench.report.FigureJson;

/** The pictures of README and docs/systems.md, from the results in docs/results. */
final class PicturesTest {
  private static final Path RESULTS = Path.of("../docs/results");
  private static final Path PICTURES = Path.of("../docs/pictures");

  private static List<FigureResult> results() throws IOException {
    List<FigureResult> results = new ArrayList<>();
    for (String name : List.of("systems", "orca-caches")) {
      results.addAll(FigureJson.read(RESULTS.resolve(name + ".json")));
    }
    return results;
  }

  @Test
  void shouldBeWhatTheDocumentsShow() throws IOException {
    String readme = Files.readString(Path.of("../README.md"));
    String systems = Files.readString(Path.of("../docs/systems.md"));
    Map<String, String> pictures = Pictures.of(results());
    assertThat(pictures)
        .containsOnlyKeys(
            "systems-light.svg", "caches-light.svg", "systems-dark.svg", "caches-dark.svg");
    for (Map.Entry<String, String> picture : pictures.entrySet()) {
      assertThat(PICTURES.resolve(picture.getKey()))
          .as("CONTRIBUTING.md says how pictures are made")
          .hasContent(picture.getValue());
      assertThat(picture.getKey().startsWith("caches") ? readme : systems)
          .contains("pictures/" + picture.getKey());
    }
  }

  @Test
  void shouldHaveTheNumbersOfTheResults() throws Exception {
    Document picture = FigurePageTest.parsed(svg("systems-light.svg"));
    FigureResult systems = results().getFirst();
    double lookups =
        systems.lines().stream()
            .filter(line -> line.what().equals("read-only, DEX") && line.measure().equals("Mops"))
            .mapToDouble(FigureLine::ours)
            .findFirst()
            .orElseThrow();
    assertThat(FigurePageTest.elements(picture, "text"))
        .extracting(Element::getTextContent)
        .contains("read-only", "write-intensive", "XStore-D", "%.1f".formatted(lookups))
        .doesNotContain("insert-only");
  }

  @Test
  void shouldDifferInColoursAlone() throws IOException {
    for (String name : List.of("systems", "caches")) {
      String light = svg(name + "-light.svg");
      String dark = svg(name + "-dark.svg");
      assertThat(light.replaceAll("#[0-9a-f]{6}", ""))
          .isEqualTo(dark.replaceAll("#[0-9a-f]{6}", ""));
      assertThat(light).isNotEqualTo(dark);
      assertThat(light.replace("http://www.w3.org/2000/svg", ""))
          .doesNotContain("http", "href", "url(", "<script");
    }
  }

  private static String svg(String name) throws IOException {
    return Objects.requireNonNull(Pictures.of(results()).get(name));
  }

  @Test
  void shouldRefuseResultsWithoutWhatIsShown() throws IOException {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pictures.of(List.of()))
        .withMessage("no results of systems: run ./pando compare --figure systems");
    FigureLine line = new FigureLine("read-only, DEX", "Mops", FigureLine.NOT_GIVEN, 1);
    FigureResult little =
        new FigureResult(Figure.named("systems").orElseThrow(), 1, 1, null, List.of(line));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Pictures.of(List.of(little, results().getLast())))
        .withMessage("results of systems have no bytes");
  }
}
