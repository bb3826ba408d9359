package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import pando.bench.demo.CheckFailedException;
import pando.bench.run.WrongResultException;
import pando.fabric.PandoException;
import pando.index.settings.DidYouMean;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Reports failures: one line for an error that a user can correct, a stack trace for a bug. */
final class Failures {
  private Failures() {}

  /** Reports illegal arguments. */
  static int onParameter(ParameterException failure, String[] args) {
    CommandLine command = failure.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    String message = failure.getMessage() + suggestion(failure);
    command.getErr().println(name + ": " + message + " (see " + name + " --help)");
    return CommandLine.ExitCode.USAGE;
  }

  /** Returns what may have been meant in place of an unknown command or option. */
  private static String suggestion(ParameterException failure) {
    if (!(failure instanceof UnmatchedArgumentException unmatched)) {
      return "";
    }
    CommandSpec spec = failure.getCommandLine().getCommandSpec();
    Stream<String> options =
        spec.options().stream()
            .filter(option -> !option.hidden())
            .flatMap(option -> Arrays.stream(option.names()));
    Stream<String> commands =
        spec.subcommands().entrySet().stream()
            .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
            .map(Map.Entry::getKey);
    List<String> known = Stream.concat(options, commands).toList();
    return unmatched.getUnmatched().stream()
        .findFirst()
        .map(typed -> DidYouMean.suggest(typed.replaceFirst("=.*", ""), known))
        .orElse("");
  }

  /** Reports the failure of a running command; an address that is taken is an option's fault. */
  static int onExecution(Exception failure, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    if (isExpected(failure)) {
      String name = command.getCommandSpec().qualifiedName();
      err.println(name + ": " + message(failure));
    } else {
      failure.printStackTrace(err);
    }
    return failure instanceof BindException || failure.getCause() instanceof BindException
        ? CommandLine.ExitCode.USAGE
        : CommandLine.ExitCode.SOFTWARE;
  }

  /** Reports the failure of a running command, in one line, and returns the exit code. */
  static int print(PandoException failure, CommandSpec spec, int exitCode) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(spec.qualifiedName() + ": " + failure.getMessage());
    err.flush();
    return exitCode;
  }

  /**
   * Returns the message; for exceptions of files, whose message is only the path, with the cause.
   */
  private static String message(Exception failure) {
    return failure instanceof FileSystemException
        ? failure.getClass().getSimpleName() + ": " + failure.getMessage()
        : String.valueOf(failure.getMessage());
  }

  private static boolean isExpected(Exception failure) {
    return failure instanceof PandoException
        || failure instanceof IOException
        || failure instanceof WrongResultException
        || failure instanceof CheckFailedException;
  }
}
