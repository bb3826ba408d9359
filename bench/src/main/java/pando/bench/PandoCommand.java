package pando.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command itself, which only has subcommands. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "pando",
    description = "An ordered index for disaggregated memory.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    subcommands = {
      DemoCommand.class,
      BenchCommand.class,
      ChurnCommand.class,
      SimulateCommand.class,
      CheckCommand.class,
      CompareCommand.class,
      JmhCommand.class,
      MemoryServerCommand.class,
      ComputeServerCommand.class,
      HelpCommand.class
    },
    footer = {"", "Begin with: pando demo"})
final class PandoCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
