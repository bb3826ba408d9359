package pando.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import pando.cli.text.Numbers;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.HistoryText;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks a recorded history. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "check",
    description = {
      "Checks a history: every key linearizable, every scan in order and right.",
      "docs/simulator.md draws the format."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "What pando simulate --history has written.")
  private Path file;

  @Override
  public Integer call() throws IOException {
    List<String> violations;
    try {
      History history = read();
      violations = HistoryCheck.violations(history);
      spec.commandLine()
          .getOut()
          .printf(
              "%s operations, %s scans: %s violations%n",
              Numbers.count(history.operations().size()),
              Numbers.count(history.scans().size()),
              Numbers.count(violations.size()));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), file + ": " + e.getMessage(), e);
    }
    violations.forEach(spec.commandLine().getOut()::println);
    return violations.isEmpty() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private History read() throws IOException {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new IllegalArgumentException("not a file that can be read");
    }
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      return HistoryText.read(reader);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("not a text in UTF-8", e);
    }
  }
}
