package pando.client.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.SecureChannel;
import pando.fabric.wire.Watchdog;

/**
 * A compute server's side of the connection of one client. Operations are taken from the request
 * that came first, one at a time, by any of the lane's workers; results gather in one response
 * until the lane sends what there is.
 *
 * <pre>
 *    socket --receive--> requests --take--> a worker, and others meanwhile
 *       ^                                      |
 *       +---- send <---- results gather <--answer
 * </pre>
 *
 * <p>Where a client does not take its results, nothing more of its requests is taken, and where
 * those fill the buffer, nothing more is read: so it stops itself. All methods are called under the
 * lock of the lane, which queues it for what it has; those that use the socket by the lane's own
 * thread.
 */
final class ClientConnection {
  private static final int DRAINED = 4 << 10;

  private final FrameExchange frames;
  private final LongFrames<ClientConnection> longFrames;
  private final Watchdog.Watched connection;
  private final SocketChannel socket;
  private final ByteChannel channel;
  private final boolean isSecure;
  private final boolean isOfStrings;
  private @Nullable SelectionKey key;
  private boolean closed;

  /** When something came last. */
  private long heard;

  /** Since when the client has taken nothing of what is to be sent, or there was nothing. */
  private long unsentSince;

  /** Since when the rest of a request is missing, 0 if it is not. */
  private long partialSince;

  /** Requests that were opened before. */
  private long openedBefore;

  /** Bytes that are reserved for the long request that arrives, 0 if there is none. */
  private int reserved;

  /** Whether it waits until they are. */
  private boolean awaitsRoom;

  /** Bytes of long responses that it holds. */
  private int unsentLong;

  /** Since when it holds some. */
  private long unsentLongSince;

  /** Whether it is among those of the lane that have operations to be taken. */
  boolean isOffered;

  /** Whether it is among those of the lane that have something to be sent or read. */
  boolean isNoted;

  ClientConnection(
      ServiceFacts facts, LongFrames<ClientConnection> longFrames, Watchdog.Watched connection) {
    this.frames = new FrameExchange(facts, () -> longFrames.mayOperate(this));
    this.isOfStrings = facts.index().isOfStrings();
    this.longFrames = longFrames;
    this.connection = connection;
    this.socket = connection.socket();
    this.channel = connection.channel();
    this.isSecure = channel instanceof SecureChannel;
    this.heard = System.nanoTime();
    this.unsentSince = heard;
  }

  /** Has a lane wait for its socket. */
  void register(Selector selector) throws IOException {
    key = socket.register(selector, SelectionKey.OP_READ, this);
  }

  boolean isClosed() {
    return closed;
  }

  /** Reads what came, as far as there is room. */
  void receive() throws IOException {
    if (frames.saidGoodbye) {
      drain();
      return;
    }
    FrameReader requests = frames.requests;
    int bytes = 0;
    while (hasRoom()) {
      bytes = requests.read(channel);
      if (bytes <= 0) {
        break;
      }
      heard = System.nanoTime();
      // A plain socket that had no more than this is empty.
      if (!isSecure && requests.hasRoom()) {
        break;
      }
    }
    advance();
    if (bytes < 0) {
      throw new EOFException("the client ended the connection");
    }
    if (awaitsRoom) {
      stopReading();
    }
  }

  private void advance() {
    frames.advance();
    if (isOfStrings) {
      // Routes may be among its answers.
      noteUnsent();
    }
  }

  /** Does not look for more until it {@linkplain #flush goes on}: it would be there each time. */
  private void stopReading() {
    SelectionKey its = key;
    if (its != null && its.isValid()) {
      its.interestOpsAnd(~SelectionKey.OP_READ);
    }
  }

  /** Returns whether more may be read; of a long request, once there is memory for all of it. */
  private boolean hasRoom() throws FrameException {
    int wanted = reserved == 0 ? frames.requests.longLength() : 0;
    if (wanted > 0) {
      awaitsRoom = !longFrames.reserve(this, wanted);
      reserved = awaitsRoom ? 0 : wanted;
    }
    return !awaitsRoom && frames.requests.hasRoom();
  }

  /** Reads what comes behind the goodbye, until the client ends the connection. */
  private void drain() throws IOException {
    ByteBuffer rest = ByteBuffer.allocate(DRAINED);
    int bytes;
    do {
      bytes = socket.read(rest.clear());
    } while (bytes > 0);
    if (bytes == 0) {
      return;
    }
    throw new EOFException("the client ended the connection");
  }

  /** Returns whether an operation can be taken. */
  boolean hasOperation() {
    return !closed
        && frames.hasOperation()
        && (!ClientFrame.isOfStrings(frames.requests.kind()) || longFrames.mayOperate(this));
  }

  /** Returns whether there may be something to be sent, or read. */
  boolean hasNews() {
    return frames.hasNews;
  }

  /** Gives a worker the next operation; returns the bytes of a long frame that it has then. */
  int take(ServiceWorker<?> worker) {
    int held = 0;
    if (frames.take(worker)) {
      held = reserved;
      reserved = 0;
    }
    return held;
  }

  /** Takes the result of a worker. */
  void answer(ServiceWorker<?> worker) {
    frames.answer(worker);
    if (!closed && ClientFrame.isOfStrings(worker.kind)) {
      noteUnsent();
    }
  }

  /** Notes how much of long responses waits to be sent. */
  private void noteUnsent() {
    int unsent = Math.max(0, frames.responses.unsent() - FrameExchange.UNSENT_MAX);
    if (unsentLong == 0) {
      unsentLongSince = System.nanoTime();
    }
    int more = unsent - unsentLong;
    unsentLong = unsent;
    longFrames.addResponses(more);
  }

  /** Ends the connection once what is under way is answered; takes nothing more. */
  void leave(String because) {
    frames.leave(because);
  }

  /** Sends what there is, and reads what there was no room for. */
  void flush() throws IOException {
    frames.hasNews = false;
    frames.finishAll();
    FrameWriter responses = frames.responses;
    long sent = responses.sent();
    responses.send(channel);
    if (unsentLong > 0) {
      noteUnsent();
    }
    if (responses.sent() > sent || responses.unsent() == 0) {
      unsentSince = System.nanoTime();
    }
    boolean isFull =
        responses.unsent() > 0 || (channel instanceof SecureChannel tls && !tls.flush());
    boolean isOver = frames.saidGoodbye;
    if (isOver && !isFull && socket.isOpen()) {
      socket.shutdownOutput();
    }
    if (!isFull && !isOver && isSecure) {
      // The selector does not know of bytes that TLS has decrypted already.
      receive();
    }
    advance();
    int wanted = (isOver || hasRoom() ? SelectionKey.OP_READ : 0);
    setInterest(wanted | (isFull ? SelectionKey.OP_WRITE : 0));
  }

  private void setInterest(int wanted) {
    SelectionKey its = key;
    if (its != null && its.isValid() && its.interestOps() != wanted) {
      its.interestOps(wanted);
    }
  }

  /**
   * Looks after it once in a while.
   *
   * @throws IOException if the client takes too long
   */
  void check(ServiceLimits limits, long now) throws IOException {
    FrameReader requests = frames.requests;
    FrameWriter responses = frames.responses;
    boolean isPartial = !requests.isOpen() && !requests.isEmpty() && !awaitsRoom;
    if (!isPartial) {
      partialSince = 0;
    } else if (partialSince == 0 || frames.opened != openedBefore) {
      partialSince = now | 1;
      openedBefore = frames.opened;
    }
    if (responses.unsent() == 0 && !frames.saidGoodbye) {
      unsentSince = now;
    }
    boolean takesNothing = responses.unsent() > 0 && now - unsentSince > limits.frameNanos();
    boolean takesLittle = unsentLong > 0 && now - unsentLongSince > limits.frameNanos();
    boolean sendsNothing = partialSince != 0 && now - partialSince > limits.frameNanos();
    boolean stays = frames.saidGoodbye && now - unsentSince > limits.goodbyeNanos();
    if (takesNothing || takesLittle || sendsNothing || stays) {
      throw new IOException("the client takes too long");
    }
    if (frames.underWay == 0 && frames.untaken == 0 && now - heard > limits.idleNanos()) {
      leave("nothing came for a long time");
    }
    if (frames.underWay == 0) {
      requests.shrink();
      responses.shrink();
    }
  }

  /** Closes it; what is under way goes on, and is not answered. */
  void close() {
    if (!closed) {
      closed = true;
      connection.close();
      longFrames.forget(this);
      longFrames.release(reserved);
      longFrames.addResponses(-unsentLong);
    }
  }
}
