package pando.bench;

import java.util.List;
import pando.bench.workload.Distribution;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the distribution of operations, and for the warm-up. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class DrawOptions {
  /** Maximum number of operations of any option. */
  static final long OPERATIONS_MAX = Long.MAX_VALUE >> 20;

  private static final int THETA_MAX = 100;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--distribution",
      paramLabel = "NAME",
      defaultValue = "zipfian",
      split = ",",
      converter = BenchChoices.DistributionConverter.class,
      description = {
        "How operations fall on records (default: ${DEFAULT-VALUE}).",
        "zipfian: every rank a record of its own.",
        "zipfian-dex: ranks scrambled as in DEX and YCSB, by a hash with collisions, so 36.8 %% of"
            + " the records are never accessed.",
        "uniform: each record with the same probability.",
        "latest: Zipfian by age, the newest first; ycsb-d has it always."
      })
  private List<Distribution> distributions;

  @Option(
      names = "--theta",
      paramLabel = "T",
      defaultValue = "0.99",
      description = "Skew of the Zipfian distributions (default: ${DEFAULT-VALUE}).")
  private double theta;

  @Option(
      names = "--warmup",
      paramLabel = "N",
      defaultValue = "1M",
      converter = Quantity.class,
      description =
          "Operations before those that are measured; when simulated they take no time (default:"
              + " ${DEFAULT-VALUE}).")
  private long warmup;

  /** Returns the distribution, for a command that takes only one. */
  Distribution distribution() {
    return Ranges.single(spec, "--distribution", distributions);
  }

  List<Distribution> distributions() {
    return Ranges.several(spec, "--distribution", distributions);
  }

  double theta() {
    boolean isTheta = theta >= 0 && theta <= THETA_MAX;
    Ranges.check(spec, "--theta", isTheta, theta, "least=0, greatest=" + THETA_MAX);
    return theta;
  }

  long warmup() {
    Ranges.check(spec, "--warmup", warmup, 0, OPERATIONS_MAX);
    return warmup;
  }
}
