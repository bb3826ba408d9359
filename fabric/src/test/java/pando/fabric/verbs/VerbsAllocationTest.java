package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.AllocatedBytes;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;

/** Verbs by a card allocate nothing; only where there is a card. */
@Timeout(120)
@Tag(TestCards.TAG)
class VerbsAllocationTest {
  @Test
  void shouldAllocateNothingForVerbs() throws ReflectiveOperationException {
    String card = TestCards.first();
    PoolOptions pool = PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpMemoryServer server =
            VerbsMemoryServer.start(anyPort, 0, pool, Authentication.none(), card);
        Fabric fabric =
            VerbsFabric.attach(List.of(server.address()), 1, TcpOptions.defaults(), card)) {
      double bytes = AllocatedBytes.ofAVerb(fabric, 1_000);
      System.out.println("bytes allocated a verb: " + bytes);
      // One object a verb would be 16 bytes.
      assertThat(bytes).isLessThan(4);
    }
  }
}
