package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.server.ClientService;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.local.LocalPool;
import pando.fabric.tcp.Authentication;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** What a session over the network answers, refuses, and costs. */
@Timeout(60)
class ClientSessionTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final NavigableMap<Long, Long> MODEL = Entries.spaced(3_000, 10);

  private LocalPool pool;
  private RangeIndex index;
  private ClientService service;
  private PandoClient client;

  @BeforeEach
  void open() {
    pool = LocalPool.start(Pools.options(16 << 20).withMemoryServers(2));
    Fabric fabric = pool.attach(new ComputeServer(0, 1), 1);
    index = SystemUnderTest.DEX.defaults().create(fabric);
    index.bulkLoad(Entries.of(MODEL), 0.7);
    service = ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
    client = PandoClient.connect(DexPair.text(service), ClientOptions.defaults());
  }

  @AfterEach
  void close() {
    client.close();
    service.close();
    index.close();
    pool.close();
  }

  @Test
  void shouldHaveWhatWasAcknowledgedWritten() {
    try (ClientSession session = client.session()) {
      for (long key = 0; key < 500; key++) {
        session.put(key, -key);
      }
      assertThat(index.unwritten().bytes()).isPositive();
      client.flush();
      assertThat(index.unwritten().bytes()).isZero();
    }
  }

  @Test
  void shouldScanInPagesWhereverTheyEnd() {
    List<Long> all = List.copyOf(MODEL.keySet());
    try (Session session = client.session()) {
      for (int limit : new int[] {0, 1, 127, 128, 129, 1_023, 1_151, 1_152, 1_153, 3_000, 5_000}) {
        List<Long> up = new ArrayList<>();
        assertThat(session.scan(Long.MIN_VALUE, limit, (key, _) -> up.add(key)))
            .isEqualTo(up.size());
        assertThat(up).isEqualTo(all.subList(0, Math.min(limit, all.size())));
        List<Long> down = new ArrayList<>();
        session.scanDown(Long.MAX_VALUE, limit, (key, _) -> down.add(key));
        assertThat(down.reversed())
            .isEqualTo(all.subList(Math.max(0, all.size() - limit), all.size()));
      }
      assertThat(session.scan(11, 19, 10, (_, _) -> true)).isZero();
      assertThat(session.scan(10, 10, 10, (key, value) -> key == 10 && value == 1)).isEqualTo(1);
      int[] seen = new int[1];
      assertThat(session.scan(0, 9_999, (_, _) -> ++seen[0] < 500)).isEqualTo(500);
    }
  }

  @Test
  void shouldFindAndStoreManyAtATime() {
    int count = 2_500;
    long[] keys = LongStream.range(0, count).map(i -> i / 2 * 20).toArray();
    long[] values = new long[count];
    boolean[] found = new boolean[count];
    try (Session session = client.session()) {
      assertThat(session.getAll(keys, 1, count - 1, values, found)).isEqualTo(count - 2);
      assertThat(values[2]).isEqualTo(2);
      assertThat(found[1]).isFalse();
      long[] stored = LongStream.range(0, count).toArray();
      session.putAll(keys, 0, count, stored);
      assertThat(session.getAll(keys, 0, count, values, found)).isEqualTo(count);
      for (int i = 0; i < count; i++) {
        assertThat(values[i]).as("the last of both values").isEqualTo(i | 1);
      }
    }
  }

  @Test
  void shouldRunBatches() {
    ClientBatch batch = client.batch();
    int got = batch.get(10);
    int absent = batch.get(11);
    int put = batch.put(20, -1);
    int inserted = batch.putIfAbsent(21, 7);
    int refused = batch.putIfAbsent(30, 7);
    int updated = batch.update(40, 8);
    int removed = batch.remove(50);
    int replaced = batch.replace(60, 6, 66);
    int kept = batch.replace(70, 6, 66);
    int taken = batch.remove(80, 8);
    int stored = batch.store(90, 99);
    int discarded = batch.discard(100);
    assertThatIllegalStateException().isThrownBy(() -> batch.result(got));
    batch.run();
    assertThat(batch.size()).isEqualTo(12);
    assertThat(List.of(batch.result(got), batch.result(absent), batch.result(put)))
        .containsExactly(true, false, true);
    assertThat(batch.value(got)).isEqualTo(1);
    assertThat(batch.value(put)).isEqualTo(2);
    assertThat(batch.result(inserted)).isTrue();
    assertThat(batch.result(refused)).isFalse();
    assertThat(batch.value(refused)).isEqualTo(3);
    assertThat(batch.value(updated)).isEqualTo(4);
    assertThat(batch.value(removed)).isEqualTo(5);
    assertThat(batch.result(replaced)).isTrue();
    assertThat(batch.result(kept)).isFalse();
    assertThat(batch.value(kept)).isEqualTo(7);
    assertThat(batch.result(taken)).isTrue();
    assertThat(batch.result(stored)).isTrue();
    assertThat(batch.result(discarded)).isTrue();
    assertThatIllegalStateException().isThrownBy(batch::run);
    assertThatIllegalStateException().isThrownBy(() -> batch.get(1));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> batch.result(12))
        .withMessageContaining("place=12, size=12");
    batch.clear();
    for (long key = 0; key < 2_000; key++) {
      batch.put(key, key);
    }
    batch.run();
    for (int place = 0; place < 2_000; place++) {
      assertThat(batch.result(place)).isEqualTo(place == 21 || isThere(place));
    }
  }

  private static boolean isThere(int key) {
    return key % 10 == 0 && key > 0 && key != 50 && key != 80 && key != 100;
  }

  @Test
  void shouldEstimateAndSayWhatItCannotDo() {
    try (Session session = client.session()) {
      assertThat(session.sizeEstimate()).isBetween(2_400L, 3_600L);
      assertThatIllegalStateException()
          .isThrownBy(() -> session.alone(() -> {}))
          .withMessageContaining("a client cannot keep others out");
    }
    assertThat(client.status())
        .singleElement()
        .satisfies(status -> {
          assertThat(status.system()).isEqualTo("dex");
          assertThat(status.connections()).isEqualTo(1);
          assertThat(status.answered()).isPositive();
          assertThat(status.failed()).isZero();
        });
  }

  @Test
  void shouldRefuseMisuse() {
    Session session = client.session();
    session.scan(
        10,
        2,
        (_, _) -> {
          assertThatIllegalStateException()
              .isThrownBy(() -> session.get(1))
              .withMessageContaining("visitor of its own scan");
          assertThatIllegalStateException().isThrownBy(session::close);
          return true;
        });
    assertThatIllegalArgumentException().isThrownBy(() -> session.scan(2, 1, 1, (_, _) -> true));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> session.scanDown(1, 2, 1, (_, _) -> true));
    assertThatIllegalArgumentException().isThrownBy(() -> session.scan(1, 2, -1, (_, _) -> true));
    long[] same = new long[2];
    assertThatIllegalArgumentException()
        .isThrownBy(() -> session.getAll(same, 0, 2, same, new boolean[2]));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> session.putAll(same, 1, 2, new long[3]));
    session.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> session.get(1))
        .withMessage("the session is closed");
    Session later = client.session();
    client.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> later.get(1))
        .withMessage("the client is closed");
    assertThatIllegalStateException().isThrownBy(client::session);
  }

  @Test
  void shouldRefuseAddressesThatAreNone() {
    for (String address :
        List.of("", "host", "host:", ":1", "host:0", "host:65536", "a:1,", "a:b")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> PandoClient.connect(address, ClientOptions.defaults()))
          .withMessageContaining("HOST:PORT");
    }
    assertThatExceptionOfType(ClientException.class)
        .isThrownBy(() -> PandoClient.connect("192.0.2.1:9", ClientOptions.defaults()))
        .withMessageContaining("only loopback addresses");
  }

  @Test
  void shouldKeepAThreadInterrupted() {
    try (Session session = client.session()) {
      Thread.currentThread().interrupt();
      assertThat(session.get(10)).isTrue();
      assertThat(Thread.interrupted()).isTrue();
    }
    Thread.currentThread().interrupt();
    try (PandoClient another =
            PandoClient.connect(DexPair.text(service), ClientOptions.defaults());
        Session session = another.session()) {
      assertThat(session.get(10)).isTrue();
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  /** The service says goodbye to one that closes, so nothing has an unknown outcome. */
  @Tag("campaign")
  @Test
  void shouldGoToTheServerThatFollows() {
    try (Session session = client.session()) {
      assertThat(session.put(10, -1)).isTrue();
      InetSocketAddress address = service.address();
      service.close();
      service = ClientService.start(index, address, Authentication.none(), Routes::alone, 1);
      assertThat(session.put(10, -2)).isTrue();
      assertThat(session.value()).isEqualTo(-1);
      service.close();
      assertThatExceptionOfType(StalledException.class)
          .isThrownBy(() -> session.put(10, -3))
          .withMessageContaining("key=10");
    }
    try (Session own = index.session()) {
      assertThat(own.get(10)).isTrue();
      assertThat(own.value()).isEqualTo(-2);
    }
  }

  @Test
  void shouldTellThatTheIndexIsClosed() {
    ClientOptions hasty = ClientOptions.defaults().withPatience(Duration.ofMillis(50));
    try (PandoClient another = PandoClient.connect(DexPair.text(service), hasty);
        Session session = another.session()) {
      assertThat(session.get(10)).isTrue();
      index.close();
      assertThatExceptionOfType(StalledException.class)
          .isThrownBy(() -> session.put(10, 1))
          .withMessageContaining("the index is closed");
    }
  }
}
