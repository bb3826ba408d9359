package pando.fabric.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * Both sides of a connection prove that they have the same secret, between a HELLO and its answer:
 *
 * <pre>
 *  client                         server
 *  HELLO, 32 random bytes   -->
 *                           <--   answer {@link Hello#PROVE}, 32 random bytes
 *  proof, 32 bytes          -->
 *                           <--   answer, proof, 32 bytes
 * </pre>
 *
 * <p>A proof is the HMAC-SHA256 of the protocol, the side that proves (client or server), both
 * roles, and both sides' random bytes. These are new for each connection, so a proof that was
 * overheard is worth nothing in another one. The client proves first: a stranger that connects
 * learns nothing to try secrets on. Of one connection; not thread-safe.
 */
public final class TokenExchange {
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ByteChannel channel;
  private final Protocol protocol;
  private final Secret secret;
  private final Role clientRole;
  private byte[] clientNonce = {};
  private byte[] serverNonce = {};

  /** Begins an exchange; nothing is sent yet. */
  public TokenExchange(ByteChannel channel, Protocol protocol, Secret secret, Role clientRole) {
    this.channel = channel;
    this.protocol = protocol;
    this.secret = secret;
    this.clientRole = clientRole;
  }

  /** Of a client, behind the HELLO. */
  public void begin() throws IOException {
    clientNonce = sendNonce();
  }

  /** Proves to a server that has asked for it. */
  public void prove() throws IOException {
    serverNonce = receive();
    send(proof(Secret.Side.CLIENT));
  }

  /**
   * Of a client, behind the last answer.
   *
   * @throws RefusedException if the server does not have the secret
   */
  public void checkServer() throws IOException {
    check(Secret.Side.SERVER, "the " + protocol.serverName() + " does not have the secret");
  }

  /** Checks the proof of a client that was asked for it. */
  public void challenge() throws IOException {
    clientNonce = receive();
    Hello.refuse(channel, protocol, Hello.PROVE, AuthenticationKind.TOKEN);
    serverNonce = sendNonce();
  }

  /**
   * Of a server, behind the challenge.
   *
   * @throws RefusedException if the client does not have the secret
   */
  public void checkClient() throws IOException {
    check(Secret.Side.CLIENT, "the client does not have the secret");
  }

  /** Of a server, behind the last answer. */
  public void proveToClient() throws IOException {
    send(proof(Secret.Side.SERVER));
  }

  private void check(Secret.Side side, String otherwise) throws IOException {
    byte[] expected = proof(side);
    if (!MessageDigest.isEqual(expected, receive())) {
      throw new RefusedException(Hello.WRONG_SECRET, otherwise);
    }
  }

  private byte[] proof(Secret.Side side) {
    return secret.proof(side, protocol, clientRole, clientNonce, serverNonce);
  }

  private byte[] sendNonce() throws IOException {
    byte[] nonce = new byte[BYTES];
    RANDOM.nextBytes(nonce);
    send(nonce);
    return nonce;
  }

  private void send(byte[] bytes) throws IOException {
    Hello.sendAll(channel, ByteBuffer.wrap(bytes));
  }

  private byte[] receive() throws IOException {
    return Hello.receiveAll(channel, ByteBuffer.allocate(BYTES)).array();
  }
}
