package pando.samples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The samples run, and the README shows one of them as it is. */
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
  @EnabledOnOs(OS.LINUX)
  void shouldShareThePool() throws InterruptedException {
    SharedPool.main(new String[0]);
    assertThat(printed.toString(UTF_8)).isEqualToIgnoringNewLines("4 threads stored 40000 keys");
  }

  @Test
  void shouldBeWhatTheReadmeShows() throws IOException {
    String sample = Files.readString(Path.of("src/main/java/pando/samples/Embed.java"));
    String readme = Files.readString(Path.of("../README.md"));
    String shown = between(readme, "```java\n", "```\n");
    assertThat(shown).isEqualTo(sample.substring(sample.indexOf("import ")));
  }

  private static String between(String text, String start, String end) {
    int from = text.indexOf(start) + start.length();
    return text.substring(from, text.indexOf(end, from));
  }
}
