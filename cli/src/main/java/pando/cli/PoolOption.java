package pando.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Quantity;
import pando.cli.option.Ranges;
import pando.cli.option.ServedIndex;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options that say where the pool of an index that is served is. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class PoolOption {
  private static final String LOCAL = "local:";
  private static final String SHM = "shm:";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--pool",
      paramLabel = "POOL",
      defaultValue = LOCAL,
      description = {
        "Where the memory servers are (default: ${DEFAULT-VALUE}).",
        "local: in this process.",
        "shm:NAME[,NAME...]: processes of this machine, see pando memory-server. An index that"
            + " they have already is opened."
      })
  private String pool;

  @Option(
      names = "--memory-servers",
      paramLabel = "N",
      description = "With a local pool, memory servers (default: 4).")
  private @Nullable Integer memoryServers;

  @Option(
      names = "--bytes-per-server",
      paramLabel = "SIZE",
      converter = Quantity.class,
      description =
          "With a local pool, bytes of each memory server, taken as they are used (default:"
              + " together half of the memory of the machine or container).")
  private @Nullable Long bytesPerServer;

  /** Returns whether its memory servers are in this process. */
  boolean isLocal() {
    return pool.equals(LOCAL);
  }

  /**
   * Opens the pool.
   *
   * @throws IllegalArgumentException if there is no such pool
   */
  Fabric open() {
    PoolOptions options = PoolOptions.defaults().withHandlers(Systems.handlers());
    if (pool.startsWith(SHM)) {
      boolean isLocal = memoryServers != null || bytesPerServer != null;
      Ranges.check(
          spec,
          "--pool",
          !isLocal,
          pool,
          "--memory-servers and --bytes-per-server are for a local pool");
      return ShmFabric.attach(List.of(pool.substring(SHM.length()).split(",", -1)), options.seed());
    }
    if (!isLocal()) {
      throw new IllegalArgumentException(
          "no such pool: pool=" + pool + ", known: local: and shm:NAME[,NAME...]");
    }
    if (memoryServers != null) {
      options = options.withMemoryServers(memoryServers);
    }
    return LocalFabric.open(
        bytesPerServer == null
            ? options.withBytes(PoolOptions.bytesOfThisMachine())
            : options.withBytesPerServer(bytesPerServer));
  }

  /** Returns the options of byte strings with a cache; {@code null} for that of this machine. */
  ByteOptions stringOptions(@Nullable Long cache) {
    long bytes = cache == null ? IndexOptions.cacheBytesOfThisMachine() : cache;
    return ServedIndex.cached(spec, ByteOptions.defaults(), bytes);
  }

  /** Prints that the command ends, in order, and what becomes of what was stored. */
  void printEnding() {
    Ending.print(
        spec,
        isLocal()
            ? "its pool is in this process, and what was stored there is lost"
            : "what was acknowledged is written to the memory servers, which keep it");
  }

  /**
   * Makes an index of byte strings in the pool, or opens the one that is there.
   *
   * @throws IllegalArgumentException if the options make no sense there
   * @throws IllegalStateException if there is another index
   */
  ByteIndex strings(Fabric fabric, ByteOptions options) {
    try {
      return ByteIndex.create(fabric, options);
    } catch (IllegalStateException isThere) {
      if (isLocal()) {
        throw isThere;
      }
      return ByteIndex.open(fabric, options);
    }
  }

  /** Returns the pool as it was given. */
  @Override
  public String toString() {
    return pool;
  }
}
