package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.AllocatedBytes;
import pando.fabric.Fabric;
import pando.fabric.TestHandlers;
import pando.fabric.server.PoolOptions;

/** Verbs over TCP allocate nothing, neither where they are sent nor where they are served. */
@Timeout(120)
class TcpAllocationTest {
  @Tag("campaign")
  @Test
  void shouldAllocateNothingForVerbs() throws ReflectiveOperationException {
    PoolOptions pool = PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpMemoryServer server =
            TcpMemoryServer.start(anyPort, 0, pool.withHandlers(TestHandlers.all()));
        Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults())) {
      // One object a verb would be 16 bytes.
      assertThat(AllocatedBytes.ofAVerb(fabric, 5_000)).isLessThan(4);
    }
  }
}
