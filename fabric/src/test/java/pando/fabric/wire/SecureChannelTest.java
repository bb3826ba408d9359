package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two ends of a connection by TLS. */
@Timeout(120)
class SecureChannelTest {
  private static final long SEED = Long.getLong("pando.test.seed", 0x5EED_0013L);
  private static final int DAMAGED = Boolean.getBoolean("pando.soak") ? 100_000 : 500;
  private static final int NUMBERS = 3_000;
  private static final String COMPUTE = "pando://grove/compute/c0";
  private static final String MEMORY = "pando://grove/memory/m0";

  @TempDir private Path directory;
  private final ExecutorService other = Executors.newSingleThreadExecutor();
  private TestAuthority authority;
  private SocketChannel clientSocket;
  private SocketChannel serverSocket;

  @BeforeEach
  void connect() throws IOException {
    authority = new TestAuthority(directory);
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      clientSocket = SocketChannel.open(listener.getLocalAddress());
      serverSocket = listener.accept();
    }
  }

  @AfterEach
  void close() throws IOException {
    clientSocket.close();
    serverSocket.close();
    other.shutdownNow();
  }

  @Test
  void shouldCarryBytesOfAnyLength() throws Exception {
    SecureChannel client = channel(clientSocket, authority.sign(COMPUTE), true);
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    Future<Boolean> answered = other.submit(server::handshake);
    assertThat(client.handshake()).isTrue();
    assertThat(answered.get()).isTrue();
    TlsKeys keys = authority.sign("pando://grove/admin/a").read();
    assertThat(keys.peer(client.engine())).hasToString(MEMORY);
    assertThat(keys.peer(server.engine())).hasToString(COMPUTE);
    assertThatThrownBy(() -> authority.sign("pando://oak/admin/a").read().peer(server.engine()))
        .isInstanceOf(CertificateException.class)
        .hasMessageContaining("another cluster: identity=" + COMPUTE + ", cluster=oak");
    SplittableRandom random = new SplittableRandom(SEED);
    for (int length : new int[] {1, 100, 16_384, 16_385, 300_000}) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      Future<byte[]> read = other.submit(() -> readAll(server, length));
      assertThat(client.write(ByteBuffer.wrap(bytes))).isEqualTo(length);
      assertThat(read.get()).isEqualTo(bytes);
    }
    Future<Integer> end = other.submit(() -> server.read(ByteBuffer.allocate(1)));
    client.close();
    assertThat(end.get()).isEqualTo(-1);
  }

  @Test
  void shouldTellAClientThatItsAuthorityIsNotTrusted() throws Exception {
    TestAuthority.Signed stranger = new TestAuthority(directory).sign(COMPUTE);
    SecureChannel client = channel(clientSocket, stranger.trusting(authority), true);
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    Future<Boolean> answered = other.submit(server::handshake);
    // The client's side is done before its certificate is looked at.
    assertThat(client.handshake()).isTrue();
    assertThatThrownBy(answered::get)
        .hasCauseInstanceOf(SSLException.class)
        .hasMessageContaining("unable to find valid certification path");
    assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SSLException.class)
        .hasMessageContaining("certificate_unknown");
  }

  @Test
  void shouldTellAServerThatItsAuthorityIsNotTrusted() throws Exception {
    TestAuthority.Signed stranger = new TestAuthority(directory).sign(MEMORY);
    SecureChannel client = channel(clientSocket, authority.sign(COMPUTE), true);
    SecureChannel server = channel(serverSocket, stranger.trusting(authority), false);
    Future<Boolean> answered = other.submit(server::handshake);
    assertThatThrownBy(client::handshake)
        .isInstanceOf(SSLException.class)
        .hasMessageContaining("unable to find valid certification path");
    assertThatThrownBy(answered::get)
        .hasCauseInstanceOf(SSLException.class)
        .hasMessageContaining("certificate_unknown");
  }

  @Test
  void shouldTellAPlainClientFromOneThatMakesNoSense() throws Exception {
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    Hello.send(clientSocket, Protocol.VERBS, AuthenticationKind.NONE, Role.COMPUTE, null, 0);
    assertThatThrownBy(server::handshake).isInstanceOf(PlainPeerException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 22, 23, 71, 128, 255})
  void shouldRefuseWhatIsNoHandshake(int first) throws Exception {
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    ByteBuffer nonsense = ByteBuffer.allocate(20_000).put(0, (byte) first);
    assertThat(clientSocket.write(nonsense)).isPositive();
    assertThatThrownBy(server::handshake).isInstanceOf(SSLException.class);
  }

  @Test
  void shouldRefuseDamagedBeginningsWithoutHarm() throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    System.out.println("seed=" + SEED);
    TlsKeys keys = authority.sign(MEMORY).read();
    byte[] beginning = beginning();
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      for (int i = 0; i < DAMAGED; i++) {
        byte[] damaged = beginning.clone();
        for (int j = random.nextInt(4); j >= 0; j--) {
          damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
        }
        try (SocketChannel client = SocketChannel.open(listener.getLocalAddress());
            SocketChannel socket = listener.accept()) {
          assertThat(client.write(ByteBuffer.wrap(damaged))).isEqualTo(damaged.length);
          client.shutdownOutput();
          SecureChannel server = new SecureChannel(socket, keys.engine(false));
          assertThatThrownBy(server::handshake).isInstanceOf(IOException.class);
        }
      }
    }
  }

  /** Returns what a client begins with. */
  private byte[] beginning() throws IOException {
    ByteBuffer record = ByteBuffer.allocate(1 << 15);
    SSLEngine engine = authority.sign(COMPUTE).read().engine(true);
    assertThat(engine.wrap(ByteBuffer.allocate(0), record).bytesProduced()).isPositive();
    return Arrays.copyOf(record.array(), record.position());
  }

  @Test
  void shouldNoticeTheEndOfAHandshake() throws Exception {
    SecureChannel client = channel(clientSocket, authority.sign(COMPUTE), true);
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    clientSocket.configureBlocking(false);
    assertThat(client.handshake()).isFalse();
    clientSocket.shutdownOutput();
    assertThatThrownBy(server::handshake).isInstanceOf(EOFException.class);
    assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldNeverWaitWithNonBlockingSockets() throws Exception {
    clientSocket.configureBlocking(false);
    serverSocket.configureBlocking(false);
    SecureChannel client = channel(clientSocket, authority.sign(COMPUTE), true);
    SecureChannel server = channel(serverSocket, authority.sign(MEMORY), false);
    assertThat(server.handshake()).isFalse();
    boolean both = false;
    while (!both) {
      boolean clientDone = client.handshake();
      both = server.handshake() && clientDone;
    }
    assertThat(server.read(ByteBuffer.allocate(1))).isZero();
    // No ticket has come for a handshake that would not look at certificates.
    assertThat(clientSocket.read(ByteBuffer.allocate(1))).isZero();
    // Nobody reads, so at last the socket takes no more.
    long written = 0;
    ByteBuffer bytes = numbers(0);
    while (client.write(bytes) > 0) {
      written += NUMBERS - bytes.remaining();
      bytes = numbers(written);
    }
    assertThat(client.flush()).isFalse();
    long read = 0;
    while (read < written) {
      boolean sent = client.flush();
      ByteBuffer into = ByteBuffer.allocate(NUMBERS);
      int taken = server.read(into);
      assertThat(taken).isBetween(sent ? 1 : 0, NUMBERS);
      assertThat(into.flip()).isEqualTo(numbers(read).limit(taken));
      read += taken;
    }
    assertThat(client.flush()).isTrue();
    assertThat(server.read(ByteBuffer.allocate(1))).isZero();
  }

  /** Returns bytes of a stream that differ with where they are in it. */
  private static ByteBuffer numbers(long from) {
    ByteBuffer numbers = ByteBuffer.allocate(NUMBERS);
    for (int i = 0; i < NUMBERS; i++) {
      numbers.put(i, (byte) (((from + i) * 0x9E37_79B9L) >> 24));
    }
    return numbers;
  }

  private static SecureChannel channel(
      SocketChannel socket, TestAuthority.Signed signed, boolean client) throws IOException {
    return new SecureChannel(socket, signed.read().engine(client));
  }

  private static byte[] readAll(SecureChannel channel, int length) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(length);
    while (into.hasRemaining()) {
      assertThat(channel.read(into)).isPositive();
    }
    return into.array();
  }
}
