package pando.bench;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of trials. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class TrialOptions {
  private static final int SEEDS_MAX = 1_000_000_000;
  private static final int OPERATIONS_MAX = 1_000_000;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      converter = Quantity.class,
      description = {
        "Runs trials in place of a workload: so many seeds, from --seed on, of a cluster with tiny"
            + " nodes and caches, whose partitions move, on all cores. Checks that every key is"
            + " linearizable, that scans are right, and the whole tree at the end. Under faults"
            + " that harm, also finds which operations still hang once all faults have ended."
            + " --threads is the clients of each compute server then."
      })
  private @Nullable Long seeds;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "2000",
      converter = Quantity.class,
      description = "Operations of each trial (default: ${DEFAULT-VALUE}).")
  private long operations;

  @Option(
      names = "--history",
      paramLabel = "FILE",
      description = "With --seeds 1, writes the history of all clients, for pando check.")
  private @Nullable Path history;

  @Option(
      names = "--cluster",
      description = {
        "Trials of whole clusters: compute servers join by a coordinator in virtual time, lead, are"
            + " given ranges and fenced, end and start anew; clients go by copies of the routes."
            + " Systems whose ranges move, --compute-servers of at least 2, and --faults of torn,"
            + " late-read, delay, pause, clock-jump, full-pool, and of those that only clusters"
            + " have: session-lost, stale-route, cut-client, lose-memory,"
            + " restart-all."
      })
  private boolean cluster;

  /** Returns whether compute servers are those of a cluster. */
  boolean areOfClusters() {
    return cluster;
  }

  /** Returns whether the options ask for trials. */
  boolean areAskedFor() {
    return seeds != null;
  }

  /** Returns the number of seeds, 0 if the options do not ask for trials. */
  long seeds() {
    if (seeds == null) {
      return 0;
    }
    Ranges.check(spec, "--seeds", seeds, 1, SEEDS_MAX);
    return seeds;
  }

  int operations() {
    Ranges.check(spec, "--operations", operations, 1, OPERATIONS_MAX);
    return (int) operations;
  }

  /**
   * Returns the file for the history of the only seed, {@code null} if the option was not given.
   */
  @Nullable Path history() {
    if (history != null) {
      Ranges.check(spec, "--history", seeds() == 1, history, "needs --seeds 1");
      Ranges.checkFile(spec, "--history", history);
    }
    return history;
  }
}
