package pando.cluster;

import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.TcpMemoryServer;

/**
 * A memory server of a cluster. It registers its address with the coordinator, and goes on serving
 * while that does not answer. If its session ends, it opens another one and registers again, as its
 * memory is still there. Where there are data folders, it begins a new pool if an earlier process
 * had its number, and ends when another memory server does that.
 */
public final class MemoryServerProcess implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(MemoryServerProcess.class.getName());

  /** Attempts to end a generation, which others change meanwhile. */
  private static final int ENDS_MAX = 10;

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final RenewedMembership membership;
  private final ServedMemory server;
  private final PoolEntry entry;
  private final Host.Signal changed;
  private final Thread keeper;
  private volatile boolean closed;
  private volatile boolean isOver;

  private MemoryServerProcess(
      Host host, RenewedMembership membership, ServedMemory server, PoolEntry entry) {
    this.membership = membership;
    this.server = server;
    this.entry = entry;
    this.changed = host.signal();
    this.keeper = host.newThread("pando-memory-member", this::keepAnnounced);
  }

  /**
   * Starts a memory server.
   *
   * @param sessions opens sessions with the coordinator
   * @param number its place among the memory servers, from 0
   * @param bytes for nodes
   * @param hasFolder whether it has a data folder
   * @param startWait longest wait for an earlier process of the same number to be known as ended
   * @param servers starts one of this number, at an address at which others reach it
   * @throws IllegalArgumentException if others cannot connect to the address
   * @throws WaitOverException if another one keeps the number
   * @throws ClusterException if an earlier one had the number when the index was made, whose memory
   *     is gone and, without data folders, cannot be replaced
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  public static MemoryServerProcess start(
      Supplier<Membership> sessions,
      int number,
      long bytes,
      boolean hasFolder,
      Duration startWait,
      Supplier<TcpMemoryServer> servers) {
    return start(
        Host.real(),
        sessions,
        number,
        bytes,
        hasFolder,
        startWait,
        new SecureRandom().nextLong(),
        () -> listening(servers));
  }

  private static ServedMemory listening(Supplier<TcpMemoryServer> servers) {
    TcpMemoryServer server = servers.get();
    try {
      return ServedMemory.of(server);
    } catch (Throwable e) {
      server.close();
      throw e;
    }
  }

  /**
   * Starts a memory server on a host; else as the other method.
   *
   * @param incarnation that no other memory server of the cluster has
   */
  public static MemoryServerProcess start(
      Host host,
      Supplier<Membership> sessions,
      int number,
      long bytes,
      boolean hasFolder,
      Duration startWait,
      long incarnation,
      Supplier<ServedMemory> servers) {
    RenewedMembership membership = new RenewedMembership(sessions);
    try {
      ClusterState state = new ClusterState(membership);
      Optional<ClusterState.Versioned<PoolEntry>> before =
          awaitPlace(host, state, number, startWait);
      ServedMemory server = servers.get();
      try {
        if (state.generation() > 0) {
          // Compute servers of the last generation must not reach the new memory.
          state.lastEpochs().forEach((compute, epoch) -> server.fence(compute, epoch + 1));
        }
        PoolEntry entry =
            new PoolEntry(
                number, incarnation, server.place(), bytes, hasFolder, ServerState.SERVING);
        if (!state.announceMemory(entry, before)) {
          throw new WaitOverException("the pool changed meanwhile; start again: " + entry);
        }
        MemoryServerProcess process = new MemoryServerProcess(host, membership, server, entry);
        process.keeper.start();
        return process;
      } catch (Throwable e) {
        server.close();
        throw e;
      }
    } catch (Throwable e) {
      membership.close();
      throw e;
    }
  }

  private static Optional<ClusterState.Versioned<PoolEntry>> awaitPlace(
      Host host, ClusterState state, int number, Duration startWait) {
    Waiting.until(
        host,
        state.membership(),
        startWait,
        () -> state.memoryServers().stream().noneMatch(member -> member.number() == number),
        () -> "another memory server has this number: " + state.memoryServers());
    endGenerationBefore(state, number);
    Optional<ClusterState.Versioned<PoolEntry>> before = state.poolEntry(number);
    if (before.isPresent() && state.config().isPresent()) {
      throw new ClusterException(
          "the memory of an earlier memory server of this number is gone, and the index needs it:"
              + " begin a new cluster, by another name: "
              + before.get().value());
    }
    if (before.isEmpty()
        && state.config().filter(config -> number >= config.memoryServers()).isPresent()) {
      throw new ClusterException(
          "the index was made without this memory server, and cannot take in further ones: number="
              + number);
    }
    return before;
  }

  /** Where there are data folders, a pool ends with any of its memory servers. */
  private static void endGenerationBefore(ClusterState state, int number) {
    for (int attempt = 0; attempt < ENDS_MAX; attempt++) {
      Optional<Config> config = state.config();
      boolean hasFolders = config.filter(found -> found.log() == LogMode.DATA).isPresent();
      // A pool that has no such entry is about to end, or needs no further memory server.
      boolean isOfPool = config.filter(found -> number < found.memoryServers()).isPresent();
      if (!hasFolders || !isOfPool) {
        return;
      }
      state.endGeneration(config.orElseThrow());
    }
  }

  private void keepAnnounced() {
    Runnable give = changed::give;
    membership.watch(give);
    try {
      while (!closed) {
        if (membership.status() == Membership.Status.LOST) {
          announceAgain();
        }
        endWithGeneration();
        changed.await(LOOK_NANOS);
      }
    } catch (InterruptedException e) {
      LOG.log(Level.DEBUG, "closed", e);
    } finally {
      membership.close();
    }
  }

  /** Ends the memory server if the pool that it belongs to has ended. */
  private void endWithGeneration() {
    try {
      isOver |= membership.status() == Membership.Status.CONNECTED && hasEnded(state());
    } catch (PandoException e) {
      LOG.log(Level.DEBUG, "it is looked again whether the generation has ended", e);
    }
    if (isOver && !closed) {
      LOG.log(
          Level.WARNING,
          "the pool does not have this memory server any more; start it again: " + entry);
      closed = true;
      server.close();
    }
  }

  private ClusterState state() {
    return new ClusterState(membership);
  }

  /** Returns whether the pool does not have this memory server any more. */
  private boolean hasEnded(ClusterState state) {
    return state
        .poolEntry(entry.number())
        .filter(found -> found.value().incarnation() == entry.incarnation())
        .isEmpty();
  }

  private void announceAgain() {
    try {
      if (membership.renew(this::announce)) {
        LOG.log(
            Level.WARNING,
            "the session with the coordinator had ended, and this memory server is announced again"
                + " with all that it holds; nothing is lost: "
                + entry);
      }
    } catch (PandoException e) {
      LOG.log(Level.DEBUG, "not announced yet, and will be tried again", e);
    }
  }

  /** Announces it again, unless another memory server has its place. */
  private boolean announce(ClusterState state) {
    fenceWhatWasFencedMeanwhile(state);
    Optional<ClusterState.Versioned<PoolEntry>> before = state.poolEntry(entry.number());
    isOver |= hasEnded(state);
    boolean announced = !isOver && state.announceMemory(entry, before);
    if (announced) {
      // A fence that began before did not see this memory server.
      fenceWhatWasFencedMeanwhile(state);
    }
    return announced;
  }

  /** This one counted as lost meanwhile, so there may be a fence that it does not know of. */
  private void fenceWhatWasFencedMeanwhile(ClusterState state) {
    state.lastEpochs().forEach(server::fence);
  }

  /** Returns whether it has ended as the pool does not have it any more: start it again. */
  public boolean isOver() {
    return isOver;
  }

  /** Returns its place among the memory servers, from 0. */
  public int number() {
    return entry.number();
  }

  /** Returns where compute servers find it. */
  public String place() {
    return server.place();
  }

  /** Waits until it has ended. */
  public void awaitEnd() throws InterruptedException {
    server.awaitClosed();
  }

  /** Ends it, with its memory. */
  @Override
  public void close() {
    closed = true;
    changed.give();
    Closing.all(server::close, () -> Closing.join(keeper));
  }
}
