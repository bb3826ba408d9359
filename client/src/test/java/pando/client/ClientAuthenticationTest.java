package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TestFiles;
import pando.fabric.wire.Hello;
import pando.fabric.wire.TestAuthority;
import pando.index.Entries;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Who may connect to a compute server, and to which one a client connects. */
@Timeout(120)
class ClientAuthenticationTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final String COMPUTE = "pando://grove/compute/c0";
  private static final String CLIENT = "pando://grove/client/me";

  @TempDir private Path directory;
  private Fabric fabric;
  private RangeIndex index;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 16 << 20, 1);
    index = SystemUnderTest.DEX.tiny(1).create(fabric);
  }

  @AfterEach
  void close() {
    index.close();
    fabric.close();
  }

  private ClientService start(Authentication authentication) {
    return ClientService.start(index, FREE_PORT, authentication, Routes::alone, 1);
  }

  private static PandoClient connect(ClientService service, Authentication authentication) {
    return PandoClient.connect(
        DexPair.text(service), ClientOptions.defaults().withAuthentication(authentication));
  }

  private static void assertServed(ClientService service, Authentication authentication) {
    try (PandoClient client = connect(service, authentication);
        Session session = client.session()) {
      TreeMap<Long, Long> model = new TreeMap<>();
      new ModelRun(session, model, new SplittableRandom(1), 300).operations(400);
      assertThat(Entries.scan(session)).isEqualTo(model);
    }
  }

  private static void assertRefused(
      ClientService service, Authentication authentication, String because) {
    assertThatExceptionOfType(ClientException.class)
        .isThrownBy(() -> connect(service, authentication))
        .withMessageContaining(because);
  }

  @Test
  void shouldServeThoseWhoHaveTheSecret() throws IOException {
    try (ClientService service = start(TestFiles.token(directory, "0123456789abcdef"))) {
      try (PandoClient client = connect(service, TestFiles.token(directory, "0123456789abcdef"));
          Session session = client.session()) {
        assertThat(session.put(1, 2)).isFalse();
        assertThat(session.get(1)).isTrue();
      }
      assertRefused(
          service, TestFiles.token(directory, "0123456789abcdeX"), "its secret is another one");
      assertRefused(service, Authentication.none(), "other authentication");
    }
    try (ClientService service = start(Authentication.none())) {
      assertRefused(
          service, TestFiles.token(directory, "0123456789abcdef"), "other authentication");
    }
  }

  @Test
  void shouldServeClientsWithCertificates() throws IOException {
    TestAuthority authority = new TestAuthority(directory);
    try (ClientService service = start(TestFiles.tls(authority.sign(COMPUTE)))) {
      assertServed(service, TestFiles.tls(authority.sign(CLIENT)));
      assertRefused(service, Authentication.none(), "");
      assertRefused(service, TestFiles.tls(authority.sign("pando://other/client/me")), "");
      assertRefused(
          service,
          TestFiles.tls(new TestAuthority(directory).sign(CLIENT).trusting(authority)),
          "");
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> start(TestFiles.tls(authority.sign(CLIENT))))
        .withMessageContaining("a certificate for another role");
    try (ClientService service = start(TestFiles.tls(authority.sign(COMPUTE)))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> connect(service, TestFiles.tls(authority.sign(COMPUTE))))
          .withMessageContaining("a certificate for another role");
    }
  }

  /** A server that speaks the protocol of a later version, and one that is a memory server. */
  @Test
  void shouldNotConnectToServersOfAnotherKind() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform().daemon().start(() -> answerOtherVersion(other));
      String address = "127.0.0.1:" + other.getLocalPort();
      assertThatExceptionOfType(ClientException.class)
          .isThrownBy(() -> PandoClient.connect(address, ClientOptions.defaults()))
          .withMessageContaining("version=2, expected=1");
    }
    PoolOptions pool = Pools.options(8 << 20);
    try (TcpMemoryServer memory = TcpMemoryServer.start(FREE_PORT, 0, pool)) {
      String address = memory.place();
      assertThatExceptionOfType(ClientException.class)
          .isThrownBy(() -> PandoClient.connect(address, ClientOptions.defaults()));
    }
  }

  private static void answerOtherVersion(ServerSocket listener) {
    try (Socket client = listener.accept()) {
      byte[] hello = client.getInputStream().readNBytes(Hello.BYTES);
      ByteBuffer answer = ByteBuffer.allocate(Hello.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      answer.put(hello, 0, 8).putShort((short) 2);
      client.getOutputStream().write(answer.array());
      int end = client.getInputStream().read();
      assertThat(end).isEqualTo(-1);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
