package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The figure of long keys, with few records. */
@Timeout(120)
final class Dex16Test {
  private static final long RECORDS = 3_000;

  @Tag("campaign")
  @Test
  void shouldReadMoreWhereKeysAreLonger() {
    List<FigureLine> lines = Dex16.run(RECORDS, 1, List.of(8, 64), List.of(Dex16.LOADS.getFirst()));
    assertThat(lines).allSatisfy(line -> assertThat(line.ours()).isFinite().isNotNegative());
    for (String index : List.of("DEX", "byte strings")) {
      double shortKeys = bytes(lines, "read-only, 8 bytes, " + index);
      double longKeys = bytes(lines, "read-only, 64 bytes, " + index);
      assertThat(longKeys).as(index).isGreaterThan(shortKeys);
    }
    assertThat(Dex16.figure().plots(lines)).isNotEmpty();
  }

  private static double bytes(List<FigureLine> lines, String what) {
    return lines.stream()
        .filter(line -> line.what().equals(what) && line.measure().equals("bytes"))
        .findFirst()
        .orElseThrow()
        .ours();
  }
}
