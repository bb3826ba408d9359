package pando.sim;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import pando.fabric.server.CallHandler;
import pando.fabric.server.PoolOptions;
import pando.sim.fault.Fault;

/**
 * The shape of a simulated cluster. Start from {@link #defaults()} and change what differs.
 *
 * @param computeServers 1 to {@link #COMPUTE_SERVERS_MAX}
 * @param pool memory servers, their memory, processor threads and handlers
 * @param sharedCards whether compute server i and memory server i share a network card
 * @param network what is between them
 * @param model costs in virtual time
 * @param faults that may strike
 * @param crashesMax how many machines of compute servers {@link Fault#CRASH_COMPUTE} strikes at
 *     most
 * @param yieldShare share, 0 to 1, of the transitions of a local lock or cache at which a client
 *     yields to others
 * @param seed start of all randomness
 */
public record ClusterOptions(
    int computeServers,
    PoolOptions pool,
    boolean sharedCards,
    NetworkKind network,
    ClusterModel model,
    Set<Fault> faults,
    int crashesMax,
    double yieldShare,
    long seed) {

  /** Maximum number of compute servers of a cluster. */
  public static final int COMPUTE_SERVERS_MAX = 64;

  private static final ClusterOptions DEFAULTS =
      new ClusterOptions(
          4,
          PoolOptions.defaults(),
          true,
          NetworkKind.CARDS,
          ClusterModel.defaults(),
          EnumSet.noneOf(Fault.class),
          1,
          0,
          1);

  /** Checks each range. */
  public ClusterOptions {
    if (computeServers < 1 || computeServers > COMPUTE_SERVERS_MAX) {
      throw new IllegalArgumentException(
          "out of range: computeServers="
              + computeServers
              + ", minimum=1, maximum="
              + COMPUTE_SERVERS_MAX);
    }
    if (!(yieldShare >= 0 && yieldShare <= 1)) {
      throw new IllegalArgumentException("out of range, 0 to 1: yieldShare=" + yieldShare);
    }
    faults = Set.copyOf(faults);
  }

  /** Four memory and four compute servers that share cards two by two, without faults. */
  public static ClusterOptions defaults() {
    return DEFAULTS;
  }

  /** Returns these options with other numbers of servers. */
  public ClusterOptions withServers(int compute, int memory) {
    return new ClusterOptions(
        compute,
        pool.withMemoryServers(memory),
        sharedCards,
        network,
        model,
        faults,
        crashesMax,
        yieldShare,
        seed);
  }

  /** Returns these options with another size of each memory server. */
  public ClusterOptions withBytesPerServer(long bytes) {
    return with(pool.withBytesPerServer(bytes));
  }

  /** Returns these options with another chunk size. */
  public ClusterOptions withChunkBytes(int bytes) {
    return with(pool.withChunkBytes(bytes));
  }

  /** Returns these options with another number of processor threads per memory server. */
  public ClusterOptions withProcessorThreads(int threads) {
    return with(pool.withProcessorThreads(threads));
  }

  /** Returns these options with other handlers of CALLs. */
  public ClusterOptions withHandlers(List<CallHandler> handlers) {
    return with(pool.withHandlers(handlers));
  }

  private ClusterOptions with(PoolOptions other) {
    return new ClusterOptions(
        computeServers, other, sharedCards, network, model, faults, crashesMax, yieldShare, seed);
  }

  /** Returns these options with cards shared or not. */
  public ClusterOptions withSharedCards(boolean shared) {
    return new ClusterOptions(
        computeServers, pool, shared, network, model, faults, crashesMax, yieldShare, seed);
  }

  /** Returns these options with another network. */
  public ClusterOptions withNetwork(NetworkKind other) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, other, model, faults, crashesMax, yieldShare, seed);
  }

  /** Returns these options with another model. */
  public ClusterOptions withModel(ClusterModel other) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, network, other, faults, crashesMax, yieldShare, seed);
  }

  /** Returns these options with other faults. */
  public ClusterOptions withFaults(Set<Fault> other) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, network, model, other, crashesMax, yieldShare, seed);
  }

  /** Returns these options with other numbers of machines that crash. */
  public ClusterOptions withCrashesMax(int most) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, network, model, faults, most, yieldShare, seed);
  }

  /** Returns these options with another share of transitions at which a client yields. */
  public ClusterOptions withYieldShare(double share) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, network, model, faults, crashesMax, share, seed);
  }

  /** Returns these options with another seed. */
  public ClusterOptions withSeed(long other) {
    return new ClusterOptions(
        computeServers, pool, sharedCards, network, model, faults, crashesMax, yieldShare, other);
  }
}
