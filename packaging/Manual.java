import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import pando.cli.Main;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Writes a man page of each command, and the completion of bash, from what the commands say of
 * themselves: java --class-path ... Manual.java DIRECTORY VERSION. (picocli's own generator writes
 * AsciiDoc, which a further tool must convert.)
 */
final class Manual {
  private static final Pattern SETTING = Pattern.compile(" +([a-z][a-z0-9-]*): (.+)");

  private final StringBuilder page = new StringBuilder();

  public static void main(String[] args) throws IOException {
    CommandLine pando = Main.commandLine();
    Path pages = Files.createDirectories(Path.of(args[0], "man", "man1"));
    write(pages, pando, args[1]);
    Path completions = Files.createDirectories(Path.of(args[0], "bash-completion", "completions"));
    Files.writeString(completions.resolve("pando"), AutoComplete.bash("pando", pando));
  }

  private static void write(Path directory, CommandLine command, String version)
      throws IOException {
    String name = command.getCommandSpec().qualifiedName("-");
    Files.writeString(directory.resolve(name + ".1"), new Manual().text(command, name, version));
    for (CommandLine subcommand : subcommands(command)) {
      write(directory, subcommand, version);
    }
  }

  private static List<CommandLine> subcommands(CommandLine command) {
    return command.getSubcommands().values().stream()
        .distinct()
        .filter(subcommand -> !subcommand.getCommandSpec().usageMessage().hidden())
        .toList();
  }

  private String text(CommandLine command, String name, String version) {
    CommandSpec spec = command.getCommandSpec();
    UsageMessageSpec usage = spec.usageMessage();
    String description = String.join(" ", formatted(usage.description()));
    page.append(".TH \"%s\" 1 \"\" \"Pando %s\" \"Pando\"\n".formatted(upper(name), version));
    section("NAME");
    paragraph(name + " - " + description.replaceFirst("\\.( .*)?$", ""));
    section("SYNOPSIS");
    String synopsis = command.getHelp().synopsis(0).replaceAll("\\s+", " ").strip();
    page.append(".B ").append(escaped(synopsis)).append('\n');
    section("DESCRIPTION");
    formatted(usage.description()).forEach(this::paragraph);
    arguments("ARGUMENTS", spec.positionalParameters());
    arguments("OPTIONS", spec.options());
    subcommands(spec, command);
    exitCodes(usage.exitCodeList());
    List<String> notes = formatted(usage.footer());
    if (!notes.isEmpty()) {
      section("NOTES");
      notes.forEach(this::note);
    }
    return page.toString();
  }

  private void arguments(String title, List<? extends ArgSpec> arguments) {
    List<? extends ArgSpec> shown =
        arguments.stream().filter(argument -> !argument.hidden()).toList();
    if (!shown.isEmpty()) {
      section(title);
    }
    for (ArgSpec argument : shown) {
      String label = argument.paramLabel();
      if (argument instanceof OptionSpec option) {
        String separator = option.longestName().startsWith("--") ? "=" : " ";
        boolean isFlag = option.arity().max() == 0;
        label = String.join(", ", option.names()) + (isFlag ? "" : separator + label);
      }
      item(label, String.join(" ", formatted(argument.description())));
    }
  }

  private void subcommands(CommandSpec spec, CommandLine command) {
    if (!subcommands(command).isEmpty()) {
      section("COMMANDS");
    }
    for (CommandLine subcommand : subcommands(command)) {
      CommandSpec of = subcommand.getCommandSpec();
      item(of.name(), String.join(" ", formatted(of.usageMessage().description())));
    }
  }

  private void exitCodes(Map<String, String> codes) {
    if (codes.isEmpty()) {
      return;
    }
    section("EXIT STATUS");
    codes.forEach((code, meaning) -> item(code, formatted(meaning)));
  }

  private void note(String line) {
    Matcher setting = SETTING.matcher(line);
    if (setting.matches()) {
      item(setting.group(1), setting.group(2));
    } else {
      page.append(line.isBlank() ? "" : ".PP\n" + escaped(line.strip()) + "\n");
    }
  }

  private void section(String title) {
    page.append(".SH ").append(title).append('\n');
  }

  private void item(String name, String meaning) {
    page.append(".TP\n.B ").append(escaped(name)).append('\n');
    page.append(escaped(meaning)).append('\n');
  }

  private void paragraph(String text) {
    page.append(escaped(text)).append('\n');
  }

  /** Returns lines as the help shows them, without colours. */
  private static List<String> formatted(String[] lines) {
    List<String> formatted = new ArrayList<>();
    for (String line : lines) {
      formatted.addAll(List.of(Ansi.OFF.text(formatted(line)).toString().split("\\R", -1)));
    }
    return formatted;
  }

  /** Returns a line as picocli formats it: as it is, if it is no format. */
  private static String formatted(String line) {
    try {
      return String.format(line);
    } catch (IllegalFormatException e) {
      return line;
    }
  }

  private static String upper(String name) {
    return name.toUpperCase(Locale.ROOT);
  }

  private static String escaped(String text) {
    String escaped = text.replace("\\", "\\e").replace("-", "\\-");
    return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
  }
}
