package pando.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command itself, which only has the subcommands of {@link Main}. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "pando",
    description = "An ordered index for disaggregated memory.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success",
      "1:a failure, such as a check that did not hold",
      "2:a command or options that make no sense"
    },
    footer = {"", "Begin with: pando demo"})
final class PandoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Prints the help, where no subcommand is given. */
  @Override
  public Integer call() {
    CommandLine command = spec.commandLine();
    command.usage(command.getErr());
    return CommandLine.ExitCode.USAGE;
  }
}
