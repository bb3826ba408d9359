package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.cli.cluster.ClusterReport;
import pando.cli.cluster.WatchedCluster;
import pando.cli.option.HttpOption;
import pando.cli.option.Ranges;
import pando.cli.text.ByteText;
import pando.cluster.Change;
import pando.cluster.ClusterException;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Membership;
import pando.index.BoundKey;
import pando.index.bytes.ByteOptions;
import pando.metrics.PandoHttp;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the state of a cluster, and changes who serves what. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "cluster",
    description = "Shows the state of a cluster, and changes which server has which keys.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    subcommands = {
      ClusterCommand.Status.class,
      ClusterCommand.Watch.class,
      ClusterCommand.Add.class,
      ClusterCommand.Remove.class,
      ClusterCommand.Move.class,
      ClusterCommand.Split.class,
      ClusterCommand.Fence.class,
      ClusterRebuild.class
    })
final class ClusterCommand implements Callable<Integer> {
  /** Time between two looks at a cluster. */
  static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

  @Spec private CommandSpec spec;

  /** Prints the help, where no subcommand is given. */
  @Override
  public Integer call() {
    CommandLine command = spec.commandLine();
    command.usage(command.getErr());
    return CommandLine.ExitCode.USAGE;
  }

  /** Prints servers, ranges, and changes. */
  @Command(
      name = "status",
      description = "Prints the servers of a cluster, the ranges of keys, and the last changes.",
      mixinStandardHelpOptions = true)
  static final class Status implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClusterOption clusterOption;

    @Option(names = "--json", description = "As one JSON object.")
    private boolean json;

    @Override
    public Integer call() {
      try (Membership membership = clusterOption.connect()) {
        ClusterReport report = ClusterReport.of(new ClusterState(membership));
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? report.json() : report.table());
        out.flush();
        return CommandLine.ExitCode.OK;
      }
    }
  }

  /** Looks at a cluster each second. */
  @Command(
      name = "watch",
      description = {
        "Looks at a cluster each second, until it is interrupted.",
        "Prints a line when the cluster becomes ready or is no longer ready, and about each"
            + " server that is lost."
      },
      mixinStandardHelpOptions = true)
  static final class Watch implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private ClusterOption clusterOption;
    @Mixin private HttpOption httpOption;

    @Override
    public Integer call() throws IOException {
      httpOption.check();
      clusterOption.address();
      PandoHttp http = httpOption.open();
      try (http;
          WatchedCluster shown = new WatchedCluster(clusterOption::connect, this::print)) {
        shown.look();
        if (http != null) {
          http.show(shown);
          print("live page at " + http.uri());
        }
        while (true) {
          Thread.sleep(LOOK_INTERVAL);
          shown.look();
        }
      } catch (InterruptedException e) {
        return CommandLine.ExitCode.OK; // an interruption is its end
      }
    }

    private void print(String line) {
      PrintWriter out = spec.commandLine().getOut();
      out.printf("%tF %<tT %s%n", LocalDateTime.now(ZoneId.systemDefault()), line);
      out.flush();
    }
  }

  /** Asks for a change, and waits for its end. */
  abstract static class Changing implements Callable<Integer> {
    private static final int SECONDS_MAX = 86_400;

    @Spec private CommandSpec spec;
    @Mixin private ClusterOption clusterOption;

    @Option(
        names = "--wait",
        paramLabel = "SECONDS",
        defaultValue = "60",
        description =
            "Waits so long for the change to end; it goes on afterwards (default:"
                + " ${DEFAULT-VALUE}).")
    private int waitSeconds;

    /**
     * Returns the change to ask for.
     *
     * @param toKey makes a key of its text
     */
    abstract Change change(Function<String, BoundKey> toKey);

    @Override
    public final Integer call() {
      // What is wrong with any key is refused before the cluster is asked which keys it has.
      Ranges.accepted(spec, () -> change(_ -> BoundKey.of(0)));
      Ranges.check(spec, "--wait", waitSeconds, 0, SECONDS_MAX);
      try (Membership membership = clusterOption.connect()) {
        ClusterState state = new ClusterState(membership);
        Config config =
            state
                .config()
                .orElseThrow(() ->
                    new ClusterException(
                        "no such cluster, or it has no index yet: see its status"));
        boolean isOfStrings = config.system().equals(ByteOptions.SYSTEM);
        Function<String, BoundKey> key = isOfStrings ? Changing::string : Changing::word;
        int id = state.ask(Ranges.accepted(spec, () -> change(key)));
        Change ended = state.awaitEnd(id, Duration.ofSeconds(waitSeconds));
        PrintWriter out = spec.commandLine().getOut();
        out.println(ClusterReport.text(ended));
        out.flush();
        return ended.state() == Change.State.DONE
            ? CommandLine.ExitCode.OK
            : CommandLine.ExitCode.SOFTWARE;
      }
    }

    private static BoundKey string(String text) {
      return BoundKey.of(ByteText.bytes(text));
    }

    private static BoundKey word(String text) {
      try {
        return BoundKey.of(Long.parseLong(text));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "the cluster has an index of words, and this is no whole number of 64 bits: key="
                + text,
            e);
      }
    }
  }

  /** Gives a compute server a range. */
  @Command(
      name = "add",
      description = "Gives a compute server that has no range a part of another one's.",
      mixinStandardHelpOptions = true)
  static final class Add extends Changing {
    @Parameters(paramLabel = "N", description = "Number of the compute server.")
    private int number;

    @Option(
        names = "--from",
        paramLabel = "GIVER",
        description = "Number of the one whose range is divided (default: the one with the most).")
    private @Nullable Integer giver;

    @Override
    Change change(Function<String, BoundKey> toKey) {
      return giver == null ? Change.add(number) : Change.add(number, giver);
    }
  }

  /** Takes a compute server out. */
  @Command(
      name = "remove",
      description = "Gives the range of a compute server to a neighbour; its process ends.",
      mixinStandardHelpOptions = true)
  static final class Remove extends Changing {
    @Parameters(paramLabel = "N", description = "Number of the compute server.")
    private int number;

    @Override
    Change change(Function<String, BoundKey> toKey) {
      return Change.remove(number);
    }
  }

  /** Moves a boundary. */
  @Command(
      name = "move",
      description =
          "Moves the boundary below a compute server's range to a key, or, of numbers, close by.",
      mixinStandardHelpOptions = true)
  static final class Move extends Changing {
    @Parameters(index = "0", paramLabel = "N", description = "Number of the compute server.")
    private int number;

    @Parameters(
        index = "1",
        paramLabel = "KEY",
        description = {
          "Its least key afterwards: a text where byte strings are served, else a whole number."
        })
    private String key;

    @Override
    Change change(Function<String, BoundKey> toKey) {
      return Change.move(number, toKey.apply(key));
    }
  }

  /** Divides a range. */
  @Command(
      name = "split",
      description = "Gives what a compute server has from a key on to one that has no range.",
      mixinStandardHelpOptions = true)
  static final class Split extends Changing {
    @Parameters(index = "0", paramLabel = "N", description = "Number of the compute server.")
    private int number;

    @Parameters(
        index = "1",
        paramLabel = "KEY",
        description = {
          "Least key that is given away: a text where byte strings are served, else a whole number."
        })
    private String key;

    @Parameters(index = "2", paramLabel = "RECEIVER", description = "Number of the receiver.")
    private int receiver;

    @Override
    Change change(Function<String, BoundKey> toKey) {
      return Change.split(number, toKey.apply(key), receiver);
    }
  }

  /** Keeps a compute server out. */
  @Command(
      name = "fence",
      description = {
        "Keeps a compute server from doing anything, and gives its range to a neighbour.",
        "Without a log, what it had not written back is lost. For one that runs and should not; one"
            + " that is gone is fenced by itself."
      },
      mixinStandardHelpOptions = true)
  static final class Fence extends Changing {
    @Parameters(paramLabel = "N", description = "Number of the compute server.")
    private int number;

    @Override
    Change change(Function<String, BoundKey> toKey) {
      return Change.fence(number);
    }
  }
}
