package pando.bench;

import java.util.concurrent.Callable;
import pando.bench.console.Numbers;
import pando.bench.records.Ledger;
import pando.bench.records.Records;
import pando.bench.run.Churn;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Checks that the space of removed records is reused. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "churn",
    description = {
      "Loads records, inserts others and removes those again, and compares the bytes of the pool"
          + " that hold nodes, at last when the index is closed. Fails where they grow by more"
          + " than 2 %%."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class ChurnCommand implements Callable<Integer> {
  private static final double GROWTH_MAX = 0.02;
  private static final int MEMORY_SERVERS = 4;

  @Spec private CommandSpec spec;
  @Mixin private LoadOptions loadOptions;

  @Option(
      names = "--churn",
      paramLabel = "N",
      defaultValue = "10M",
      converter = Quantity.class,
      description = "Records to insert and remove (default: ${DEFAULT-VALUE}).")
  private long churned;

  @Mixin private ChosenIndex chosenIndex;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SettingOptions settingOptions;

  @Override
  public Integer call() {
    Ranges.check(spec, "--churn", churned, 1, Ledger.RECORDS_MAX);
    Churn.Space space = run();
    spec.commandLine()
        .getOut()
        .printf(
            "pool: %s with %s records, %s with %s more, %s without those again: %s%n",
            Numbers.bytes(space.loadedBytes()),
            Numbers.count(records()),
            Numbers.bytes(space.fullBytes()),
            Numbers.count(churned),
            Numbers.bytes(space.leftBytes()),
            Numbers.percent(space.growth()));
    return space.growth() <= GROWTH_MAX ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private Churn.Space run() {
    long records = records();
    try (IndexSubject subject = Ranges.accepted(spec, this::open)) {
      Records supply = loadOptions.keys().records(records, loadOptions.seed());
      Churn churn = new Churn(subject.index(), supply, records, churned);
      return Ranges.accepted(spec, () -> load(churn)).run();
    }
  }

  private Churn load(Churn churn) {
    churn.load(loadOptions.fill());
    return churn;
  }

  private long records() {
    return loadOptions.records(1, true);
  }

  private IndexSubject open() {
    long records = records();
    return IndexSubject.openLocal(
        chosenIndex.options(serverOptions, settingOptions, records),
        serverOptions.memoryServers(MEMORY_SERVERS),
        PoolSize.bytes(records, churned, loadOptions.fill()),
        loadOptions.seed());
  }
}
