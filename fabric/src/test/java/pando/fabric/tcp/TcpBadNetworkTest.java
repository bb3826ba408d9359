package pando.fabric.tcp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.NetworkMachine;
import pando.fabric.server.PoolOptions;

/** The contract over a network with delay and loss: each memory server on a machine of its own. */
@Tag("network")
@EnabledIfSystemProperty(
    named = NetworkMachine.PROPERTY,
    matches = "true",
    disabledReason = "needs the machines of testbed/network")
class TcpBadNetworkTest extends TcpFabricTest {
  @TempDir private Path directory;

  @Override
  protected Fabric open(PoolOptions options) throws IOException {
    Authentication token = TestFiles.token(directory, "Sixteen bytes, or more.").onTrustedNetwork();
    return open(options, token, token);
  }

  @Override
  protected TcpMemoryServer start(int number, PoolOptions options, Authentication authentication) {
    NetworkMachine machine = new NetworkMachine(number + 1);
    return machine.run(() ->
        TcpMemoryServer.start(
            new InetSocketAddress(machine.address(), 0), number, options, authentication));
  }

  @Override
  protected int tries(int inMemory) {
    return Math.max(50, inMemory / 1_000);
  }

  @Override
  protected int manyWorkers() {
    return 40;
  }
}
