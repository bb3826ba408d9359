package pando.fabric.tcp;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.security.cert.CertificateException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Identity;
import pando.fabric.wire.PlainPeerException;
import pando.fabric.wire.RefusedException;
import pando.fabric.wire.Role;
import pando.fabric.wire.Secret;
import pando.fabric.wire.SecureChannel;
import pando.fabric.wire.TlsKeys;
import pando.fabric.wire.TokenExchange;

/**
 * How a memory server lets clients in: all of a connection before its first request. First TLS, if
 * that is asked for; then the client's HELLO; then the proof of the secret, if that is asked for;
 * then a place among the connections, and the answer.
 *
 * <p>Until then a client is a guest: there are {@link Guests#MAX} at the most, each has all of it
 * done in a few seconds, and can make the memory server take no more than TLS's 64 KiB and some
 * messages of 64 bytes. A client that is refused is told why, where it can understand it.
 * Thread-safe.
 */
final class ServerHandshake {
  /** Most bytes that are read of a client that was refused, so that it can read why. */
  private static final int DRAINED_MAX = 64 << 10;

  /**
   * Longest wait for what is served of older connections: less than a client has for all of this.
   */
  private static final long REPLACE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final TcpMemoryServer owner;
  private final Credentials credentials;
  private final Guests guests = new Guests();
  private final RefusalLog log;

  ServerHandshake(TcpMemoryServer owner, Credentials credentials) {
    this.owner = owner;
    this.credentials = credentials;
    this.log = new RefusalLog(owner.welcome().server());
  }

  /** Takes a connection as a guest, whose time begins. */
  void arrive(Watchdog.Watched connection) {
    connection.expect(owner.limits().helloNanos());
    Watchdog.Watched oldest = guests.enter(connection);
    if (oldest != null) {
      log.add("the oldest", "too many that have not said who they are: most=" + Guests.MAX);
    }
  }

  /** Ends a connection for which there is no thread. */
  void turnAway(SocketChannel socket) throws IOException {
    try (socket) {
      // Of those that have to prove something first, none may know anything before.
      if (credentials.kind() == AuthenticationKind.NONE) {
        Hello.answer(socket, owner.welcome().withStatus(Hello.FULL));
      }
    }
  }

  /**
   * Lets a guest in or refuses it; either way it is none any more.
   *
   * @return the client, if it may go on; it has a place until it is closed
   * @throws IOException if the client is gone, or makes no sense
   */
  @Nullable Client perform(Watchdog.Watched connection) throws IOException {
    String client = String.valueOf(remote(connection.socket()));
    try {
      Client served = greet(connection, client);
      connection.relax();
      return served;
    } catch (RefusedException e) {
      log.add(client, String.valueOf(e.getMessage()));
      Hello.refuse(connection.channel(), e.status(), credentials.kind());
      drain(connection.socket());
      return null;
    } catch (SSLException e) {
      // TLS has told the client.
      log.add(client, SecureChannel.reason(e));
      drain(connection.socket());
      return null;
    } catch (IOException e) {
      if (connection.isLate()) {
        log.add(client, "it took too long to say who it is");
      } else if (e instanceof FrameException) {
        log.add(client, String.valueOf(e.getMessage()));
      }
      throw e;
    } finally {
      guests.leave(connection);
    }
  }

  private @Nullable Client greet(Watchdog.Watched connection, String client) throws IOException {
    TlsKeys keys = credentials.keys();
    Identity peer = keys == null ? null : secure(connection, keys);
    ByteChannel channel = connection.channel();
    Hello.Request hello = Hello.receive(channel);
    if (hello.version() != Hello.VERSION) {
      Hello.refuse(channel, Hello.OTHER_VERSION, credentials.kind());
      return null;
    }
    Role role = checkedRole(hello, peer);
    Secret secret = credentials.secret();
    TokenExchange exchange = secret == null ? null : challenge(channel, secret, role);
    if (isFenced(hello)) {
      log.add(client, "fenced: " + hello.computeServer());
      answer(channel, Hello.FENCED, exchange);
      return null;
    }
    return admit(connection, hello, exchange);
  }

  private boolean isFenced(Hello.Request hello) {
    ComputeServer computeServer = hello.computeServer();
    return computeServer != null && owner.fences().isFenced(computeServer);
  }

  /** Makes the connection one by TLS; returns who the client is. */
  private static Identity secure(Watchdog.Watched connection, TlsKeys keys) throws IOException {
    SecureChannel secure = new SecureChannel(connection.socket(), keys.engine(false));
    try {
      boolean done = secure.handshake();
      assert done;
      connection.use(secure);
      return keys.peer(secure.engine());
    } catch (PlainPeerException e) {
      throw new RefusedException(Hello.OTHER_AUTHENTICATION, "it speaks without TLS");
    } catch (CertificateException e) {
      throw new RefusedException(Hello.NOT_ALLOWED, "its certificate " + e.getMessage());
    }
  }

  /**
   * Checks what a client says of itself, and returns its role.
   *
   * @param peer who it is by its certificate, if it has one
   */
  private Role checkedRole(Hello.Request hello, @Nullable Identity peer) throws RefusedException {
    if (hello.authentication() != credentials.kind()) {
      throw new RefusedException(
          Hello.OTHER_AUTHENTICATION,
          "other authentication: its=" + hello.authentication() + ", needed=" + credentials.kind());
    }
    Role role = hello.role();
    boolean isProven = peer == null || peer.role() == role;
    if ((role != Role.COMPUTE && role != Role.ADMIN) || !isProven) {
      throw new RefusedException(
          Hello.NOT_ALLOWED,
          "verbs are for compute servers, fences for admins: role=" + role + ", identity=" + peer);
    }
    return role;
  }

  private static TokenExchange challenge(ByteChannel channel, Secret secret, Role role)
      throws IOException {
    TokenExchange exchange = new TokenExchange(channel, secret, role);
    exchange.challenge();
    exchange.checkClient();
    return exchange;
  }

  /** Gives a client a place, if there is one, and tells it so. */
  private @Nullable Client admit(
      Watchdog.Watched connection, Hello.Request hello, @Nullable TokenExchange exchange)
      throws IOException {
    Client client = new Client(owner, hello, connection::close);
    boolean served = false;
    try {
      int status = admit(client);
      answer(connection.channel(), status, exchange);
      served = status == Hello.WELCOME;
    } finally {
      if (!served) {
        client.close();
      }
    }
    return served ? client : null;
  }

  private int admit(Client client) {
    if (!client.takePlace()) {
      return Hello.FULL;
    }
    // What came by older connections must not take effect once the client goes on.
    boolean replaced = owner.fences().replaceOlder(client.pass(), REPLACE_NANOS_MAX);
    return replaced ? Hello.WELCOME : Hello.OCCUPIED;
  }

  private void answer(ByteChannel channel, int status, @Nullable TokenExchange exchange)
      throws IOException {
    Hello.answer(channel, owner.welcome().withStatus(status));
    if (exchange != null) {
      exchange.proveToClient();
    }
  }

  /**
   * Reads what a refused client still sends, until it ends the connection: closing one with bytes
   * that were not read would take the answer back.
   */
  private static void drain(SocketChannel socket) throws IOException {
    socket.shutdownOutput();
    ByteBuffer rest = ByteBuffer.allocate(1 << 10);
    int drained = 0;
    int bytes = 0;
    while (bytes >= 0 && drained < DRAINED_MAX) {
      drained += bytes;
      bytes = socket.read(rest.clear());
    }
  }

  private static @Nullable SocketAddress remote(SocketChannel socket) {
    try {
      return socket.getRemoteAddress();
    } catch (IOException e) {
      return null;
    }
  }
}
