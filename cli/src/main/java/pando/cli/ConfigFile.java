package pando.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import pando.index.settings.DidYouMean;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * Reads the options of a command that are in a file, one a line:
 *
 * <pre>
 *   # A compute server.
 *   number = 3
 *   cluster = 10.0.0.1:2181/grove
 *   set = key-bytes=16
 * </pre>
 *
 * <p>Names are those of the options. Where the command line has an option, too, it wins; an option
 * that may be given several times has the values of both.
 */
@SuppressWarnings("JdkObsolete") // picocli's arguments are a Stack
final class ConfigFile implements IParameterPreprocessor {
  private static final String OPTION = "--config";

  @Override
  public boolean preprocess(
      Stack<String> args,
      CommandSpec spec,
      @Nullable ArgSpec argument,
      Map<String, Object> parsed) {
    List<String> given = List.copyOf(args).reversed();
    Path file = named(given);
    if (file != null) {
      List<String> added = new Reader(spec, file, given).options();
      added.reversed().forEach(args::push);
    }
    return false;
  }

  private static @Nullable Path named(List<String> given) {
    for (int i = 0; i < given.size(); i++) {
      if (given.get(i).startsWith(OPTION + "=")) {
        return Path.of(given.get(i).substring(OPTION.length() + 1));
      }
      if (given.get(i).equals(OPTION) && i + 1 < given.size()) {
        return Path.of(given.get(i + 1));
      }
    }
    return null;
  }

  /** Reads one file. */
  private static final class Reader {
    private final CommandSpec spec;
    private final Path file;
    private final List<String> given;
    private final Set<String> seen = new HashSet<>();

    Reader(CommandSpec spec, Path file, List<String> given) {
      this.spec = spec;
      this.file = file;
      this.given = given;
    }

    /** Returns the options of the file that the command line does not have. */
    List<String> options() {
      List<String> options = new ArrayList<>();
      List<String> lines = lines();
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i).strip();
        if (!line.isEmpty() && !line.startsWith("#")) {
          add(options, line, i + 1);
        }
      }
      return options;
    }

    private List<String> lines() {
      try {
        return Files.readAllLines(file);
      } catch (CharacterCodingException e) {
        throw refusal("is no UTF-8 text", 0);
      } catch (IOException e) {
        throw refusal("cannot be read: " + e.getClass().getSimpleName(), 0);
      }
    }

    private void add(List<String> options, String line, int number) {
      int equals = line.indexOf('=');
      if (equals < 1) {
        throw refusal("has no KEY = VALUE", number);
      }
      String name = "--" + line.substring(0, equals).strip();
      OptionSpec option = spec.findOption(name);
      if (option == null || name.equals(OPTION) || option.usageHelp() || option.versionHelp()) {
        String key = name.substring(2);
        List<String> known =
            spec.options().stream().map(each -> each.longestName().substring(2)).toList();
        throw refusal("has an unknown key: key=" + key + DidYouMean.suggest(key, known), number);
      }
      if (!option.isMultiValue() && !seen.add(name)) {
        throw refusal("has a key twice: key=" + name.substring(2), number);
      }
      if (option.isMultiValue() || !isGiven(name)) {
        options.add(name + "=" + line.substring(equals + 1).strip());
      }
    }

    private boolean isGiven(String name) {
      return given.stream().anyMatch(arg -> arg.equals(name) || arg.startsWith(name + "="));
    }

    private ParameterException refusal(String problem, int line) {
      String place = line == 0 ? "" : ", line=" + line;
      return new ParameterException(
          spec.commandLine(), "the file " + problem + ": " + OPTION + "=" + file + place);
    }
  }
}
