package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.cli.CommandFixture;
import pando.cli.Main;

/**
 * Whether the commands take what files of packages tell them. {@code packaging/check} runs them.
 */
final class PackagingTest extends CommandFixture {
  private static final Path PACKAGING = Path.of("..", "packaging");

  @ParameterizedTest
  @CsvSource({
    "pando-memory@, memory-0, memory-server",
    "pando-compute@, compute-0, compute-server",
    "pando-serve, serve, serve"
  })
  void shouldTakeOptionsOfUnits(String name, String file, String kind) throws IOException {
    String unit = Files.readString(PACKAGING.resolve("systemd/" + name + ".service"));
    String own = Files.readString(PACKAGING.resolve("conf/" + file + ".env"));
    String command =
        first("ExecStart=/usr/bin/pando (.*)", unit)
            .replace("$OPTIONS", first("\nOPTIONS=(.*)", own))
            .replace("%i", "0")
            .replace("/etc/pando", PACKAGING.resolve("conf").toString());
    parse(List.of(command.split(" ")), kind);
  }

  @Test
  void shouldCompleteCommandsAndOptions() throws Exception {
    execute("generate-completion");
    Path script = directory.resolve("completion");
    Files.writeString(
        script,
        out
            + "\nCOMP_WORDS=(pando serve --re); COMP_CWORD=2; COMP_LINE='pando serve --re'\n"
            + "_complete_pando; echo \"${COMPREPLY[@]}\"\n");
    Process bash =
        new ProcessBuilder("bash", script.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(bash.inputReader().readAllLines()).containsExactly("--resp");
  }

  @Test
  void shouldTakeOptionsOfContainers() throws IOException {
    String compose = Files.readString(PACKAGING.resolve("containers/compose.yaml"));
    Path config = directory.resolve("grove.conf");
    Files.writeString(config, first("content: \\|\n((?: {6}.*\n)+)", compose).stripIndent());
    Matcher service = Pattern.compile(" {2}(\\w+)\\d:\n.*\n {4}command: \\[(.*)]").matcher(compose);
    int count = 0;
    for (; service.find(); count++) {
      List<String> command =
          Arrays.stream(service.group(2).split(", "))
              .map(word -> word.replace("\"", ""))
              // No host of this machine has the name.
              .map(word -> word.replaceAll("=\\w+:", "=127.0.0.1:"))
              .map(word -> word.replace("/etc/pando/grove.conf", config.toString()))
              .toList();
      parse(command, service.group(1) + "-server");
    }
    assertThat(count).isEqualTo(6);
  }

  @Test
  void shouldKeepWhatTheServerInAContainerHasStored() throws IOException {
    String compose = Files.readString(PACKAGING.resolve("containers/serve.yaml"));
    List<String> command = List.of(first("command: \\[(.*)]", compose).split(", ", -1));
    parse(command, "serve");
    String volume = first("volumes: \\[\"data:(.*)\"]", compose);
    assertThat(command).anyMatch(option -> option.startsWith("--data=" + volume + "/"));
    String image = Files.readString(PACKAGING.resolve("containers/Dockerfile"));
    assertThat(image).contains("--owner pando --group pando " + volume + "\n");
  }

  private static void parse(List<String> command, String name) {
    assertThat(command).first().isEqualTo(name);
    Main.commandLine().parseArgs(command.toArray(String[]::new));
  }

  private static String first(String pattern, String text) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return matcher.group(1);
  }
}
