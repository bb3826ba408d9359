package pando.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import pando.cli.option.SettingOptions;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

/** The main class of the {@code pando} command. */
public final class Main {
  private static final int HELP_WIDTH = 100;

  /** The commands of this module, in the order of the help. */
  private static final List<Class<?>> COMMANDS =
      List.of(
          ServeCommand.class,
          ServeClientsCommand.class,
          ClientCommand.class,
          MemoryServerCommand.class,
          ComputeServerCommand.class,
          UpCommand.class,
          ClusterCommand.class,
          DataCommand.class,
          VerbsCommand.class,
          StatCommand.class);

  private Main() {}

  /**
   * Runs a subcommand and exits: 0 for success, 1 for failure, 2 for illegal arguments, such as an
   * address that is taken.
   */
  public static void main(String[] args) {
    System.exit(commandLine(needed(args.length == 0 ? "" : args[0])).execute(args));
  }

  /**
   * Returns the command of a name, or all commands if none has it. Reading the options of all would
   * take half of the time of a start.
   */
  public static List<Class<?>> needed(String name) {
    if (name.equals("--version")) {
      return List.of();
    }
    List<Class<?>> own = named(name, COMMANDS);
    return own.isEmpty() ? neededOfAll(name) : own;
  }

  private static List<Class<?>> neededOfAll(String name) {
    List<Class<?>> all =
        Stream.concat(
                providers().flatMap(provider -> provider.commands().stream()), COMMANDS.stream())
            .toList();
    List<Class<?>> named = named(name, all);
    return named.isEmpty() ? all : named;
  }

  private static List<Class<?>> named(String name, List<Class<?>> commands) {
    return commands.stream()
        .filter(command -> command.getAnnotation(Command.class).name().equals(name))
        .toList();
  }

  private static Stream<CommandProvider> providers() {
    return ServiceLoader.load(CommandProvider.class).stream().map(ServiceLoader.Provider::get);
  }

  /** Returns the parser of the command line, with all commands. */
  public static CommandLine commandLine() {
    return commandLine(needed(""));
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    CommandLine pando = new CommandLine(new PandoCommand());
    commands.forEach(pando::addSubcommand);
    CommandLine client = pando.getSubcommands().get(ClientCommand.NAME);
    if (client != null) {
      providers().forEach(provider -> provider.clientCommands().forEach(client::addSubcommand));
    }
    pando.addSubcommand(AutoComplete.GenerateCompletion.class).addSubcommand(HelpCommand.class);
    pando
        // That of the parser does not notice where the output fails.
        .setOut(new PrintWriter(System.out, true, System.out.charset()))
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
