package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;

/** What is found out when a compute server attaches; only where there is a card. */
@Timeout(300)
@Tag(TestCards.TAG)
class CardAttachTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(16 << 20);

  private String card = "";

  @BeforeEach
  void findCard() {
    card = TestCards.first();
  }

  @Test
  void shouldSayWhatTheOperatorKnows() {
    try (TcpMemoryServer server =
            VerbsMemoryServer.start(ANY, 0, POOL, Authentication.none(), card);
        Fabric fabric = attach(server, CardOptions.defaults().withLineAtomicity(64))) {
      assertThat(fabric.capabilities().atomicityBytes()).isEqualTo(64);
    }
  }

  @Test
  void shouldRefuseAMemoryServerWithoutACard() {
    try (TcpMemoryServer server = TcpMemoryServer.start(ANY, 0, POOL)) {
      assertThatThrownBy(() -> attach(server, CardOptions.defaults()))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("server=0");
    }
  }

  @Test
  void shouldRefuseACasOf16Bytes() {
    try (TcpMemoryServer server =
            VerbsMemoryServer.start(ANY, 0, POOL, Authentication.none(), card);
        Fabric fabric = attach(server, CardOptions.defaults());
        RegisteredMemory memory = fabric.register(128);
        Worker worker = fabric.worker(memory)) {
      assertThat(fabric.capabilities().cas16()).isFalse();
      VerbList verbs = new VerbList().faa(64, 1, 0).maskedCas16(128, 16);
      assertThatThrownBy(() -> worker.post(verbs))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("cas16");
      assertThat(worker.faa(64, 0)).isZero();
    }
  }

  private Fabric attach(TcpMemoryServer server, CardOptions options) {
    return VerbsFabric.attach(List.of(server.address()), 1, TcpOptions.defaults(), card, options);
  }
}
