package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.cli.Main;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.OptionSpec;

/** What the pages name is there: commands and their options, files and headings, code. */
final class PagesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** A command in the text, or in a line of a block, which a backslash goes on with. */
  private static final Pattern COMMAND =
      Pattern.compile(
          "`(?:\\./)?pando ([^`|]+)`"
              + "|^ {4}(?:[^#=\\n]* )?(?:\\./)?pando ([a-z][a-z-]*(?: (?:[^\\n\\\\]|\\\\\\n)*)?)$",
          Pattern.MULTILINE);

  /** What ends a command: a comment, a pipe, a redirection, a further command. */
  private static final Pattern END = Pattern.compile("\\s+(?:#|\\||&&|<|>).*", Pattern.DOTALL);

  private static final Pattern LINK =
      Pattern.compile("\\]\\(([^)\\s]+)\\)|(?:src|srcset|href)=\"([^\"]+)\"");
  private static final Pattern CODE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
  private static final Pattern BLOCK =
      Pattern.compile("^```.*?^```", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern ANCHOR =
      Pattern.compile("^#+ (.*)$|id=\"([^\"]+)\"", Pattern.MULTILINE);

  private static final CommandLine PANDO = Main.commandLine();

  static Stream<Path> pages() throws IOException {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(top, docs)
          .filter(page -> page.toString().endsWith(".md") && !page.endsWith("CHANGELOG.md"))
          .sorted()
          .toList()
          .stream();
    }
  }

  /** Or the other tests would pass whatever the pages have. */
  @Test
  void shouldFindWhatItChecks() throws IOException {
    long commands = 0;
    long links = 0;
    long code = 0;
    for (Path page : pages().toList()) {
      commands += COMMAND.matcher(Files.readString(page)).results().count();
      links += LINK.matcher(text(page)).results().count();
      code += CODE.matcher(Files.readString(page)).results().count();
    }
    assertThat(commands).isGreaterThan(100);
    assertThat(links).isGreaterThan(100);
    assertThat(code).isGreaterThan(8);
    List<String> unknown = new ArrayList<>();
    addUnknown("serve --nope 1", unknown);
    addUnknown("serves", unknown);
    addUnknown("bench --records 1Q", unknown);
    assertThat(unknown).hasSize(3);
  }

  @ParameterizedTest
  @MethodSource("pages")
  void shouldNameCommandsThatAreThere(Path page) throws IOException {
    List<String> unknown = new ArrayList<>();
    COMMAND
        .matcher(Files.readString(page))
        .results()
        .map(PagesTest::group)
        .map(command -> END.matcher(command.replace("\\\n", " ")).replaceFirst("").strip())
        .forEach(command -> addUnknown(command, unknown));
    assertThat(unknown).isEmpty();
  }

  /** Adds the words of a command line that no command has, and values that it does not take. */
  private static void addUnknown(String line, List<String> unknown) {
    CommandLine command = PANDO;
    List<String> words = List.of(line.split("[\\s\\[\\]=]+"));
    for (int i = 0; i < words.size() && !command.getCommandName().equals("jmh"); i++) {
      String word = words.get(i);
      CommandLine subcommand = command.getSubcommands().get(word);
      if (subcommand != null) {
        command = subcommand;
      } else if (word.startsWith("--")) {
        OptionSpec option = command.getCommandSpec().findOption(word);
        if (option == null || !takes(option, i + 1 < words.size() ? words.get(i + 1) : "")) {
          unknown.add(word + " of " + line);
        }
      } else if (!command.getSubcommands().isEmpty() && !isPlaceholder(word)) {
        unknown.add(word + " of " + line);
      }
    }
  }

  /** Returns whether an option takes a value, as far as its own converter knows. */
  private static boolean takes(OptionSpec option, String value) {
    try {
      for (ITypeConverter<?> converter : option.converters()) {
        for (String part :
            option.splitRegex().isEmpty() ? new String[] {value} : value.split(",")) {
          if (!isPlaceholder(part)) {
            converter.convert(part);
          }
        }
      }
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  private static boolean isPlaceholder(String word) {
    return word.isEmpty() || word.startsWith("-") || word.matches("[A-Z:%]+|[$.].*");
  }

  @ParameterizedTest
  @MethodSource("pages")
  void shouldLinkToWhatIsThere(Path page) throws IOException {
    List<String> broken = new ArrayList<>();
    for (MatchResult match : LINK.matcher(text(page)).results().toList()) {
      String link = group(match);
      String[] parts = link.split("#", 2);
      Path file = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
      if (!link.startsWith("http")
          && (!Files.exists(file) || (parts.length > 1 && !anchors(file).contains(parts[1])))) {
        broken.add(link);
      }
    }
    assertThat(broken).isEmpty();
  }

  /** Returns the headings of a page, as links name them. */
  private static Set<String> anchors(Path page) throws IOException {
    Set<String> anchors = new HashSet<>();
    for (MatchResult match : ANCHOR.matcher(text(page)).results().toList()) {
      String anchor = match.group(2) != null ? match.group(2) : anchor(match.group(1));
      for (int i = 1; !anchors.add(anchor); i++) {
        anchor = anchor(match.group(1)) + "-" + i;
      }
    }
    return anchors;
  }

  private static String anchor(String heading) {
    return heading
        .replaceAll("\\]\\([^)]*\\)", "")
        .toLowerCase(Locale.ROOT)
        .replaceAll("[^\\w -]", "")
        .replace(' ', '-');
  }

  @ParameterizedTest
  @MethodSource("pages")
  void shouldShowCodeThatCompiles(Path page) throws IOException {
    String compiled =
        withoutSpace(Files.readString(Path.of("src/test/java/pando/bench/CodeOfPages.java")));
    try (Stream<Path> samples = Files.list(ROOT.resolve("samples/src/main/java/pando/samples"))) {
      for (Path sample : samples.toList()) {
        compiled += withoutSpace(Files.readString(sample));
      }
    }
    for (MatchResult match : CODE.matcher(Files.readString(page)).results().toList()) {
      assertThat(compiled).contains(withoutSpace(match.group(1)));
    }
  }

  private static String withoutSpace(String code) {
    return code.replaceAll("\\s+", "");
  }

  /** Returns a page without its code. */
  private static String text(Path page) throws IOException {
    return BLOCK.matcher(Files.readString(page)).replaceAll("");
  }

  private static String group(MatchResult match) {
    return match.group(1) != null ? match.group(1) : match.group(2);
  }
}
