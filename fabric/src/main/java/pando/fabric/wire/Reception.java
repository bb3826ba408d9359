package pando.fabric.wire;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * How a server lets clients in: all of a connection before its first request. First TLS, if that is
 * asked for; then the client's HELLO; then the proof of the secret, if that is asked for; then a
 * place among the connections, and the answer.
 *
 * <p>Until then a client is a guest: there are {@link Guests#MAX} at the most, each has all of it
 * done in a few seconds, and can make the server take no more than TLS's 64 KiB and some messages
 * of 64 bytes. A client that is refused learns why, if it can understand it. Thread-safe.
 *
 * @param <C> clients that are let in
 */
public abstract class Reception<C> {
  /** Most bytes that are read of a client that was refused, so that it can read why. */
  private static final int DRAINED_MAX = 64 << 10;

  private final Protocol protocol;
  private final Credentials credentials;
  private final long helloNanos;
  private final Guests guests = new Guests();
  private final RefusalLog log;

  /**
   * Creates it.
   *
   * @param name of the server, in its log
   * @param helloNanos time for all of it
   */
  protected Reception(Protocol protocol, Credentials credentials, String name, long helloNanos) {
    this.protocol = protocol;
    this.credentials = credentials;
    this.helloNanos = helloNanos;
    this.log = new RefusalLog(name);
  }

  /** Returns whether clients of a role may come. */
  protected abstract boolean serves(Role role);

  /** Returns who may come, for a message. */
  protected abstract String served();

  /**
   * Gives a client that has proven who it is a place, and answers it, or says why not.
   *
   * @param hello of a role that is served
   * @param exchange of the secret, which follows the answer, or {@code null}
   * @return the client, or {@code null} if it may not go on
   */
  protected abstract @Nullable C admit(
      Watchdog.Watched connection, Hello.Request hello, @Nullable TokenExchange exchange)
      throws IOException;

  /** Answers a client, of which nothing is known, that there is no room. */
  protected abstract void answerFull(SocketChannel socket) throws IOException;

  /** Takes a connection as a guest, whose time begins. */
  public final void arrive(Watchdog.Watched connection) {
    connection.expect(helloNanos);
    Watchdog.Watched oldest = guests.enter(connection);
    if (oldest != null) {
      log.add("the oldest", "too many that have not said who they are: most=" + Guests.MAX);
    }
  }

  /** Ends a connection for which there is no room. */
  public final void turnAway(SocketChannel socket) throws IOException {
    try (socket) {
      // Of those that have to prove something first, none may know anything before.
      if (credentials.kind() == AuthenticationKind.NONE) {
        answerFull(socket);
      }
    }
  }

  /**
   * Lets a guest in or refuses it; either way it is none any more.
   *
   * @return the client, if it may go on; it has a place until it is closed
   * @throws IOException if the client is gone, or makes no sense
   */
  public final @Nullable C perform(Watchdog.Watched connection) throws IOException {
    String client = String.valueOf(remote(connection.socket()));
    try {
      C served = greet(connection);
      connection.relax();
      return served;
    } catch (RefusedException e) {
      log.add(client, String.valueOf(e.getMessage()));
      Hello.refuse(connection.channel(), protocol, e.status(), credentials.kind());
      drain(connection.socket());
      return null;
    } catch (SSLException e) {
      // TLS has sent the client an alert.
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

  private @Nullable C greet(Watchdog.Watched connection) throws IOException {
    TlsKeys keys = credentials.keys();
    Identity peer = keys == null ? null : secure(connection, keys);
    ByteChannel channel = connection.channel();
    Hello.Request hello = Hello.receive(channel, protocol);
    if (hello.version() != Hello.VERSION) {
      Hello.refuse(channel, protocol, Hello.OTHER_VERSION, credentials.kind());
      return null;
    }
    Role role = checkedRole(hello, peer);
    Secret secret = credentials.secret();
    return admit(connection, hello, secret == null ? null : challenge(channel, secret, role));
  }

  /** Logs that a client was refused. */
  protected final void logRefused(Watchdog.Watched connection, String reason) {
    log.add(String.valueOf(remote(connection.socket())), reason);
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
    if (role == null || !serves(role) || !isProven) {
      throw new RefusedException(
          Hello.NOT_ALLOWED, served() + ": role=" + role + ", identity=" + peer);
    }
    return role;
  }

  private TokenExchange challenge(ByteChannel channel, Secret secret, Role role)
      throws IOException {
    TokenExchange exchange = new TokenExchange(channel, protocol, secret, role);
    exchange.challenge();
    exchange.checkClient();
    return exchange;
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
