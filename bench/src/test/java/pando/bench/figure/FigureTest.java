package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Figures that are quick with as few records as there can be. */
@Timeout(1_800)
final class FigureTest {
  private static final long RECORDS = 100_000;

  /**
   * A cache may just have been emptied, or hold all; no operation issues all kinds of verbs; and a
   * move of ranges may slow nothing down.
   */
  private static final String MAY_BE_ZERO =
      "cached.*|READs|WRITEs|atomics|CALLs|.* trips|.* bytes|ms below .*";

  @Test
  void shouldHaveNamesOfTheirOwn() {
    assertThat(Figure.all().stream().map(Figure::name)).doesNotHaveDuplicates();
  }

  @Test
  void shouldKnowThePartsOfAFigureByTheirOwnNames() {
    assertThat(figure("orca").parts().stream().map(Figure::name))
        .containsExactlyElementsOf(
            Figure.all().stream()
                .map(Figure::name)
                .filter(name -> name.startsWith("orca-"))
                .toList());
  }

  /** Some that are quick; with the system property {@code pando.campaign}, all. */
  static Stream<String> figures() {
    return Boolean.getBoolean("pando.campaign")
        ? Figure.all().stream().filter(figure -> figure.parts().size() == 1).map(Figure::name)
        : Stream.of("rolex-data", "rolex-retraining", "rolex-empty");
  }

  @Tag("campaign")
  @ParameterizedTest
  @MethodSource("figures")
  void shouldGiveANumberForEachLine(String name) {
    List<FigureLine> lines = figure(name).run(RECORDS, 1);
    assertThat(lines).isNotEmpty();
    for (FigureLine line : lines) {
      assertThat(line.ours()).as(line.toString()).isFinite().isNotNegative();
      assertThat(line.ours() > 0 || line.measure().matches(MAY_BE_ZERO))
          .as(line.toString())
          .isTrue();
    }
    assertThat(lines.stream().map(line -> line.what() + ": " + line.measure()))
        .doesNotHaveDuplicates();
    List<FigureLine> drawn =
        figure(name).plots(lines).stream()
            .flatMap(plot -> plot.marks().stream())
            .map(Plot.Mark::line)
            .toList();
    assertThat(drawn).doesNotHaveDuplicates().isSubsetOf(lines);
    assertThat(drawn)
        .containsAll(lines.stream().filter(line -> !line.measure().startsWith("best ")).toList());
  }

  private static Figure figure(String name) {
    return Figure.named(name).orElseThrow();
  }

  @Test
  void shouldGiveTheReasonsThatTheDocumentsGive() throws IOException {
    String document = Files.readString(Path.of("../docs/systems.md")).replaceAll("\\s+", " ");
    assertThat(Figure.all().stream().flatMap(figure -> figure.reasons().stream()))
        .isNotEmpty()
        .allSatisfy(reason -> assertThat(document).contains(reason.text()));
  }

  @Test
  void shouldSayWhyNumbersDifferOnlyWhereTheyDifferMuch() {
    FigureLine below = new FigureLine("write-intensive, + combine", "Mops", 1.15, 0.6);
    FigureLine near = new FigureLine("write-intensive, + combine", "Mops", 1.15, 0.8);
    FigureLine above = new FigureLine("write-intensive, + combine", "Mops", 1.15, 2);
    FigureResult result = result("sherman-10", below);
    assertThat(result.reason(below)).hasValueSatisfying(text -> assertThat(text).contains("open"));
    assertThat(result.reason(near)).isEmpty();
    assertThat(result.reason(above)).isEmpty();
    assertThat(below.isFar()).isTrue();
    assertThat(near.isFar()).isFalse();
    assertThat(new FigureLine("a", "b", FigureLine.NOT_GIVEN, 1).isFar()).isFalse();
    assertThat(new FigureLine("a", "b", 0, 1).isFar()).isFalse();
  }

  private static FigureResult result(String figure, FigureLine... lines) {
    return new FigureResult(figure(figure), 1_000_000, 1, null, List.of(lines));
  }

  @Test
  void shouldDrawRowsOfOrcaAsCurvesAndAsBars() {
    List<FigureLine> row =
        List.of(
            ours("read-only, 64 %, beside DEFT", "ORCA Mops"),
            ours("read-only, 64 %, beside DEFT", "DEX Mops"),
            ours("read-only, 64 %, beside DEFT", "best Mops"),
            ours("read-only, 64 %, beside DEFT", "x"),
            ours("read-only, 64 %, beside DEFT", "best bytes"));
    assertThat(figure("orca-caches").plots(row))
        .containsExactly(
            new Plot.Curves(
                "read-only: Mops",
                "cache of each compute server",
                List.of(
                    new Plot.Mark("64 %", "ORCA", row.get(0)),
                    new Plot.Mark("64 %", "DEX", row.get(1)),
                    new Plot.Mark("64 %", "DEFT", row.get(2)))),
            new Plot.Curves(
                "read-only: x",
                "cache of each compute server",
                List.of(new Plot.Mark("64 %", "ORCA over DEFT", row.get(3)))),
            new Plot.Curves(
                "read-only: bytes",
                "cache of each compute server",
                List.of(new Plot.Mark("64 %", "DEFT", row.get(4)))));
    assertThat(figure("orca-workloads").plots(row).getFirst())
        .isEqualTo(
            new Plot.Bars(
                "Mops",
                List.of(
                    new Plot.Mark("read-only, 64 %", "ORCA", row.get(0)),
                    new Plot.Mark("read-only, 64 %", "DEX", row.get(1)),
                    new Plot.Mark("read-only, 64 %", "DEFT (best)", row.get(2)))));
  }

  @Test
  void shouldDrawOneBarOfDexWhereItIsTheBest() {
    List<FigureLine> row =
        List.of(
            ours("read-only, zipfian, beside DEX", "ORCA Mops"),
            ours("read-only, zipfian, beside DEX", "DEX Mops"),
            ours("read-only, zipfian, beside DEX", "best Mops"),
            ours("read-only, zipfian, beside DEX", "best trips"));
    assertThat(figure("orca-workloads").plots(row).stream().flatMap(plot -> plot.marks().stream()))
        .extracting(Plot.Mark::label)
        .containsExactly("ORCA", "DEX", "DEX (best)");
  }

  @Test
  void shouldNameTheCachesThatAreLeftOut() {
    List<FigureLine> rows =
        Stream.of("1 %", "2 %", "4 %", "8 %", "16 %", "32 %", "64 %")
            .map(cache -> ours("read-only, " + cache + ", beside DEX", "x"))
            .toList();
    assertThat(figure("orca-caches").remark(rows)).contains("ORCA does not lead in 0 of 7 rows.");
    assertThat(figure("orca-caches").remark(rows.subList(2, 7)))
        .contains(
            "ORCA does not lead in 0 of 5 rows. Left out, as caches do not hold ORCA's directory:"
                + " 1 %, 2 %.");
  }

  @Test
  void shouldDrawNumbersOfThreadsAsCurves() {
    List<FigureLine> lines =
        List.of(
            ours("read-only, uniform, DEX", "threads=2"),
            ours("read-only, uniform, DEX", "threads=144"),
            ours("read-only, uniform, Sherman", "threads=2"));
    assertThat(figure("dex-threads").plots(lines))
        .containsExactly(
            new Plot.Curves(
                "read-only, uniform: Mops",
                "threads",
                List.of(
                    new Plot.Mark("2", "DEX", lines.get(0)),
                    new Plot.Mark("144", "DEX", lines.get(1)),
                    new Plot.Mark("2", "Sherman", lines.get(2)))));
  }

  private static FigureLine ours(String what, String measure) {
    return new FigureLine(what, measure, FigureLine.NOT_GIVEN, 1);
  }

  @Test
  void shouldCountInnerNodesFromTheLeavesUp() {
    assertThat(RolexFigures.innerBytes(42, 0.7)).isZero();
    assertThat(RolexFigures.innerBytes(43, 0.7)).isEqualTo(1_024);
    assertThat(RolexFigures.innerBytes(42 * 42, 0.7)).isEqualTo(1_024);
    assertThat(RolexFigures.innerBytes(42 * 42 + 1, 0.7)).isEqualTo(3 * 1_024);
  }
}
