package pando.bench.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;

final class FigureJsonTest {
  private static final String GOOD =
      """
      [
      {"figure":"dex-6","records":100000,"seed":1,"commit":"0123456789ab","lines":[
      {"what":"read-only, DEX","measure":"Mops","paper":null,"ours":42.5}
      ,{"what":"read-only, DEX over Sherman","measure":"x","paper":3.6,"ours":2}]}
      ]\
      """;

  @TempDir Path directory;

  private List<FigureResult> read(String text) throws IOException {
    return FigureJson.read(Files.writeString(directory.resolve("results.json"), text));
  }

  @Test
  void shouldReadWhatItWrites() throws IOException {
    Path file = directory.resolve("written.json");
    Figure figure = Figure.named("sherman-11").orElseThrow();
    Figure other = Figure.named("systems").orElseThrow();
    List<FigureLine> lines =
        List.of(
            new FigureLine("write-only, FG+", "Mops", 18.7, Math.PI * 1e9),
            new FigureLine("write-only, + combine", "% in at most 2", FigureLine.NOT_GIVEN, 1e-6),
            new FigureLine("write-only, Sherman", "inner nodes' B/record", 0, 0));
    List<FigureResult> results =
        List.of(
            new FigureResult(figure, 20_000_000, -1, null, lines),
            new FigureResult(other, 1, Long.MAX_VALUE, "0123456789ab-dirty", lines));
    FigureJson.write(file, results);
    assertThat(FigureJson.read(file)).map(FigureJsonTest::fields).isEqualTo(fields(results));
  }

  /** Figures themselves are not compared, but their names. */
  private static List<Object> fields(FigureResult result) {
    return List.of(
        result.figure().name(),
        result.records(),
        result.seed(),
        String.valueOf(result.commit()),
        result.lines());
  }

  private static List<List<Object>> fields(List<FigureResult> results) {
    return results.stream().map(FigureJsonTest::fields).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "dex-6         | dex-7          | no such figure: name=dex-7",
        "\"dex-6\"     | \"orca\"       | results are of its parts: figure=orca",
        "\"dex-6\"     | \"orca-caches\" | not a number of a row",
        "\"dex-6\"     | 6              | figure should be VALUE_STRING, found=VALUE_NUMBER_INT",
        "\"figure\"    | \"name\"       | another field: expected=figure, found=name",
        "\"seed\":1,   |                | another field: expected=seed, found=commit",
        "100000        | \"100000\"     | records should be VALUE_NUMBER_INT",
        "100000        | 1.5            | records should be VALUE_NUMBER_INT",
        "100000        | 0              | records=0",
        "100000        | 1e5            | records should be VALUE_NUMBER_INT",
        "100000        | 99999999999999999999 | out of range",
        "0123456789ab  | <b>            | not the name of a commit: commit=<b>",
        "\"0123456789ab\" | []          | commit should be VALUE_STRING",
        "42.5          | NaN            | NaN",
        "42.5          | \"NaN\"        | ours should be VALUE_NUMBER_FLOAT, found=VALUE_STRING",
        "42.5          | -1             | not a number of a figure: ours=-1.0",
        "42.5          | 1e999          | not a number of a figure: ours=Infinity",
        "42.5          | 1e13           | not a number of a figure: ours=1.0E13",
        "42.5          | 1e-300         | not a number of a figure: ours=1.0E-300",
        "42.5          | null           | ours should be VALUE_NUMBER_FLOAT, found=VALUE_NULL",
        "42.5          | {\"a\":1}      | ours should be VALUE_NUMBER_FLOAT, found=START_OBJECT",
        "42.5}         | 42.5,\"more\":1} | the line's end should be END_OBJECT",
        "null          | \"3\"          | paper should be VALUE_NUMBER_FLOAT, found=VALUE_STRING",
        "null          | -0.5           | not a number of a figure: paper=-0.5",
        "read-only, DEX over | <script>alert(1)</script> | a name has other signs",
        "read-only, DEX over | \\u0000\\n\\u202e | a name has other signs",
        "read-only, DEX over | =1+1     | a name has other signs",
        "DEX over Sherman\",\"measure\":\"x | DEX\",\"measure\":\"Mops | a line twice",
        "]}            | ]}]}           | Unexpected close marker",
      })
  void shouldRefuseInOneLine(String from, String to, String complaint) throws IOException {
    String bad = GOOD.replace(from, to == null ? "" : to);
    assertThat(read(GOOD)).hasSize(1);
    assertThat(bad).isNotEqualTo(GOOD);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(bad))
        .withMessageContaining("results.json, line ")
        .withMessageContaining(complaint)
        .satisfies(e -> assertThat(lines(e)).hasSize(1))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(600));
  }

  private static Stream<String> lines(Throwable refusal) {
    return String.valueOf(refusal.getMessage()).lines();
  }

  @Test
  void shouldRefuseEachTruncation() {
    for (int length = 0; length < GOOD.length(); length++) {
      String start = GOOD.substring(0, length);
      assertThatIllegalArgumentException().as(start).isThrownBy(() -> read(start));
    }
  }

  /** Whatever a byte is changed to, a file is read or refused. */
  @Test
  void shouldSurviveChangedBytes() throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    Path file = directory.resolve("changed.json");
    for (int i = 0; i < 2_000; i++) {
      byte[] bytes = GOOD.getBytes(UTF_8);
      for (int change = random.nextInt(1, 4); change > 0; change--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      Files.write(file, bytes);
      try {
        assertThat(FigureJson.read(file)).hasSizeLessThan(2);
      } catch (IllegalArgumentException refused) {
        assertThat(lines(refused)).hasSize(1);
      }
    }
  }

  @Test
  void shouldRefuseWhatIsNoFileOrTooLarge() throws IOException {
    Path missing = directory.resolve("missing");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FigureJson.read(missing))
        .withMessage(missing + ": not a file that can be read");
    assertThatIllegalArgumentException().isThrownBy(() -> FigureJson.read(directory));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("[" + " ".repeat(17 << 20) + "]"))
        .withMessageContaining("larger than 16777216 bytes");
    assertThatIllegalArgumentException().isThrownBy(() -> read("[".repeat(1 << 20)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("{}"))
        .withMessageContaining("the file should be START_ARRAY, found=START_OBJECT");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(GOOD + "[]"))
        .withMessageContaining("something stands behind the results");
    assertThat(read("[]")).isEmpty();
  }
}
