package pando.fabric.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;

/** Only where there is a card; the machine of the test bed has one. */
@Tag(TestCards.TAG)
class VerbsFabricTest extends FabricContract {
  private final List<TcpMemoryServer> servers = new ArrayList<>();
  private final List<InetSocketAddress> addresses = new ArrayList<>();
  private static String card = "";

  @BeforeAll
  static void findCard() {
    card = TestCards.first();
  }

  @Override
  protected Fabric open(PoolOptions options) {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    for (int i = 0; i < options.memoryServers(); i++) {
      servers.add(VerbsMemoryServer.start(any, i, options, Authentication.none(), card));
      addresses.add(servers.get(i).address());
    }
    return VerbsFabric.attach(addresses, options.seed(), TcpOptions.defaults(), card);
  }

  @Override
  protected Fabric openAs(ComputeServer computeServer) {
    TcpOptions options = TcpOptions.defaults().withComputeServer(computeServer);
    return VerbsFabric.attach(addresses, 1, options, card);
  }

  @Override
  protected boolean cas16() {
    return false;
  }

  @Override
  protected boolean endsLists() {
    return true;
  }

  @Override
  protected int tries(int inMemory) {
    return inMemory / (Boolean.getBoolean("pando.soak") ? 50 : 200);
  }

  @Override
  protected int manyWorkers() {
    return 40;
  }

  @Override
  protected void stop() {
    servers.forEach(TcpMemoryServer::close);
  }
}
