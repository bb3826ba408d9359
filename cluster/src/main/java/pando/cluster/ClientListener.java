package pando.cluster;

import java.net.InetSocketAddress;
import pando.client.server.ClientService;
import pando.fabric.tcp.Authentication;

/**
 * Where a compute server serves clients.
 *
 * @param address to listen on, as clients reach it; port 0 takes a free one
 * @param authentication what clients have to prove, and this server to them
 * @param lanes threads that serve them, 1 to {@value ClientService#LANES_MAX}
 */
public record ClientListener(InetSocketAddress address, Authentication authentication, int lanes) {
  /**
   * Checks what can be known before.
   *
   * @throws IllegalArgumentException if the address stands for all of this machine, the
   *     authentication does not suffice for it, or there cannot be so many lanes
   */
  public ClientListener {
    Machine.checkReachable(address);
    authentication.checkAddress(address);
    if (lanes < 1 || lanes > ClientService.LANES_MAX) {
      throw new IllegalArgumentException(
          "out of range: lanes=" + lanes + ", least=1, greatest=" + ClientService.LANES_MAX);
    }
  }
}
