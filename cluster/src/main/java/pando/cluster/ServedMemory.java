package pando.cluster;

import pando.fabric.tcp.TcpMemoryServer;

/** The memory server of a {@link MemoryServerProcess}. The simulator has another one. */
public interface ServedMemory extends AutoCloseable {
  /**
   * Returns a memory server that listens for compute servers.
   *
   * @throws IllegalArgumentException if others cannot connect to its address
   */
  static ServedMemory of(TcpMemoryServer server) {
    Machine.checkReachable(server.address());
    return new TcpServedMemory(server);
  }

  /** Returns where compute servers find it. */
  String place();

  /** Refuses the lower epochs of a compute server, as {@link TcpMemoryServer#fence} does. */
  void fence(int computeServer, long leastEpoch);

  /** Waits until it is closed. */
  void awaitClosed() throws InterruptedException;

  /** Ends it, with its memory. A second call does nothing. */
  @Override
  void close();
}
