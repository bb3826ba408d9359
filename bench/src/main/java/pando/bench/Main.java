package pando.bench;

import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

/** The main class of the {@code pando} command. */
public final class Main {
  private static final int HELP_WIDTH = 100;

  /** In the order of the help. */
  private static final List<Class<?>> COMMANDS =
      List.of(
          DemoCommand.class,
          BenchCommand.class,
          ChurnCommand.class,
          SimulateCommand.class,
          CheckCommand.class,
          CompareCommand.class,
          StringsCommand.class,
          JmhCommand.class,
          ServeCommand.class,
          ServeClientsCommand.class,
          ClientCommand.class,
          MemoryServerCommand.class,
          UpCommand.class,
          ClusterCommand.class,
          VerbsCommand.class,
          StatCommand.class,
          ComputeServerCommand.class,
          BenchServersCommand.class);

  private Main() {}

  /**
   * Runs a subcommand and exits: 0 for success, 1 for failure, 2 for illegal arguments, an address
   * that is taken among them.
   */
  public static void main(String[] args) {
    System.exit(commandLine(needed(args.length == 0 ? "" : args[0])).execute(args));
  }

  /** Returns the command that is named: reading the options of all takes half of a start. */
  static List<Class<?>> needed(String name) {
    if (name.equals("--version")) {
      return List.of();
    }
    List<Class<?>> named =
        COMMANDS.stream()
            .filter(command -> command.getAnnotation(Command.class).name().equals(name))
            .toList();
    return named.isEmpty() ? COMMANDS : named;
  }

  /** Returns the parser of the command line, with all commands. */
  public static CommandLine commandLine() {
    return commandLine(COMMANDS);
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    CommandLine pando = new CommandLine(new PandoCommand());
    commands.forEach(pando::addSubcommand);
    pando.addSubcommand(AutoComplete.GenerateCompletion.class).addSubcommand(HelpCommand.class);
    pando
        .setParameterExceptionHandler(CommandFailures::onParameter)
        .setExecutionExceptionHandler(CommandFailures::onExecution)
        .setUsageHelpWidth(HELP_WIDTH)
        .setUsageHelpAutoWidth(true)
        .getSubcommands()
        .values()
        .forEach(SettingOptions::document);
    return pando;
  }
}
