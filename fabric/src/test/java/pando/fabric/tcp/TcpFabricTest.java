package pando.fabric.tcp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.server.PoolOptions;

/** The memory servers live in this process too, but are reached by TCP. */
class TcpFabricTest extends FabricContract {
  private final List<TcpMemoryServer> servers = new ArrayList<>();
  private List<InetSocketAddress> addresses = List.of();
  private TcpOptions fabricOptions = TcpOptions.defaults();

  @Override
  protected Fabric open(PoolOptions options) throws Exception {
    return open(options, Authentication.none(), Authentication.none());
  }

  /** Starts memory servers and joins them, each side with its authentication. */
  protected final Fabric open(
      PoolOptions options, Authentication ofServers, Authentication ofFabric) {
    addresses = new ArrayList<>();
    for (int i = 0; i < options.memoryServers(); i++) {
      servers.add(start(i, options, ofServers));
      addresses.add(servers.get(i).address());
    }
    fabricOptions =
        TcpOptions.defaults().withAuthentication(ofFabric).withFencing(fencing(ofFabric));
    return TcpFabric.attach(addresses, options.seed(), fabricOptions);
  }

  /** Starts a memory server. */
  protected TcpMemoryServer start(int number, PoolOptions options, Authentication authentication) {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    return TcpMemoryServer.start(any, number, options, authentication);
  }

  /** Returns how a fabric proves that it may fence. */
  protected Authentication fencing(Authentication ofFabric) {
    return ofFabric;
  }

  @Override
  protected Fabric openAs(ComputeServer computeServer) {
    return TcpFabric.attach(addresses, 1, fabricOptions.withComputeServer(computeServer));
  }

  @Override
  protected boolean remoteProcessor() {
    return true;
  }

  @Override
  protected int tries(int inMemory) {
    return inMemory / 20;
  }

  @Override
  protected void stop() {
    servers.forEach(TcpMemoryServer::close);
  }
}
