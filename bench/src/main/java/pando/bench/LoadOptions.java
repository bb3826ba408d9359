package pando.bench;

import pando.bench.records.Ledger;
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
      defaultValue = "20M",
      converter = Quantity.class,
      description = "Records to load (default: ${DEFAULT-VALUE}).")
  private long records;

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

  long records() {
    Ranges.check(spec, "--records", records, 1, Ledger.RECORDS_MAX);
    return records;
  }

  double fill() {
    Ranges.check(spec, "--fill", fill > 0 && fill <= 1, fill, "above=0, greatest=1");
    return fill;
  }

  long seed() {
    return seed;
  }
}
