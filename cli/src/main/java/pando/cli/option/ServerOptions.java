package pando.cli.option;

import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.server.PoolOptions;
import pando.index.IndexOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options for the servers of the cluster. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ServerOptions {
  /** Default number of compute servers. */
  public static final int COMPUTE_SERVERS = 4;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--compute-servers",
      paramLabel = "N",
      description =
          "Compute servers, each with a cache of its own (default: " + COMPUTE_SERVERS + ").")
  private @Nullable Integer computeServers;

  @Option(
      names = "--memory-servers",
      paramLabel = "N",
      description =
          "Memory servers, which hold the nodes (default: 4, or 2 in processes of their own).")
  private @Nullable Integer memoryServers;

  @Option(
      names = "--cache",
      paramLabel = "SIZE",
      defaultValue = "8%",
      split = ",",
      converter = CacheSize.Converter.class,
      description =
          "Cache of each compute server: a size such as 25600KiB, or a share of the records' bytes"
              + " such as 8%%, of 16 bytes each. Where no records are loaded, it is a share of"
              + " those that are inserted (when simulated, in the warm-up). A share is at least"
              + " what the index needs (default: ${DEFAULT-VALUE}).")
  private List<CacheSize> caches;

  /** Returns the number of compute servers if the option was given, else {@code otherwise}. */
  public int computeServers(int otherwise) {
    if (computeServers == null) {
      return otherwise;
    }
    Ranges.check(spec, "--compute-servers", computeServers, 1, IndexOptions.COMPUTE_SERVERS_MAX);
    return computeServers;
  }

  /** Returns the number of memory servers if the option was given, else {@code otherwise}. */
  public int memoryServers(int otherwise) {
    if (memoryServers == null) {
      return otherwise;
    }
    Ranges.check(spec, "--memory-servers", memoryServers, 1, PoolOptions.MEMORY_SERVERS_MAX);
    return memoryServers;
  }

  /** Returns the size of each cache, for a command that takes only one. */
  public CacheSize cache() {
    return Ranges.single(spec, "--cache", caches);
  }

  public List<CacheSize> caches() {
    return Ranges.several(spec, "--cache", caches);
  }
}
