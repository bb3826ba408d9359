package pando.cli;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Ranges;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Membership;
import pando.cluster.Rebuild;
import pando.durable.ClusterFolder;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Has a cluster with data folders fill a new pool. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "rebuild",
    description = {
      "Ends all servers of a cluster with data folders; they start again with a new pool, which"
          + " gets the entries of a data folder.",
      "All keys wait meanwhile."
    },
    mixinStandardHelpOptions = true)
final class ClusterRebuild implements Callable<Integer> {
  private static final int SECONDS_MAX = 86_400;

  @Spec private CommandSpec spec;
  @Mixin private ClusterOption clusterOption;

  @Option(
      names = "--from",
      paramLabel = "N",
      description = {
        "Number of the memory server whose data folder counts, however old it is (default: the one"
            + " with the newest).",
        "What the other folder has and this one lacks is not served any more; its files stay, in"
            + " a folder replaced-by-... in it."
      })
  private @Nullable Integer from;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "Waits so long for the new pool; it goes on afterwards (default: ${DEFAULT-VALUE}).")
  private int waitSeconds;

  @Override
  public Integer call() {
    Ranges.check(spec, "--wait", waitSeconds, 0, SECONDS_MAX);
    if (from != null) {
      Ranges.check(spec, "--from", from, 0, ClusterFolder.FOLDERS_MAX - 1);
    }
    try (Membership membership = clusterOption.connect()) {
      ClusterState state = new ClusterState(membership);
      int memoryServer = from == null ? Rebuild.NEWEST : from;
      long last = Ranges.accepted(spec, () -> state.askForRebuild(memoryServer));
      Optional<Config> begun = state.awaitGeneration(last, Duration.ofSeconds(waitSeconds));
      PrintWriter out = spec.commandLine().getOut();
      out.println(begun.map(ClusterRebuild::text).orElseGet(() -> text(state.rebuild())));
      out.flush();
      return begun.isPresent() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  private static String text(Config begun) {
    return "generation %d has begun".formatted(begun.generation());
  }

  private static String text(Rebuild rebuild) {
    return rebuild.isAwaited()
        ? rebuild.problem()
        : "no generation has begun yet: see what the compute servers print";
  }
}
