package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Figures that are quick with as few records as there can be. */
@Timeout(1_800)
final class FigureTest {
  private static final long RECORDS = 100_000;

  /**
   * A cache may just have been emptied, or hold all; and no operation issues all kinds of verbs.
   */
  private static final String MAY_BE_ZERO = "cached.*|READs|WRITEs|atomics|CALLs|.* trips|.* bytes";

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
  }

  private static Figure figure(String name) {
    return Figure.all().stream()
        .filter(figure -> figure.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldCountInnerNodesFromTheLeavesUp() {
    assertThat(RolexData.innerBytes(42, 0.7)).isZero();
    assertThat(RolexData.innerBytes(43, 0.7)).isEqualTo(1_024);
    assertThat(RolexData.innerBytes(42 * 42, 0.7)).isEqualTo(1_024);
    assertThat(RolexData.innerBytes(42 * 42 + 1, 0.7)).isEqualTo(3 * 1_024);
  }
}
