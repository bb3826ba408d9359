package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.CuttingProxy;
import pando.fabric.tcp.FaultProxy;
import pando.fabric.tcp.FaultProxy.Fault;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Connections that are cut, and what each operation came to. */
@Timeout(120)
class ClientCutTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  /** Waits as long as a machine may be busy, but not so long as others do. */
  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withAnswerTimeout(Duration.ofSeconds(3))
          .withPatience(Duration.ofSeconds(20));

  private Fabric fabric;
  private RangeIndex index;
  private ClientService service;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 16 << 20, 1);
    index = SystemUnderTest.DEX.tiny(1).create(fabric);
    service = ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
  }

  @AfterEach
  void close() {
    service.close();
    index.close();
    fabric.close();
  }

  /** Returns options by which an answer that never comes is soon given up. */
  private static ClientOptions options(Fault fault) {
    return fault.isStall() ? PATIENT.withAnswerTimeout(Duration.ofMillis(200)) : PATIENT;
  }

  private static int rounds(Fault fault) {
    return fault.isStall() ? 1 : 3;
  }

  private static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  /** A thread that is about to wait as the client is closed. */
  @Test
  void shouldNotFailToWaitAtALineThatIsClosed() throws IOException {
    try (TcpHost host = new TcpHost(Authentication.none())) {
      ClientHost.Line line = host.line(text(service.address()));
      assertThat(line.open().isOpen()).isTrue();
      line.end();
      line.close();
      assertThatCode(() -> line.await(1)).doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"HELD"},
      mode = EnumSource.Mode.EXCLUDE)
  void shouldKnowWhatAChangeCameTo(Fault fault) throws Exception {
    try (FaultProxy proxy =
            FaultProxy.start(service.address(), Seeds.of(1810), request -> request.length);
        PandoClient client = PandoClient.connect(text(proxy.address()), options(fault));
        Session session = client.session();
        Session own = index.session()) {
      for (long value = 1; value <= rounds(fault); value++) {
        own.put(1, -value);
        proxy.inject(fault);
        long stored = value;
        Throwable failure = catchThrowable(() -> session.put(1, stored));
        Long found = Entries.get(session, 1);
        if (fault.isHarmless()) {
          assertThat(failure).isNull();
          assertThat(found).isEqualTo(value);
        } else {
          // All bytes have left the client, so it cannot know.
          assertThat(failure).isInstanceOf(UnknownOutcomeException.class);
          assertThat(found).isEqualTo(fault.isServed() ? value : -value);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"HELD"},
      mode = EnumSource.Mode.EXCLUDE)
  void shouldReadAgain(Fault fault) throws Exception {
    try (FaultProxy proxy =
            FaultProxy.start(service.address(), Seeds.of(1811), request -> request.length);
        PandoClient client = PandoClient.connect(text(proxy.address()), options(fault));
        Session session = client.session();
        Session own = index.session()) {
      for (long key = 1; key <= 300; key++) {
        own.put(key, key);
      }
      for (int round = 0; round < rounds(fault); round++) {
        proxy.inject(fault);
        assertThat(Entries.get(session, 7)).isEqualTo(7L);
        proxy.inject(fault);
        assertThat(session.floor(1_000)).isTrue();
        proxy.inject(fault);
        assertThat(Entries.scan(session)).hasSize(300);
      }
    }
  }

  /** Each key has a value that was stored, or one of those of which that is not known. */
  @Test
  void shouldSurviveCutsAnywhere() throws IOException {
    long seed = Seeds.of(1812);
    int operations = Seeds.count(2_000, 4_000, 50_000);
    SplittableRandom random = new SplittableRandom(seed);
    TreeMap<Long, Long> model = new TreeMap<>();
    int unknown = 0;
    try (CuttingProxy proxy = CuttingProxy.start(service.address(), 3_000, seed);
        PandoClient client = connect(proxy);
        Session session = client.session()) {
      for (int i = 0; i < operations; i++) {
        long key = random.nextInt(50);
        long value = i;
        boolean removes = random.nextInt(4) == 0;
        Long before = model.get(key);
        try {
          boolean wasThere = removes ? session.remove(key) : session.put(key, value);
          assertThat(wasThere).isEqualTo(before != null);
          settle(model, key, removes ? null : value);
        } catch (UnknownOutcomeException e) {
          unknown++;
          Long found = Entries.get(session, key);
          assertThat(found).isIn(before, removes ? null : (Long) value);
          settle(model, key, found);
        }
      }
      proxy.stopCutting();
      Entries.check(session, model, "by a client");
      assertThat(proxy.cuts()).isGreaterThan(20);
      assertThat(unknown).isGreaterThan(5);
    }
    try (Session own = index.session()) {
      Entries.check(own, model, "in the index");
    }
  }

  private static PandoClient connect(CuttingProxy proxy) {
    while (true) {
      try {
        return PandoClient.connect(text(proxy.address()), PATIENT);
      } catch (ClientException cut) {
        // Again, by another connection.
      }
    }
  }

  private static void settle(Map<Long, Long> model, long key, @Nullable Long value) {
    if (value == null) {
      model.remove(key);
    } else {
      model.put(key, value);
    }
  }

  /** A server that is killed says nothing; the other one serves all keys, too. */
  @Test
  @SuppressWarnings("try") // It is closed early.
  void shouldGoToAnotherServerWhereOneIsGone() throws IOException {
    try (ClientService other =
            ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
        FaultProxy first = FaultProxy.start(service.address(), 1, request -> request.length);
        FaultProxy second = FaultProxy.start(other.address(), 1, request -> request.length)) {
      List<Routes.Route> all =
          List.of(
              new Routes.Route(0, 0, text(first.address())),
              new Routes.Route(0, 1, text(second.address())));
      try (ClientService told =
              ClientService.start(
                  index, FREE_PORT, Authentication.none(), () -> new Routes(1, false, all), 1);
          PandoClient client = PandoClient.connect(text(told.address()), ClientOptions.defaults());
          Session session = client.session()) {
        session.put(1, 1);
        first.close();
        for (int i = 0; i < 20; i++) {
          assertThat(session.get(1)).isTrue();
        }
        Throwable failure = catchThrowable(() -> session.put(1, 2));
        assertThat(failure).isNull();
      }
    }
  }
}
