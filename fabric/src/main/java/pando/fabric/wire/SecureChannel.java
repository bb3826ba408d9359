package pando.fabric.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * A socket whose bytes go encrypted, by TLS. {@link #handshake} comes first; until it has returned
 * {@code true} nothing else may be called but {@link #close} and {@link #isOpen}.
 *
 * <p>As blocking as the socket is. With a non-blocking one {@link #handshake} and {@link #flush}
 * return {@code false}, and {@link #read} returns 0, where they would have to wait; {@link #write}
 * takes what fits and keeps the records that the socket did not take, which {@link #flush} or the
 * next write sends.
 *
 * <p>Nothing says goodbye when the channel closes: what goes over it says itself where it ends, so
 * a connection that is cut is noticed either way. Not thread-safe, but for {@link #close}.
 */
public final class SecureChannel implements ByteChannel {
  /** Most bytes that the other side may send before it is known who it is. */
  private static final int HANDSHAKE_BYTES_MAX = 64 << 10;

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final SocketChannel socket;
  private final SSLEngine engine;

  /** Records that came, from the position to the limit. */
  private final ByteBuffer received;

  /** What was decrypted and not read yet, from the position to the limit. */
  private final ByteBuffer decrypted;

  /** Records that the socket has not taken yet, from the position to the limit. */
  private final ByteBuffer unsent;

  private int handshakeBytes;
  private boolean established;
  private boolean ended;

  /**
   * Creates the channel; nothing is sent yet.
   *
   * @param engine of this connection alone, which knows on which side it is
   * @throws SSLException if the engine cannot begin
   */
  public SecureChannel(SocketChannel socket, SSLEngine engine) throws SSLException {
    engine.beginHandshake();
    this.socket = socket;
    this.engine = engine;
    // Arrays, as the JDK's ciphers copy what lies elsewhere: 128 KiB took 1.6 times the time.
    int recordBytes = engine.getSession().getPacketBufferSize();
    received = ByteBuffer.allocate(recordBytes).limit(0);
    unsent = ByteBuffer.allocate(recordBytes).limit(0);
    decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
  }

  /**
   * Agrees on keys with the other side, and checks who it is.
   *
   * @return whether that is done; if not, the socket has to be readable or writable first
   * @throws PlainPeerException if the other side speaks Pando's protocol without TLS
   * @throws SSLException if one side does not accept the other, which has got an alert if it is
   *     this one
   * @throws EOFException if the other side ends the connection
   */
  public boolean handshake() throws IOException {
    try {
      while (!established) {
        if (!flush()) {
          return false;
        }
        switch (engine.getHandshakeStatus()) {
          case NEED_TASK -> runTasks();
          case NEED_WRAP -> encrypt(NOTHING);
          case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
            if (!decrypt() && !receiveOfHandshake()) {
              return false;
            }
          }
          case FINISHED, NOT_HANDSHAKING -> establish();
        }
      }
      return flush();
    } catch (SSLException e) {
      sendAlert(e);
      throw e;
    }
  }

  /** Returns what is wrong in one line, with the first cause. */
  public static String reason(SSLException failure) {
    String reason = String.valueOf(failure.getMessage());
    Throwable cause = failure.getCause();
    if (cause == null) {
      return reason;
    }
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return reason + ": " + cause.getMessage();
  }

  /** Returns the engine, whose session says who the other side is. */
  public SSLEngine engine() {
    return engine;
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    requireEstablished();
    while (!decrypted.hasRemaining() && into.hasRemaining()) {
      if (ended) {
        return -1;
      }
      int bytes = decrypt() ? 1 : receive();
      if (bytes <= 0) {
        return bytes;
      }
    }
    int bytes = Math.min(decrypted.remaining(), into.remaining());
    into.put(into.position(), decrypted, decrypted.position(), bytes);
    into.position(into.position() + bytes);
    decrypted.position(decrypted.position() + bytes);
    return bytes;
  }

  @Override
  public int write(ByteBuffer bytes) throws IOException {
    requireEstablished();
    int before = bytes.remaining();
    while (flush() && bytes.hasRemaining()) {
      encrypt(bytes);
    }
    return before - bytes.remaining();
  }

  /** Sends what was kept; returns whether the socket has taken all. */
  public boolean flush() throws IOException {
    while (unsent.hasRemaining()) {
      if (socket.write(unsent) == 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean isOpen() {
    return socket.isOpen();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private void establish() throws SSLException {
    if (engine.isInboundDone() || engine.isOutboundDone()) {
      throw new SSLException("the other side ended TLS before it began");
    }
    established = true;
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /** Returns whether something came; waits for it if the socket is blocking. */
  private boolean receiveOfHandshake() throws IOException {
    int bytes = receive();
    if (bytes < 0) {
      throw new EOFException("the other side ended the connection: bytes=" + handshakeBytes);
    }
    if (handshakeBytes == 0 && bytes > 0) {
      checkFirst(received.get(received.position()));
    }
    handshakeBytes += bytes;
    if (handshakeBytes > HANDSHAKE_BYTES_MAX) {
      throw new SSLException("too long for a handshake: maximum=" + HANDSHAKE_BYTES_MAX);
    }
    return bytes > 0;
  }

  private static void checkFirst(byte first) throws PlainPeerException {
    if (first == Hello.FIRST_BYTE) {
      throw new PlainPeerException();
    }
  }

  /** Reads records, or parts of them; returns how many bytes, -1 at the end. */
  private int receive() throws IOException {
    received.compact();
    try {
      return socket.read(received);
    } finally {
      received.flip();
    }
  }

  /** Opens a record; returns whether a whole one was there. What was decrypted is read already. */
  private boolean decrypt() throws SSLException {
    if (!received.hasRemaining()) {
      return false;
    }
    decrypted.clear();
    SSLEngineResult result;
    try {
      result = engine.unwrap(received, decrypted);
    } finally {
      decrypted.flip();
    }
    ended = result.getStatus() == Status.CLOSED;
    if (result.getStatus() == Status.BUFFER_OVERFLOW) {
      throw new SSLException("a record that is too long: maximum=" + decrypted.capacity());
    }
    return ended || result.bytesConsumed() > 0;
  }

  /** Seals as many bytes as a record has; all before is sent. */
  private void encrypt(ByteBuffer bytes) throws SSLException {
    unsent.clear();
    SSLEngineResult result;
    try {
      result = engine.wrap(bytes, unsent);
    } finally {
      unsent.flip();
    }
    if (result.getStatus() == Status.CLOSED && !unsent.hasRemaining()) {
      throw new SSLException("the other side has ended TLS");
    }
  }

  /** Informs the other side why the handshake failed. */
  private void sendAlert(SSLException why) {
    try {
      while (flush() && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
        encrypt(NOTHING);
      }
    } catch (IOException e) {
      why.addSuppressed(e);
    }
  }

  private void requireEstablished() {
    if (!established) {
      throw new IllegalStateException("no TLS yet: status=" + engine.getHandshakeStatus());
    }
  }
}
