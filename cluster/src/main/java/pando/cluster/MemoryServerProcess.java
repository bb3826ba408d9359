package pando.cluster;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;

/**
 * A memory server of a cluster: serves by TCP, and says in the coordinator where it is. It serves
 * on while the coordinator does not answer, and needs it for nothing else.
 */
public final class MemoryServerProcess implements AutoCloseable {
  private final TcpMemoryServer server;

  private MemoryServerProcess(TcpMemoryServer server) {
    this.server = server;
  }

  /**
   * Starts a memory server.
   *
   * @param state of the cluster
   * @param number its place among the memory servers, from 0
   * @param address to listen on, as others reach it; port 0 takes a free one
   * @param pool size and processors
   * @param authentication of those that connect
   * @param wait longest wait for an earlier process of the same number to be known as ended
   * @throws ClusterException if another one has the number, or had it when the index was made: its
   *     memory is gone, and this one cannot replace it
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  public static MemoryServerProcess start(
      ClusterState state,
      int number,
      InetSocketAddress address,
      PoolOptions pool,
      Authentication authentication,
      Duration wait) {
    Optional<ClusterState.Versioned<PoolEntry>> before = awaitFree(state, number, wait);
    TcpMemoryServer server = TcpMemoryServer.start(address, number, pool, authentication);
    try {
      announce(state, number, server.address(), pool, before);
      return new MemoryServerProcess(server);
    } catch (Throwable e) {
      server.close();
      throw e;
    }
  }

  private static Optional<ClusterState.Versioned<PoolEntry>> awaitFree(
      ClusterState state, int number, Duration wait) {
    Waiting.until(
        state.membership(),
        wait,
        () -> state.memoryServers().stream().noneMatch(member -> member.number() == number),
        () -> "another memory server has this number: " + state.memoryServers());
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

  private static void announce(
      ClusterState state,
      int number,
      InetSocketAddress at,
      PoolOptions pool,
      Optional<ClusterState.Versioned<PoolEntry>> before) {
    long incarnation = new SecureRandom().nextLong();
    Member member = Machine.member(number, incarnation, at).withState(ServerState.SERVING);
    PoolEntry entry =
        new PoolEntry(
            number, incarnation, member.address(), pool.bytesPerServer(), ServerState.SERVING);
    if (!state.announceMemory(member, entry, before)) {
      throw new ClusterException(
          "another memory server took this number meanwhile: " + List.of(member));
    }
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return server.address();
  }

  /** Waits until it is closed. */
  public void awaitClosed() throws InterruptedException {
    server.awaitClosed();
  }

  /** Ends it, with its memory. */
  @Override
  public void close() {
    server.close();
  }
}
