package pando.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.bench.keys.KeySet;
import pando.bench.records.Ledger;
import pando.bench.workload.Workload;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that say what to load. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class LoadOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--records",
      paramLabel = "N",
      converter = Quantity.class,
      description =
          "Records to load (default: 20M; of ipv4 all, or half where a workload inserts). 0 is for"
              + " inserts alone.")
  private @Nullable Long records;

  @Option(
      names = "--keys",
      paramLabel = "NAME",
      defaultValue = "uniform",
      converter = BenchChoices.KeySetConverter.class,
      description = {
        "What the records' keys are (default: ${DEFAULT-VALUE}); inserts add more of the kind.",
        "uniform: any 64-bit word with the same probability.",
        "normal: a sample of the normal distribution.",
        "lognormal: a sample of numbers whose logarithms are normal, standard deviation 2.",
        "ipv4: the addresses at which the demo's 385,602 address ranges start, then others within"
            + " the ranges.",
        "clustered: a thousand dense runs of uneven sizes, far apart.",
        "sequential: 1, 2, 3, ..., with room between.",
        "dense: 0, 1, 2, ..., with no room between; inserts go to the end."
      })
  private KeySet keys;

  @Option(
      names = "--fill",
      paramLabel = "SHARE",
      defaultValue = "0.7",
      description = "Share of each node that the load fills (default: ${DEFAULT-VALUE}).")
  private double fill;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Start of all randomness (default: ${DEFAULT-VALUE}).")
  private long seed;

  /** Returns how many records to load for workloads; all but inserts need at least one. */
  long records(List<Workload> workloads) {
    boolean areInserts = workloads.stream().allMatch(workload -> workload.insertShare() == 1);
    return records(areInserts ? 0 : 1, workloads.stream().anyMatch(Workload::inserts));
  }

  /** Returns how many records to load, checked against a minimum. */
  long records(long least, boolean inserts) {
    long number = records == null ? keys.defaultRecords(inserts) : records;
    Ranges.check(spec, "--records", number, least, Ledger.RECORDS_MAX);
    return number;
  }

  KeySet keys() {
    return keys;
  }

  double fill() {
    Ranges.check(spec, "--fill", fill > 0 && fill <= 1, fill, "above=0, greatest=1");
    return fill;
  }

  long seed() {
    return seed;
  }
}
