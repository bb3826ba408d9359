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
 *  client                         memory server
 *  HELLO, 32 random bytes   -->
 *                           <--   answer {@link Hello#PROVE}, 32 random bytes
 *  proof, 32 bytes          -->
 *                           <--   answer, proof, 32 bytes
 * </pre>
 *
 * <p>A proof is the HMAC-SHA256 of the side that proves (client or memory server), both roles, and
 * both sides' random bytes. These are new for each connection, so a proof that was overheard is
 * worth nothing in another one. The client proves first: a stranger that connects learns nothing to
 * try secrets on. Of one connection; not thread-safe.
 */
public final class TokenExchange {
  private static final int BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final ByteChannel channel;
  private final Secret secret;
  private final Role clientRole;
  private byte[] clientNonce = {};
  private byte[] serverNonce = {};

  /** Begins an exchange; nothing is sent yet. */
  public TokenExchange(ByteChannel channel, Secret secret, Role clientRole) {
    this.channel = channel;
    this.secret = secret;
    this.clientRole = clientRole;
  }

  /** Of a client, behind the HELLO. */
  public void begin() throws IOException {
    clientNonce = sendNonce();
  }

  /** Of a client that was told to prove. */
  public void prove() throws IOException {
    serverNonce = receive();
    send(secret.proof(Secret.Side.CLIENT, clientRole, clientNonce, serverNonce));
  }

  /**
   * Of a client, behind the last answer.
   *
   * @throws RefusedException if the memory server does not have the secret
   */
  public void checkServer() throws IOException {
    check(Secret.Side.SERVER, "the memory server does not have the secret");
  }

  /** Of a memory server that has told the client to prove. */
  public void challenge() throws IOException {
    clientNonce = receive();
    Hello.refuse(channel, Hello.PROVE, AuthenticationKind.TOKEN);
    serverNonce = sendNonce();
  }

  /**
   * Of a memory server, behind the challenge.
   *
   * @throws RefusedException if the client does not have the secret
   */
  public void checkClient() throws IOException {
    check(Secret.Side.CLIENT, "the client does not have the secret");
  }

  /** Of a memory server, behind the last answer. */
  public void proveToClient() throws IOException {
    send(secret.proof(Secret.Side.SERVER, clientRole, clientNonce, serverNonce));
  }

  private void check(Secret.Side side, String otherwise) throws IOException {
    byte[] expected = secret.proof(side, clientRole, clientNonce, serverNonce);
    if (!MessageDigest.isEqual(expected, receive())) {
      throw new RefusedException(Hello.WRONG_SECRET, otherwise);
    }
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
