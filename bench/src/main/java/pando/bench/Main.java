package pando.bench;

import picocli.CommandLine;

/** The main class of the {@code pando} command. */
public final class Main {
  private static final int HELP_WIDTH = 100;

  private Main() {}

  /**
   * Runs a subcommand and exits: 0 for success, 1 for failure, 2 for illegal arguments, an address
   * that is taken among them.
   */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** Returns the parser of the command line, as {@link #main} uses it. */
  public static CommandLine commandLine() {
    CommandLine pando =
        new CommandLine(new PandoCommand())
            .setParameterExceptionHandler(Failures::onParameter)
            .setExecutionExceptionHandler(Failures::onExecution)
            .setUsageHelpWidth(HELP_WIDTH)
            .setUsageHelpAutoWidth(true);
    pando.getSubcommands().values().forEach(SettingOptions::document);
    return pando;
  }
}
