package pando.bench;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import pando.bench.records.Ledger;
import pando.bench.records.Records;
import pando.bench.run.Churn;
import pando.bench.run.ValueChurn;
import pando.bench.subject.BlobStore;
import pando.bench.subject.ByteStore;
import pando.bench.subject.IndexSubject;
import pando.bench.subject.PoolSize;
import pando.bench.subject.ValueStore;
import pando.cli.option.ChosenIndex;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.option.ServerOptions;
import pando.cli.option.SettingOptions;
import pando.cli.text.Numbers;
import pando.cli.text.SpaceTable;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Checks that the space of removed records is reused. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "churn",
    description = {
      "Loads records, inserts others and removes those again, and compares the bytes of the pool"
          + " that hold nodes, at last when the index is closed. Fails where they grow by more"
          + " than 2 %%.",
      "With --value-bytes, puts and removes values of random lengths, and compares the pool with"
          + " one into which the same entries were put in the order of their keys."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class ChurnCommand implements Callable<Integer> {
  private static final double GROWTH_MAX = 0.02;
  private static final int MEMORY_SERVERS = 4;

  /** Values have as many sizes as this many compute servers have sizes of nodes. */
  private static final int COMPUTE_SERVERS = 16;

  @Spec private CommandSpec spec;
  @Mixin private LoadOptions loadOptions;

  @Option(
      names = "--churn",
      paramLabel = "N",
      defaultValue = "10M",
      converter = Quantity.class,
      description =
          "Records to insert and remove, or puts and removals of values (default:"
              + " ${DEFAULT-VALUE}).")
  private long churned;

  @Option(
      names = "--value-bytes",
      paramLabel = "LEAST..MOST",
      converter = LengthRange.Converter.class,
      description =
          "Lengths of values, such as 0..4000. About --records entries are there at a time.")
  private @Nullable LengthRange valueBytes;

  @Option(
      names = "--byte-keys",
      description = "With --value-bytes: an index of byte strings in place of --index.")
  private boolean byteKeys;

  @Option(
      names = "--stat",
      description = "With --value-bytes: says after the changes where every byte of the pool is.")
  private boolean stat;

  @Mixin private ChosenIndex chosenIndex;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SettingOptions settingOptions;

  @Override
  public Integer call() {
    Ranges.check(spec, "--churn", churned, 1, Ledger.RECORDS_MAX);
    if (valueBytes == null && (byteKeys || stat)) {
      throw new ParameterException(
          spec.commandLine(), "--byte-keys and --stat go with --value-bytes");
    }
    return valueBytes == null ? churnRecords() : churnValues(valueBytes);
  }

  private int churnRecords() {
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
    IndexOptions index = chosenIndex.options(serverOptions, settingOptions, records);
    return IndexSubject.openLocal(
        index,
        serverOptions.memoryServers(MEMORY_SERVERS),
        PoolSize.of(index, records, churned, loadOptions.fill()),
        loadOptions.seed());
  }

  private int churnValues(LengthRange lengths) {
    long count = records();
    Ranges.check(spec, "--records", count, 1, ValueChurn.PRESENT_MAX);
    int present = (int) count;
    Records supply = loadOptions.keys().records(2L * present, loadOptions.seed());
    ValueChurn churn =
        new ValueChurn(supply, present, (int) churned, lengths.least(), lengths.most());
    ValueChurn.Space space = churn.run(() -> openValues(present, lengths), this::inspect);
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "%s entries with %s of values after %s changes%n",
        Numbers.count(space.entries()), Numbers.bytes(space.valueBytes()), Numbers.count(churned));
    print(out, "bytes in use", ValueChurn.Taken::usedBytes, space);
    print(out, "in chunks that are taken", ValueChurn.Taken::takenBytes, space);
    out.flush();
    double growth =
        Math.max(
            space.growth(ValueChurn.Taken::usedBytes), space.growth(ValueChurn.Taken::takenBytes));
    return growth <= GROWTH_MAX ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private static void print(
      PrintWriter out,
      String what,
      ToLongFunction<ValueChurn.Taken> bytes,
      ValueChurn.Space space) {
    out.printf(
        "%s: %s left, %s fresh: %s%n",
        what,
        Numbers.bytes(bytes.applyAsLong(space.left())),
        Numbers.bytes(bytes.applyAsLong(space.fresh())),
        Numbers.percent(space.growth(bytes)));
  }

  private void inspect(ValueStore map) {
    if (stat) {
      spec.commandLine().getOut().printf("%s%n", SpaceTable.of(map.space()));
    }
  }

  private ValueChurn.Subject openValues(int present, LengthRange lengths) {
    int memoryServers = serverOptions.memoryServers(MEMORY_SERVERS);
    long bytes = PoolSize.bytes(2L * present, 0, loadOptions.fill());
    long bytesPerServer =
        PoolSize.bytesPerServer(
            bytes + (long) present * (lengths.most() + 64), memoryServers, COMPUTE_SERVERS);
    Fabric fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(memoryServers)
                .withBytesPerServer(bytesPerServer)
                .withSeed(loadOptions.seed())
                .withHandlers(Systems.handlers()));
    try {
      return new ValueChurn.Subject(fabric, store(fabric, present));
    } catch (Throwable e) {
      fabric.close();
      throw e;
    }
  }

  private ValueStore store(Fabric fabric, int present) {
    if (byteKeys) {
      return new ByteStore(fabric, ByteOptions.defaults());
    }
    IndexOptions options = chosenIndex.options(serverOptions, settingOptions, present);
    return new BlobStore(fabric, options.create(fabric));
  }
}
