package pando.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.cli.option.ClientConnectOptions;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.text.Numbers;
import pando.client.PandoClient;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Operates on an index by its compute servers. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = ClientCommand.NAME,
    description =
        "Operates on an index by its compute servers: those of pando up, compute-server or"
            + " serve-clients.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    subcommands = {
      ClientCommand.Get.class,
      ClientCommand.Put.class,
      ClientCommand.Scan.class,
      ClientCommand.Load.class,
      ClientCommand.Flush.class
    })
final class ClientCommand implements Callable<Integer> {
  static final String NAME = "client";

  @Spec private CommandSpec spec;

  /** Prints the help, where no subcommand is given. */
  @Override
  public Integer call() {
    CommandLine command = spec.commandLine();
    command.usage(command.getErr());
    return CommandLine.ExitCode.USAGE;
  }

  /** Looks keys up. */
  @Command(
      name = "get",
      description = "Prints the value of each key; exits with 1 where one is not there.",
      mixinStandardHelpOptions = true)
  static final class Get implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClientConnectOptions connectOptions;

    @Parameters(
        paramLabel = "KEY",
        arity = "1..*",
        description = "Whole numbers of 64 bits, or texts where byte strings are served.")
    private String[] keys;

    @Override
    public Integer call() {
      try (PandoClient client = connectOptions.connect();
          ClientEntries entries = ClientEntries.of(client)) {
        PrintWriter out = spec.commandLine().getOut();
        boolean all = Ranges.accepted(spec, () -> find(entries, out));
        out.flush();
        return all ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
      }
    }

    /** Prints the values; returns whether all keys are there. */
    private boolean find(ClientEntries entries, PrintWriter out) {
      boolean all = true;
      for (String key : keys) {
        String value = entries.get(key);
        out.println(value == null ? key + " is not there" : key + " " + value);
        all &= value != null;
      }
      return all;
    }
  }

  /** Stores a value. */
  @Command(
      name = "put",
      description = "Stores a value, and prints the one it replaces.",
      mixinStandardHelpOptions = true)
  static final class Put implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClientConnectOptions connectOptions;

    @Parameters(
        index = "0",
        paramLabel = "KEY",
        description = "A whole number of 64 bits, or a text where byte strings are served.")
    private String key;

    @Parameters(index = "1", paramLabel = "VALUE", description = "Another one.")
    private String value;

    @Override
    public Integer call() {
      try (PandoClient client = connectOptions.connect();
          ClientEntries entries = ClientEntries.of(client)) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(Ranges.accepted(spec, () -> store(entries)));
        out.flush();
        return CommandLine.ExitCode.OK;
      }
    }

    private String store(ClientEntries entries) {
      String replaced = entries.put(key, value);
      return replaced == null ? "stored" : "replaced " + replaced;
    }
  }

  /** Prints entries of a range. */
  @Command(
      name = "scan",
      description = "Prints entries in the order of their keys.",
      mixinStandardHelpOptions = true)
  static final class Scan implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClientConnectOptions connectOptions;

    @Option(
        names = "--from",
        paramLabel = "KEY",
        description = "First key (default: the least of all, or with --down the greatest).")
    private @Nullable String from;

    @Option(
        names = "--to",
        paramLabel = "KEY",
        description = "Last key (default: the greatest of all, or with --down the least).")
    private @Nullable String to;

    @Option(
        names = "--limit",
        paramLabel = "N",
        defaultValue = "100",
        converter = Quantity.class,
        description = "Entries at the most (default: ${DEFAULT-VALUE}).")
    private long limit;

    @Option(names = "--down", description = "In descending order.")
    private boolean down;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      try (PandoClient client = connectOptions.connect();
          ClientEntries entries = ClientEntries.of(client)) {
        Ranges.accepted(spec, () -> scan(entries, out));
      }
      out.flush();
      return CommandLine.ExitCode.OK;
    }

    private PrintWriter scan(ClientEntries entries, PrintWriter out) {
      entries.scan(from, to, down, limit, (key, value) -> out.println(key + " " + value));
      return out;
    }
  }

  /** Stores entries from a file. */
  @Command(
      name = "load",
      description = "Stores the entries of a file: a key and a value a line, with a space between.",
      mixinStandardHelpOptions = true)
  static final class Load implements Callable<Integer> {
    private static final int TOGETHER = 1_024;

    @Spec private CommandSpec spec;
    @Mixin private ClientConnectOptions connectOptions;

    @Parameters(paramLabel = "FILE", description = "The file; - for the standard input.")
    private Path file;

    @Override
    public Integer call() throws IOException {
      long stored = 0;
      try (PandoClient client = connectOptions.connect();
          ClientEntries entries = ClientEntries.of(client);
          BufferedReader lines =
              file.toString().equals("-")
                  ? new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                  : Files.newBufferedReader(file)) {
        List<String[]> some = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          some.add(parts(line, stored + some.size() + 1));
          if (some.size() == TOGETHER) {
            stored += store(entries, some);
          }
        }
        stored += store(entries, some);
      }
      PrintWriter out = spec.commandLine().getOut();
      out.printf("stored %s entries%n", Numbers.count(stored));
      out.flush();
      return CommandLine.ExitCode.OK;
    }

    private String[] parts(String line, long number) {
      String[] parts = line.split(" ", -1);
      if (parts.length != 2) {
        throw new ParameterException(
            spec.commandLine(), "a line is KEY VALUE: number=" + number + ", line=" + line);
      }
      return parts;
    }

    /** Stores some entries, and empties the list; returns how many they were. */
    private int store(ClientEntries entries, List<String[]> some) {
      int stored = some.size();
      Ranges.accepted(
          spec,
          () -> {
            entries.storeAll(some);
            return entries;
          });
      some.clear();
      return stored;
    }
  }

  /** Has all that is acknowledged written to the pool. */
  @Command(
      name = "flush",
      description =
          "Has the compute servers write all that they have acknowledged to the memory servers.",
      mixinStandardHelpOptions = true)
  static final class Flush implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClientConnectOptions connectOptions;

    @Override
    public Integer call() {
      try (PandoClient client = connectOptions.connect()) {
        client.flush();
      }
      PrintWriter out = spec.commandLine().getOut();
      out.println("all is in the pool");
      out.flush();
      return CommandLine.ExitCode.OK;
    }
  }
}
