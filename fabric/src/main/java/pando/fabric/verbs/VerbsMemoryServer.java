package pando.fabric.verbs;

import java.net.InetSocketAddress;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;

/**
 * A memory server in this process whose memory compute servers reach by RDMA. It listens by TCP as
 * well, where compute servers prove who they are and learn how to reach the memory; a compute
 * server without a card can use it by TCP alone.
 *
 * <p>The keys that its clients learn pass the network in clear, and no card proves where a packet
 * comes from: for a network of its own.
 */
public final class VerbsMemoryServer {
  private VerbsMemoryServer() {}

  /**
   * Starts a memory server.
   *
   * @param address where it listens by TCP; port 0 takes a free one
   * @param number its number in the fabric
   * @param options size of the pool, which is locked in memory, and handlers
   * @param authentication what clients have to prove, and this memory server to them
   * @param card name of the card, see {@link Cards#names}
   * @throws VerbsException if the card cannot be used, or refuses the memory
   * @throws pando.fabric.tcp.TcpException if the system refuses to listen there
   */
  public static TcpMemoryServer start(
      InetSocketAddress address,
      int number,
      PoolOptions options,
      Authentication authentication,
      String card) {
    return TcpMemoryServer.start(
        address,
        number,
        options,
        authentication,
        memory -> new MemoryCard(card, memory, options.processorThreads()));
  }
}
