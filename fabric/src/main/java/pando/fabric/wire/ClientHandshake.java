package pando.fabric.wire;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;
import pando.fabric.wire.Hello.Welcome;

/** How a client introduces itself to a server, and checks that it is one. */
public final class ClientHandshake {
  private ClientHandshake() {}

  /**
   * Does all that comes before the first request.
   *
   * @param way whose older connections this one replaces, 0 for none
   * @return the answer of the server, which may say that it has no room or another version, that it
   *     still serves an older connection, or that it refuses the compute server's epoch
   * @throws RefusedException if one side does not accept the other
   */
  public static Welcome perform(Watchdog.Watched connection, Introduction self, long way)
      throws IOException {
    Credentials credentials = self.credentials();
    try {
      TlsKeys keys = credentials.keys();
      if (keys != null) {
        secure(connection, keys, self.protocol());
      }
      ByteChannel channel = connection.channel();
      Hello.send(
          channel, self.protocol(), credentials.kind(), self.role(), self.computeServer(), way);
      Secret secret = credentials.secret();
      return secret == null
          ? Hello.receiveAnswer(channel, self.protocol())
          : prove(channel, secret, self);
    } catch (SSLException e) {
      throw new RefusedException("no TLS with it: " + SecureChannel.reason(e), e);
    }
  }

  private static void secure(Watchdog.Watched connection, TlsKeys keys, Protocol protocol)
      throws IOException {
    SecureChannel secure = new SecureChannel(connection.socket(), keys.engine(true));
    try {
      boolean done = secure.handshake();
      assert done;
      Identity peer = keys.peer(secure.engine());
      if (peer.role() != protocol.server()) {
        throw new CertificateException(
            "is not of a " + protocol.serverName() + ": identity=" + peer);
      }
      connection.use(secure);
    } catch (PlainPeerException e) {
      throw new RefusedException("it speaks without TLS", e);
    } catch (CertificateException e) {
      throw new RefusedException("its certificate " + e.getMessage(), e);
    }
  }

  private static Welcome prove(ByteChannel channel, Secret secret, Introduction self)
      throws IOException {
    TokenExchange exchange = new TokenExchange(channel, self.protocol(), secret, self.role());
    exchange.begin();
    Welcome challenge = Hello.receiveAnswer(channel, self.protocol());
    if (challenge.status() == Hello.OTHER_VERSION) {
      return challenge;
    }
    if (challenge.status() != Hello.PROVE) {
      throw new RefusedException(
          Hello.NOT_ALLOWED, "it asks for no proof of the secret, and gives none");
    }
    exchange.prove();
    Welcome welcome = Hello.receiveAnswer(channel, self.protocol());
    exchange.checkServer();
    return welcome;
  }
}
