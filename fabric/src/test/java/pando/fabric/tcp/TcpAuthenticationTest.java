package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Guests;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.RefusalLog;
import pando.fabric.wire.RefusedException;
import pando.fabric.wire.Role;
import pando.fabric.wire.SecureChannel;
import pando.fabric.wire.TestAuthority;
import pando.fabric.wire.TlsKeys;

/** Clients that a memory server must not let in, and memory servers that are none. */
@Timeout(120)
class TcpAuthenticationTest {
  private static final PoolOptions POOL =
      PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);
  private static final long LONG = TimeUnit.SECONDS.toNanos(60);
  private static final PeerLimits PATIENT = new PeerLimits(LONG, LONG, LONG, LONG, 10);
  private static final PeerLimits IMPATIENT =
      new PeerLimits(TimeUnit.MILLISECONDS.toNanos(300), LONG, LONG, LONG, 10);
  private static final long WORD = GlobalAddress.of(0, 64);
  private static final String MEMORY = "pando://grove/memory/m0";
  private static final String COMPUTE = "pando://grove/compute/c0";
  private static final String SECRET = "It is known to few.";
  private static final int NONCE_BYTES = 32;

  @TempDir private Path directory;
  private final List<TcpMemoryServer> servers = new ArrayList<>();
  private TestAuthority authority;
  private LogLines log;

  @BeforeEach
  void start() throws Exception {
    authority = new TestAuthority(directory);
    log = LogLines.of(RefusalLog.class);
  }

  @AfterEach
  void stop() throws Exception {
    servers.forEach(TcpMemoryServer::close);
    log.close();
    assertThat(log.all()).noneMatch(line -> line.contains(SECRET) || line.contains("\n"));
  }

  @ParameterizedTest
  @EnumSource
  void shouldTakeThoseWithTheSameAuthenticationAlone(AuthenticationKind ofServer)
      throws IOException {
    TcpMemoryServer server = start(authentication(ofServer, MEMORY), PATIENT);
    for (AuthenticationKind ofClient : AuthenticationKind.values()) {
      Authentication client = authentication(ofClient, COMPUTE);
      if (ofClient == ofServer) {
        use(server, client);
      } else if (ofClient == AuthenticationKind.TLS) {
        assertRefused(() -> use(server, client), "it speaks without TLS");
      } else {
        assertRefused(
            () -> use(server, client), "it asks for other authentication: needed=" + ofServer);
      }
    }
    assertThat(log.all()).hasSize(2).allMatch(line -> line.startsWith("memory server 0 refused"));
  }

  @Test
  void shouldRefuseOtherAuthorities() throws IOException {
    TcpMemoryServer server = start(TestFiles.tls(authority.sign(MEMORY)), PATIENT);
    TestAuthority.Signed stranger = new TestAuthority(directory).sign(COMPUTE);
    assertRefused(
        () -> use(server, TestFiles.tls(stranger.trusting(authority))), "certificate_unknown");
    assertThat(log.await()).singleElement().asString().contains("valid certification path");
    assertRefused(() -> use(server, TestFiles.tls(stranger)), "valid certification path");
    use(server, TestFiles.tls(authority.sign(COMPUTE)));
  }

  @Test
  void shouldRefuseExpiredCertificates() throws IOException {
    TestAuthority.Signed expired = authority.sign(COMPUTE, Duration.ofSeconds(-1));
    TcpMemoryServer server = start(TestFiles.tls(authority.sign(MEMORY)), PATIENT);
    assertThatThrownBy(() -> hello(server, expired.readInvalid(), Role.COMPUTE))
        .hasMessageContaining("certificate_");
    assertThat(log.await()).singleElement().asString().contains("NotAfter");
    assertThatThrownBy(() -> use(server, TestFiles.tls(expired)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("NotAfter");
  }

  @ParameterizedTest
  @CsvSource({
    "pando://grove/client/a,  CLIENT,  'fences for admins: role=client'",
    "pando://grove/compute/c, ADMIN,   'fences for admins: role=admin'",
    "pando://grove/admin/a,   COMPUTE, 'fences for admins: role=compute'",
    "pando://grove/memory/m0, COMPUTE, identity=pando://grove/memory/m0",
    "pando://grove/compute/c, MEMORY,  'fences for admins: role=memory'",
    "pando://oak/compute/c,   COMPUTE, its certificate is of another cluster"
  })
  void shouldRefuseOtherRolesAndClusters(String uri, Role role, String reason) throws IOException {
    TcpMemoryServer server = start(TestFiles.tls(authority.sign(MEMORY)), PATIENT);
    TestAuthority.Signed signed = authority.sign(uri);
    assertThatThrownBy(() -> hello(server, signed.read(), role))
        .isInstanceOf(RefusedException.class)
        .hasMessage("it does not take this role, or not from this cluster");
    assertThat(log.await()).singleElement().asString().contains(reason);
    use(server, TestFiles.tls(authority.sign(COMPUTE)));
  }

  @ParameterizedTest
  @CsvSource({
    "pando://oak/memory/m,    its certificate is of another cluster",
    "pando://grove/compute/c, its certificate is not of a memory server"
  })
  void shouldNotTrustOtherMemoryServers(String uri, String reason) throws Exception {
    TlsKeys keys = authority.sign(uri).read();
    try (ServerSocketChannel listener = listen()) {
      Thread impostor =
          impostor(
              listener,
              socket -> {
                assertThat(new SecureChannel(socket, keys.engine(false)).handshake()).isTrue();
                assertThat(socket.read(ByteBuffer.allocate(1))).isNegative();
              });
      Authentication client = TestFiles.tls(authority.sign(COMPUTE));
      assertRefused(() -> attach(address(listener), client).close(), reason);
      impostor.join();
    }
  }

  @Test
  void shouldRefuseOtherSecrets() throws IOException {
    TcpMemoryServer server = start(TestFiles.token(directory, SECRET), PATIENT);
    Authentication other = TestFiles.token(directory, SECRET + "?");
    assertRefused(() -> use(server, other), "its secret is another one");
    assertThat(log.await()).singleElement().asString().contains("does not have the secret");
    use(server, TestFiles.token(directory, SECRET + "\n"));
  }

  @Test
  void shouldRefuseAProofThatIsRepeated() throws Exception {
    TcpMemoryServer server = start(TestFiles.token(directory, SECRET), PATIENT);
    ByteBuffer said = ByteBuffer.allocate(Hello.BYTES + 2 * NONCE_BYTES);
    try (ServerSocketChannel listener = listen();
        SocketChannel toServer = SocketChannel.open(server.address())) {
      Thread eavesdropper =
          impostor(
              listener,
              socket -> {
                pass(socket, toServer, said, Hello.BYTES + NONCE_BYTES);
                pass(toServer, socket, ByteBuffer.allocate(128), Hello.BYTES + NONCE_BYTES);
                pass(socket, toServer, said, NONCE_BYTES);
                pass(toServer, socket, ByteBuffer.allocate(128), Hello.BYTES + NONCE_BYTES);
              });
      attach(address(listener), TestFiles.token(directory, SECRET)).close();
      eavesdropper.join();
    }
    try (SocketChannel channel = SocketChannel.open(server.address())) {
      writeAll(channel, said.flip());
      assertThat(Hello.receiveAnswer(channel, Protocol.VERBS).status()).isEqualTo(Hello.PROVE);
      readAll(channel, ByteBuffer.allocate(NONCE_BYTES));
      assertThatThrownBy(() -> Hello.receiveAnswer(channel, Protocol.VERBS))
          .isInstanceOfSatisfying(
              RefusedException.class, e -> assertThat(e.status()).isEqualTo(Hello.WRONG_SECRET));
    }
  }

  @Test
  void shouldNotTakeItsOwnProofForThatOfAMemoryServer() throws Exception {
    try (ServerSocketChannel listener = listen()) {
      Thread mirror =
          impostor(
              listener,
              socket -> {
                ByteBuffer hello = ByteBuffer.allocate(Hello.BYTES + NONCE_BYTES);
                readAll(socket, hello);
                Hello.refuse(socket, Protocol.VERBS, Hello.PROVE, AuthenticationKind.TOKEN);
                writeAll(socket, hello.flip().position(Hello.BYTES));
                ByteBuffer proof = ByteBuffer.allocate(NONCE_BYTES);
                readAll(socket, proof);
                Hello.answer(socket, welcome());
                writeAll(socket, proof.flip());
              });
      assertRefused(
          () -> attach(address(listener), TestFiles.token(directory, SECRET)).close(),
          "the memory server does not have the secret");
      mirror.join();
    }
  }

  @Test
  void shouldNotTrustAMemoryServerThatAsksForNoProof() throws Exception {
    try (ServerSocketChannel listener = listen()) {
      Thread careless =
          impostor(
              listener,
              socket -> {
                readAll(socket, ByteBuffer.allocate(Hello.BYTES + NONCE_BYTES));
                Hello.answer(socket, welcome());
              });
      assertRefused(
          () -> attach(address(listener), TestFiles.token(directory, SECRET)).close(),
          "it asks for no proof of the secret, and gives none");
      careless.join();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 5, 63, 64, 65, 95, 96, 127})
  void shouldGoOnAfterHandshakesThatEndEarly(int bytes) throws IOException {
    for (AuthenticationKind kind :
        new AuthenticationKind[] {AuthenticationKind.TLS, AuthenticationKind.TOKEN}) {
      TcpMemoryServer server = start(authentication(kind, MEMORY), PATIENT);
      try (SocketChannel channel = SocketChannel.open(server.address())) {
        writeAll(channel, beginning(kind).limit(bytes));
        channel.shutdownOutput();
        awaitEnd(channel);
      }
      use(server, authentication(kind, COMPUTE));
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldCutOffSlowHandshakes(AuthenticationKind kind) throws IOException {
    TcpMemoryServer server = start(authentication(kind, MEMORY), IMPATIENT);
    try (SocketChannel slow = SocketChannel.open(server.address())) {
      writeAll(slow, beginning(kind).limit(kind == AuthenticationKind.NONE ? 20 : 80));
      awaitEnd(slow);
    }
    assertThat(log.await()).singleElement().asString().contains("took too long to say who");
  }

  @Tag("campaign")
  @ParameterizedTest
  @EnumSource
  void shouldGoOnBesideHundredsOfHalfHandshakes(AuthenticationKind kind) throws IOException {
    TcpMemoryServer server = start(authentication(kind, MEMORY), PATIENT);
    List<SocketChannel> guests = new ArrayList<>();
    try {
      for (int i = 0; i < 300; i++) {
        SocketChannel guest = SocketChannel.open(server.address());
        guests.add(guest);
        writeAll(guest, beginning(kind).limit(20));
      }
      use(server, authentication(kind, COMPUTE));
      // The oldest have made room.
      awaitEnd(guests.getFirst());
      assertThat(log.await().getFirst()).contains("most=" + Guests.MAX);
      assertThat(log.all().size()).isLessThan(guests.size() / 2);
    } finally {
      for (SocketChannel guest : guests) {
        guest.close();
      }
    }
  }

  @Test
  void shouldReadFilesAnewWhenTheyHaveChanged() throws IOException {
    TestAuthority.Signed ofServer = authority.sign(MEMORY);
    TcpMemoryServer server = start(TestFiles.tls(ofServer), PATIENT);
    TestAuthority later = new TestAuthority(directory);
    Authentication old = TestFiles.tls(authority.sign(COMPUTE));
    Authentication young = TestFiles.tls(later.sign(COMPUTE));
    try (Fabric fabric = attach(server.address(), old);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      worker.faa(WORD, 1);
      assertRefused(() -> use(server, young), "valid certification path");
      // In the middle of a change nothing else is used.
      TestAuthority.Signed next = later.sign(MEMORY);
      replace(next.authority(), ofServer.authority());
      replace(next.certificate(), ofServer.certificate());
      assertRefused(() -> use(server, young), "valid certification path");
      replace(next.key(), ofServer.key());
      use(server, young);
      assertRefused(() -> use(server, old), "certificate_unknown");
      // A connection stays what it is.
      assertThat(worker.faa(WORD, 1)).isEqualTo(1);
    }
  }

  @Test
  void shouldReadTheSecretAnewWhenItHasChanged() throws IOException {
    Authentication.Token ofServer = TestFiles.token(directory, SECRET);
    TcpMemoryServer server = start(ofServer, PATIENT);
    Authentication.Token next = TestFiles.token(directory, SECRET + SECRET);
    assertRefused(() -> use(server, next), "its secret is another one");
    replace(next.file(), ofServer.file());
    use(server, next);
  }

  @Test
  void shouldLeaveTheMachineWithStrongAuthenticationAlone() {
    Authentication tls = Authentication.tls(Path.of("a"), Path.of("b"), Path.of("c"));
    Authentication.Token token = Authentication.token(Path.of("a"));
    InetSocketAddress near = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    for (String host : new String[] {"0.0.0.0", "192.0.2.1", "::"}) {
      InetSocketAddress far = new InetSocketAddress(host, 1);
      for (Authentication weak : new Authentication[] {Authentication.none(), token}) {
        assertThatThrownBy(() -> weak.checkAddress(far))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("only loopback addresses")
            .hasMessageContaining(far.toString());
        assertThatCode(() -> weak.checkAddress(near)).doesNotThrowAnyException();
      }
      for (Authentication strong : new Authentication[] {tls, token.onTrustedNetwork()}) {
        assertThatCode(() -> strong.checkAddress(far)).doesNotThrowAnyException();
      }
    }
  }

  private Authentication authentication(AuthenticationKind kind, String uri) throws IOException {
    return switch (kind) {
      case NONE -> Authentication.none();
      case TOKEN -> TestFiles.token(directory, SECRET);
      case TLS -> TestFiles.tls(authority.sign(uri));
    };
  }

  private TcpMemoryServer start(Authentication authentication, PeerLimits limits) {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    TcpMemoryServer server = TcpMemoryServer.start(any, 0, POOL, authentication, limits);
    servers.add(server);
    return server;
  }

  /** Connects and runs a verb. */
  private static void use(TcpMemoryServer server, Authentication authentication) {
    try (Fabric fabric = attach(server.address(), authentication);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      worker.read(WORD, 0, 8);
    }
  }

  private static Fabric attach(InetSocketAddress address, Authentication authentication) {
    TcpOptions options = TcpOptions.defaults().withAuthentication(authentication);
    return TcpFabric.attach(List.of(address), 1, options);
  }

  private static void assertRefused(ThrowingCallable connecting, String reason) {
    assertThatThrownBy(connecting)
        .isInstanceOf(TcpException.class)
        .hasMessageContaining("no connection to the memory server: address=")
        .hasMessageContaining(reason);
  }

  /** Says HELLO over TLS as a client that does not check whom it talks to. */
  private static void hello(TcpMemoryServer server, TlsKeys keys, Role role) throws IOException {
    try (SocketChannel socket = SocketChannel.open(server.address())) {
      SecureChannel channel = new SecureChannel(socket, keys.engine(true));
      assertThat(channel.handshake()).isTrue();
      Hello.send(channel, Protocol.VERBS, AuthenticationKind.TLS, role, null, 0);
      Hello.receiveAnswer(channel, Protocol.VERBS);
    }
  }

  /** Returns the bytes that a client begins with, of TLS or of all else. */
  private ByteBuffer beginning(AuthenticationKind kind) throws IOException {
    if (kind == AuthenticationKind.TLS) {
      ByteBuffer record = ByteBuffer.allocate(1 << 15);
      SSLEngine engine = authority.sign(COMPUTE).read().engine(true);
      assertThat(engine.wrap(ByteBuffer.allocate(0), record).bytesProduced()).isPositive();
      return record.flip();
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Hello.send(Channels.newChannel(bytes), Protocol.VERBS, kind, Role.COMPUTE, null, 0);
    bytes.writeBytes(new byte[2 * NONCE_BYTES]);
    return ByteBuffer.wrap(bytes.toByteArray());
  }

  /** Gives a file the content of another, at once. */
  private static void replace(Path source, Path target) throws IOException {
    Path copy = target.resolveSibling("next-" + target.getFileName());
    Files.copy(source, copy, StandardCopyOption.COPY_ATTRIBUTES);
    Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
  }

  private static ServerSocketChannel listen() throws IOException {
    return ServerSocketChannel.open()
        .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static InetSocketAddress address(ServerSocketChannel listener) {
    return new InetSocketAddress(
        listener.socket().getInetAddress(), listener.socket().getLocalPort());
  }

  private static Hello.Welcome welcome() {
    return new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 0, 1, 1 << 20, true);
  }

  private interface Conversation {
    void with(SocketChannel socket) throws IOException;
  }

  /** Talks to the next client as a memory server does not. */
  private static Thread impostor(ServerSocketChannel listener, Conversation conversation) {
    return Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try (SocketChannel socket = listener.accept()) {
            conversation.with(socket);
            awaitEnd(socket);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Passes bytes on, and keeps them. */
  private static void pass(SocketChannel from, SocketChannel to, ByteBuffer kept, int bytes)
      throws IOException {
    int start = kept.position();
    kept.limit(start + bytes);
    readAll(from, kept);
    writeAll(to, kept.duplicate().position(start));
    kept.limit(kept.capacity());
  }

  private static void readAll(SocketChannel channel, ByteBuffer into) throws IOException {
    while (into.hasRemaining()) {
      assertThat(channel.read(into)).isPositive();
    }
  }

  private static void writeAll(SocketChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      assertThat(channel.write(bytes)).isPositive();
    }
  }

  /** Reads until the other side ends the connection. */
  private static void awaitEnd(SocketChannel channel) {
    ByteBuffer any = ByteBuffer.allocate(1 << 10);
    try {
      while (channel.read(any.clear()) >= 0) {
        assertThat(any.position()).isPositive();
      }
    } catch (IOException reset) {
      assertThat(reset).isNotNull();
    }
  }
}
