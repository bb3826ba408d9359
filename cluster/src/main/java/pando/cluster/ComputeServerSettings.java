package pando.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.index.ServedOptions;

/**
 * What a compute server is started with.
 *
 * @param number its number, 0 to 63
 * @param options of the index
 * @param config what it expects of the cluster; the first compute server writes it
 * @param pool connects to the memory servers
 * @param clients where it serves clients, if it does
 * @param startWait for each: its number, memory servers, an index, fences
 * @param coordinatorWait it ends when the coordinator does not answer for so long
 */
public record ComputeServerSettings(
    int number,
    ServedOptions options,
    Config config,
    Pool pool,
    Optional<ClientListener> clients,
    Duration startWait,
    Duration coordinatorWait) {
  /** Connects to memory servers. */
  public interface Pool {
    /**
     * Connects.
     *
     * @param memoryServers in the order of their numbers
     * @param name of the compute server, to be fenced by
     */
    Fabric attach(List<PoolEntry> memoryServers, ComputeServer name);
  }

  /**
   * Checks the number, and that the index is one whose ranges move.
   *
   * @throws IllegalArgumentException if they are not
   */
  public ComputeServerSettings {
    if (number < 0 || number > Member.NUMBER_MAX) {
      throw new IllegalArgumentException(
          "no number of a compute server: number=" + number + ", maximum=" + Member.NUMBER_MAX);
    }
    if (!options.hasMovablePartitions()) {
      throw new IllegalArgumentException(
          "a cluster needs an index whose ranges move: system=" + options.system());
    }
    options.check();
  }
}
