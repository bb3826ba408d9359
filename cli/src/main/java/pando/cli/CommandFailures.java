package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.index.settings.DidYouMean;
import pando.journal.DamagedFolderException;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Reports failures: one line for an error that a user can correct, a stack trace for a bug. */
final class CommandFailures {
  private CommandFailures() {}

  /** Reports illegal arguments. */
  static int onParameter(ParameterException failure, String[] args) {
    CommandLine command = failure.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    String message = failure.getMessage() + suggestion(failure, args) + wayOut(failure);
    command.getErr().println(name + ": " + message + " (see " + name + " --help)");
    return CommandLine.ExitCode.USAGE;
  }

  /** Returns what may have been meant in place of an unknown command or option. */
  private static String suggestion(ParameterException failure, String[] args) {
    CommandSpec spec = failure.getCommandLine().getCommandSpec();
    return switch (failure) {
      case UnmatchedArgumentException unmatched ->
          unmatched.getUnmatched().stream()
              .findFirst()
              .map(typed -> suggestion(spec, optionName(typed)))
              .orElse("");
      // If an option is missing and another one is unknown, the parser names only the former.
      case MissingParameterException _ ->
          Arrays.stream(args)
              .map(CommandFailures::optionName)
              .filter(typed -> typed.startsWith("--") && spec.findOption(typed) == null)
              .findFirst()
              .map(typed -> "; unknown option: '" + typed + "'" + suggestion(spec, typed))
              .orElse("");
      default -> "";
    };
  }

  private static String optionName(String argument) {
    return argument.replaceFirst("=.*", "");
  }

  /**
   * Returns the options whose value has this name, as {@code --resp PORT} for {@code --port};
   * otherwise names near it.
   */
  private static String suggestion(CommandSpec spec, String typed) {
    List<OptionSpec> shown = spec.options().stream().filter(option -> !option.hidden()).toList();
    List<String> valued =
        shown.stream()
            .filter(option -> ("--" + option.paramLabel()).equalsIgnoreCase(typed))
            .map(option -> option.longestName() + " " + option.paramLabel())
            .toList();
    if (!valued.isEmpty()) {
      return ", did you mean " + String.join(" or ", valued) + "?";
    }
    Stream<String> options = shown.stream().flatMap(option -> Arrays.stream(option.names()));
    Stream<String> commands =
        spec.subcommands().entrySet().stream()
            .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
            .map(Map.Entry::getKey);
    List<String> known = Stream.concat(options, commands).toList();
    return DidYouMean.suggest(typed, known);
  }

  /** Reports the failure of a running command; an address that is taken is an option's fault. */
  static int onExecution(Exception failure, CommandLine command, ParseResult parsed) {
    PrintWriter err = command.getErr();
    if (isExpected(failure)) {
      String name = command.getCommandSpec().qualifiedName();
      err.println(name + ": " + message(failure) + wayOut(failure));
    } else {
      failure.printStackTrace(err);
    }
    return listening(failure) != null ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
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
  static String message(Exception failure) {
    return switch (failure) {
      case NoSuchFileException _ -> "no such file: " + failure.getMessage();
      case AccessDeniedException _ -> "no permission for the file: " + failure.getMessage();
      case FileSystemException _ ->
          failure.getClass().getSimpleName() + ": " + failure.getMessage();
      default -> String.valueOf(failure.getMessage());
    };
  }

  /** Returns what to do about a damaged data folder. */
  static String advice(OptionalLong cutAt) {
    String restore = "restore a backup (pando data restore)";
    return cutAt.isEmpty()
        ? restore
        : "%s, or keep what is before that place (pando data repair --cut-at %x)"
            .formatted(restore, cutAt.getAsLong());
  }

  /** Returns what to do about a failure, if it is damage or an address that is taken. */
  private static String wayOut(Exception failure) {
    if (failure instanceof DamagedFolderException damaged) {
      return damaged.isOfOtherPando() ? "" : "; " + advice(damaged.cutAt());
    }
    BindException listening = listening(failure);
    return listening != null && String.valueOf(listening.getMessage()).contains("in use")
        ? "; give another port (0 takes any free one), or end what listens there"
        : "";
  }

  /** Returns the failure to listen that is the cause; {@code null} if it is another one. */
  private static @Nullable BindException listening(Exception failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof BindException listening) {
        return listening;
      }
    }
    return null;
  }

  private static boolean isExpected(Exception failure) {
    return failure instanceof PandoException
        || failure instanceof IOException
        || failure instanceof WrongResultException;
  }
}
