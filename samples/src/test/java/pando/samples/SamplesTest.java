package pando.samples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The samples run, and the documents and the API show them as they are. */
class SamplesTest {
  private final PrintStream console = System.out;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @BeforeEach
  void capture() {
    System.setOut(new PrintStream(printed, true, UTF_8));
  }

  @AfterEach
  void restore() {
    System.setOut(console);
  }

  /** The folder that the sample makes where it is run. */
  @AfterEach
  void removeFolder() throws IOException {
    Path folder = Path.of("pages");
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  @Test
  void shouldEmbed() {
    Embed.main(new String[0]);
    assertThat(printed.toString(UTF_8).lines().limit(5))
        .containsExactly(
            "30 -> 900",
            "at or below 49: 40 -> 1600",
            "scan: 20 -> 400",
            "scan: 30 -> 900",
            "scan: 40 -> 1600");
  }

  @Test
  void shouldEmbedAMap() {
    EmbedMap.main(new String[0]);
    assertThat(printed.toString(UTF_8).lines())
        .containsExactly(
            "before /docs/z: /docs/map",
            "/docs: what it is, in short",
            "/docs/map: keys and values of any length");
  }

  @Test
  void shouldPrintWhatThePageOfTheMapShows() throws IOException {
    EmbedMap.main(new String[0]);
    assertThat(document("docs/map.md"))
        .contains(printed.toString(UTF_8).replaceAll("(?m)^(?=.)", "    "));
  }

  @Test
  void shouldTourAMap() {
    MapTour.main(new String[0]);
    assertThat(printed.toString(UTF_8).lines())
        .containsExactly(
            "20=read", "{30=closed, 20=read}", "{10=opened, 20=read}", "{10=opened, 20=read}");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldShareThePool() throws InterruptedException {
    SharedPool.main(new String[0]);
    assertThat(printed.toString(UTF_8)).isEqualToIgnoringNewLines("4 threads stored 40000 keys");
  }

  @Test
  void shouldBeWhatTheReadmeShows() throws IOException {
    assertThat(document("README.md")).contains("```java\n" + statements("EmbedMap") + "```\n");
  }

  @ParameterizedTest
  @CsvSource({"EmbedMap, Pando", "MapTour, PandoMap"})
  void shouldBeWhatTheApiBeginsWith(String sample, String type) throws IOException {
    String example = statements(sample).replaceAll("(?m)^", " * ");
    assertThat(document("map/src/main/java/pando/map/" + type + ".java"))
        .contains(":\n *\n * <pre>{@code\n" + example + " * }</pre>\n");
  }

  @Test
  void shouldBeWhatThePageOfTheIndexShows() throws IOException {
    String sample = sample("Embed");
    assertThat(document("docs/index.md"))
        .contains("```java\n" + sample.substring(sample.indexOf("import ")) + "```\n");
  }

  /** Returns what a sample does, without its indentation. */
  private static String statements(String name) throws IOException {
    String sample = sample(name);
    return sample
        .substring(sample.indexOf("    try ("), sample.indexOf("  }\n}\n"))
        .replaceAll("(?m)^    ", "");
  }

  private static String sample(String name) throws IOException {
    return Files.readString(Path.of("src/main/java/pando/samples/" + name + ".java"));
  }

  private static String document(String name) throws IOException {
    return Files.readString(Path.of("..", name));
  }
}
