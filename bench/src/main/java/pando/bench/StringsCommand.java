package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.bench.BenchChoices.Peer;
import pando.bench.strings.FileKeys;
import pando.bench.strings.LoadedStrings;
import pando.bench.strings.MadeIds;
import pando.bench.strings.StringKeySet;
import pando.bench.strings.StringTrial;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures an index of byte strings. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "bench-strings",
    description = {
      "Loads strings with values of 8 bytes into an index of byte strings, and into a"
          + " ConcurrentSkipListMap<String, Long> in the order of keys; runs Zipfian operations of"
          + " one thread in both, in turns, and checks each answer."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class StringsCommand implements Callable<Integer> {
  private static final long RECORDS_MAX = 1L << 31;

  /** Above 1, where little data is in a cache of labels that has its least size. */
  private static final int CACHE_SHARE_MAX = 1_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--keys-file",
      paramLabel = "FILE",
      description =
          "Keys: the lines of a file, such as paths or words; where more records are wanted, copies"
              + " with numbers before them. Without a file, ids of 40 hexadecimal digits.")
  private @Nullable Path file;

  @Option(
      names = "--records",
      paramLabel = "N",
      converter = Quantity.class,
      description = "Records to load (default: 2M, or the lines of the file).")
  private @Nullable Long records;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "2M",
      converter = Quantity.class,
      description =
          "Operations of each kind, after as many that warm up (default: ${DEFAULT-VALUE}).")
  private long operations;

  @Option(
      names = "--cache-share",
      paramLabel = "SHARE",
      defaultValue = "0.08",
      description =
          "Local memory as a share of the bytes of keys and values: directory, records, blocks and"
              + " labels together. If the directory and the labels of few records take more, there"
              + " is no cache of records and blocks (default: ${DEFAULT-VALUE}).")
  private double cacheShare;

  @Option(
      names = "--record-share",
      paramLabel = "SHARE",
      defaultValue = "0.75",
      description =
          "Of what directory and labels leave, the share for single records; the rest is for whole"
              + " blocks (default: ${DEFAULT-VALUE}).")
  private double recordShare;

  @Option(
      names = "--fill",
      paramLabel = "SHARE",
      defaultValue = "0.9",
      description = "Share of each block that the load fills (default: ${DEFAULT-VALUE}).")
  private double fill;

  @Option(
      names = "--theta",
      paramLabel = "SKEW",
      defaultValue = "0.99",
      description = "Skew of the operations, 0 for none (default: ${DEFAULT-VALUE}).")
  private double theta;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      defaultValue = "skiplist-sorted",
      converter = BenchChoices.PeerConverter.class,
      description = "What to compare with: skiplist-sorted or none (default: ${DEFAULT-VALUE}).")
  private Peer peer;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the operations (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Override
  public Integer call() throws IOException {
    check();
    StringKeySet keys = keys();
    boolean withPeer = peer != Peer.NONE;
    try (LoadedStrings loaded =
            Ranges.accepted(spec, () -> LoadedStrings.of(keys, fill, cacheShare, recordShare));
        StringTrial trial = new StringTrial(loaded, keys, theta, seed, withPeer)) {
      PrintWriter out = spec.commandLine().getOut();
      print(out, keys, loaded);
      TextTable table =
          new TextTable(
              1,
              List.of("", "Mops", "skip list", "ratio", "READs", "WRITEs", "bytes a READ", "hits"));
      for (double updates : new double[] {0, 0.5}) {
        trial.run("warm-up", operations, updates);
        String name = updates == 0 ? "lookups" : "half updates";
        add(table, name, trial.run(name, operations, updates), withPeer);
      }
      out.print(table);
      out.flush();
    }
    return 0;
  }

  private void check() {
    Ranges.check(spec, "--records", records == null ? 1 : records, 1, RECORDS_MAX);
    Ranges.check(spec, "--operations", operations, 1, Long.MAX_VALUE);
    Ranges.check(spec, "--theta", theta >= 0 && theta < 10, theta, "least=0, below 10");
    Ranges.check(spec, "--fill", fill > 0 && fill <= 1, fill, "above 0, greatest=1");
    boolean hasCache = cacheShare >= 0 && cacheShare <= CACHE_SHARE_MAX;
    Ranges.check(
        spec, "--cache-share", hasCache, cacheShare, "least=0, greatest=" + CACHE_SHARE_MAX);
    boolean isShare = recordShare >= 0 && recordShare <= 1;
    Ranges.check(spec, "--record-share", isShare, recordShare, "least=0, greatest=1");
    if (peer != Peer.NONE && peer != Peer.SKIPLIST_SORTED) {
      throw new ParameterException(
          spec.commandLine(), "--peer is skiplist-sorted or none here: peer=" + peer);
    }
    if (file != null && !Files.isRegularFile(file)) {
      throw new ParameterException(spec.commandLine(), file + ": not a file");
    }
  }

  private StringKeySet keys() throws IOException {
    if (file == null) {
      return new MadeIds(records == null ? 2_000_000 : records);
    }
    return new FileKeys(file, records == null ? 0 : records);
  }

  private static void print(PrintWriter out, StringKeySet keys, LoadedStrings loaded) {
    long data = loaded.dataBytes();
    long directory = loaded.index().directoryBytes();
    out.printf(
        "%s keys, %s bytes each: %s of keys and values, %s in the pool%n",
        Numbers.count(keys.count()),
        Numbers.decimal((double) data / keys.count() - Long.BYTES, 1),
        Numbers.bytes(data),
        Numbers.bytes(loaded.poolBytes()));
    out.printf(
        "local memory: directory %s, %s of the data, for %s blocks; records and blocks %s%n%n",
        Numbers.bytes(directory),
        Numbers.decimal(100.0 * directory / data, 2) + " %",
        Numbers.count(loaded.index().blocks()),
        Numbers.bytes(loaded.cacheBytes()));
    out.flush();
  }

  private static void add(
      TextTable table, String name, StringTrial.Result result, boolean withPeer) {
    double reads = (double) result.verbs().reads / result.operations();
    double writes = (double) result.verbs().writes / result.operations();
    double bytes = (double) result.verbs().bytesIn / Math.max(result.verbs().reads, 1);
    table.add(
        List.of(
            name,
            Numbers.decimal(result.mops(), 3),
            withPeer ? Numbers.decimal(result.peerMops(), 3) : "",
            withPeer ? Numbers.decimal(result.mops() / result.peerMops(), 2) : "",
            Numbers.decimal(reads, 4),
            Numbers.decimal(writes, 4),
            Numbers.decimal(bytes, 0),
            Numbers.percent(1 - Math.min(reads, 1))));
  }
}
