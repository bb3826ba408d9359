package pando.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.server.ClientService;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.local.LocalPool;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.index.Pools;
import pando.index.Session;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOptions;

/** Which compute servers a client has write what they have changed. */
@Timeout(60)
class ClientFlushTest {
  private static final int SERVERS = 3;
  private static final DexOptions OPTIONS =
      DexOptions.defaults()
          .with("write-back-interval", "0")
          .with("offloading", "off")
          .with("admission", "1")
          .withComputeServers(SERVERS);
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final LocalPool pool = LocalPool.start(Pools.options(16 << 20).withMemoryServers(2));
  private final List<DexIndex> indexes = new ArrayList<>();
  private final List<ClientService> services = new ArrayList<>();

  private void start(int number) {
    Fabric fabric = pool.attach(new ComputeServer(number, 1), 1);
    DexIndex index =
        number == 0 ? OPTIONS.createAt(fabric, number) : OPTIONS.joinAt(fabric, number);
    indexes.add(index);
    services.add(
        ClientService.start(
            index,
            FREE_PORT,
            Authentication.none(),
            () ->
                Routes.of(
                    index.partitioning(), owner -> Optional.of(DexPair.text(services.get(owner)))),
            1));
  }

  @AfterEach
  void close() {
    Closing.all(services.stream().<Runnable>map(service -> service::close).toList());
    Closing.all(indexes.reversed().stream().<Runnable>map(index -> index::close).toList());
    pool.close();
  }

  /** The one that it asks for routes does not know that another has given keys away. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void shouldReachAComputeServerOfWhichTheOneAskedDoesNotKnow(int askedBefore) {
    for (int number = 0; number < SERVERS; number++) {
      start(number);
    }
    assertThat(indexes.get(0).partitions().orElseThrow().addComputeServer(0, 1)).isTrue();
    indexes.get(1).partitions().orElseThrow().refreshPartitions();
    try (PandoClient client =
        PandoClient.connect(DexPair.text(services.get(0)), ClientOptions.defaults())) {
      for (int i = 0; i < askedBefore; i++) {
        client.flush();
      }
      assertThat(indexes.get(1).partitions().orElseThrow().addComputeServer(1, 2)).isTrue();
      DexIndex last = indexes.get(2);
      last.partitions().orElseThrow().refreshPartitions();
      try (Session session = last.session()) {
        session.put(Long.MAX_VALUE, 1);
      }
      assertThat(last.unwritten().bytes()).isPositive();
      client.flush();
      assertThat(last.unwritten().bytes()).isZero();
    }
  }
}
