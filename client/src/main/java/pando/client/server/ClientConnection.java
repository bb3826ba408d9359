package pando.client.server;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Outcome;
import pando.client.wire.RequestCheck;
import pando.client.wire.StatusWord;
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
 * lock of the lane; those that use the socket by the lane's own thread.
 */
final class ClientConnection {
  /** Results of so many bytes wait before nothing more is taken. */
  private static final int UNSENT_MAX = ClientFrame.BYTES_MAX;

  /** A response that has so many bytes takes no further result. */
  private static final int RESPONSE_FULL =
      ClientFrame.BYTES_MAX - ClientFrame.RESULT_BYTES - ClientFrame.TEXT_MAX;

  private static final int DRAINED = 4 << 10;

  private final ServiceLane lane;
  private final Watchdog.Watched connection;
  private final SocketChannel socket;
  private final ByteChannel channel;
  private final boolean isSecure;
  private final FrameReader requests = new FrameReader();
  private final FrameWriter responses = new FrameWriter();
  private @Nullable SelectionKey key;

  /** Operations of the open request that were not taken yet. */
  private int untaken;

  /** Operations that were taken and not answered yet. */
  private int underWay;

  /** Why the connection ends, {@code null} as long as it does not. */
  private @Nullable String farewell;

  private boolean isRefused;
  private boolean saidFarewell;
  private boolean closed;

  /** When something came last. */
  private long heard;

  /** Since when the client has taken nothing of what is to be sent, if there is something. */
  private long unsentSince;

  /** Since when the rest of a request is missing, 0 if it is not. */
  private long partialSince;

  /** Bytes that are reserved for the long request that arrives, 0 if there is none. */
  private int reserved;

  /** Whether it waits until they are. */
  private boolean awaitsRoom;

  /** Bytes of long responses that it holds. */
  private int unsentLong;

  /** Since when it holds some. */
  private long unsentLongSince;

  /** Whether its operations wait until long responses of others were taken. */
  boolean isStopped;

  /** Whether it is among those of the lane that have operations to be taken. */
  boolean isOffered;

  /** Whether it is among those of the lane that have something to be sent or read. */
  boolean isNoted;

  ClientConnection(ServiceLane lane, Watchdog.Watched connection) {
    this.lane = lane;
    this.connection = connection;
    this.socket = connection.socket();
    this.channel = connection.channel();
    this.isSecure = channel instanceof SecureChannel;
    this.heard = System.nanoTime();
    this.unsentSince = heard;
  }

  /** Has the lane wait for its socket. */
  void register() throws IOException {
    key = socket.register(lane.selector(), SelectionKey.OP_READ, this);
  }

  boolean isClosed() {
    return closed;
  }

  /** Reads what came, as far as there is room. */
  void receive() throws IOException {
    if (saidFarewell) {
      drain();
      return;
    }
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
  }

  /** Returns whether more may be read; of a long request, once there is memory for all of it. */
  private boolean hasRoom() throws FrameException {
    if (reserved == 0 && !awaitsRoom && requests.longLength() > 0) {
      int wanted = wanted();
      if (lane.longFrames().reserve(this, wanted)) {
        reserved = wanted;
      } else {
        awaitsRoom = true;
      }
    }
    return !awaitsRoom && requests.hasRoom();
  }

  /** Returns how many bytes the long request has that arrives. */
  int wanted() {
    return requests.longLength();
  }

  /** Learns that there is memory for the long request. */
  void reserved() {
    reserved = wanted();
    awaitsRoom = false;
    note();
  }

  /** Reads what comes behind the farewell, until the client ends the connection. */
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

  /** Opens requests until one has operations to be taken, or none is there. */
  private void advance() {
    try {
      while (untaken == 0 && farewell == null && requests.open()) {
        open();
      }
    } catch (FrameException e) {
      untaken = 0;
      refuse(String.valueOf(e.getMessage()));
    }
  }

  private void open() throws FrameException {
    partialSince = 0;
    RequestCheck.check(requests);
    switch (requests.kind()) {
      case ClientFrame.ROUTES -> answerRoutes();
      case ClientFrame.STATUS -> answerStatus();
      case ClientFrame.SCAN, ClientFrame.BYTES, ClientFrame.BYTE_SCAN -> untaken = 1;
      default -> untaken = requests.count();
    }
    if (untaken == 0) {
      requests.next();
    }
  }

  /** Returns whether an operation can be taken. */
  boolean hasOperation() {
    return untaken > 0
        && farewell == null
        && !closed
        && responses.unsent() < UNSENT_MAX
        && (!ClientFrame.isOfStrings(requests.kind()) || lane.longFrames().mayOperate(this));
  }

  /** Gives a worker the next operation. */
  void take(ServiceWorker<?> worker) {
    worker.connection = this;
    worker.take(requests);
    underWay++;
    untaken--;
    if (untaken == 0) {
      worker.held = reserved;
      reserved = 0;
      requests.next();
      advance();
      note();
    }
  }

  /** Takes the result of a worker. */
  void answer(ServiceWorker<?> worker) {
    underWay--;
    if (closed) {
      return;
    }
    if (worker.kind == ClientFrame.OPERATIONS) {
      if (responses.kind() != 0
          && (responses.length() > RESPONSE_FULL
              || responses.count() == ClientFrame.OPERATIONS_MAX)) {
        finish();
      }
      if (responses.kind() == 0) {
        responses.begin(ClientFrame.OPERATIONS);
      }
      worker.addResult(responses);
    } else {
      answerAlone(worker);
    }
    note();
  }

  private void answerAlone(ServiceWorker<?> worker) {
    finish();
    responses.begin(worker.kind);
    worker.addResult(responses);
    responses.count(worker.addFound(responses));
    responses.finish(worker.flags(), worker.sequence, lane.epoch());
    if (ClientFrame.isOfStrings(worker.kind)) {
      noteUnsent();
    }
  }

  /** Notes how much of long responses waits to be sent. */
  private void noteUnsent() {
    int unsent = Math.max(0, responses.unsent() - UNSENT_MAX);
    if (unsentLong == 0) {
      unsentLongSince = System.nanoTime();
    }
    int more = unsent - unsentLong;
    unsentLong = unsent;
    lane.longFrames().addResponses(more);
  }

  private void answerRoutes() {
    finish();
    Routes routes = lane.routes();
    responses.begin(ClientFrame.ROUTES);
    for (Routes.Route route : routes.routes()) {
      responses.route(route.low(), route.owner(), route.address());
    }
    int flags = routes.isPartitioned() ? ClientFrame.PARTITIONED : 0;
    responses.finish(flags, requests.sequence(), routes.epoch());
    note();
  }

  private void answerStatus() {
    finish();
    responses.begin(ClientFrame.STATUS);
    responses.result(Outcome.YES, 0, 0, 0, lane.system());
    for (int place = 0; place < StatusWord.COUNT; place++) {
      responses.word(lane.statusWord(place));
    }
    responses.count(StatusWord.COUNT);
    responses.finish(0, requests.sequence(), lane.epoch());
    note();
  }

  /** Finishes the response in which results gather. */
  private void finish() {
    if (responses.kind() != 0) {
      responses.finish(0, 0, lane.epoch());
    }
  }

  /** Has the lane send what there is, and look for operations. */
  void note() {
    lane.note(this);
  }

  /** Ends the connection after a request that makes no sense. */
  private void refuse(String because) {
    isRefused = true;
    leave(because);
  }

  /** Ends the connection once what is under way is answered; takes nothing more. */
  void leave(String because) {
    if (farewell == null) {
      farewell = because;
      note();
    }
  }

  /** Sends what there is, and reads what there was no room for. */
  void flush() throws IOException {
    finish();
    if (farewell != null && underWay == 0 && !saidFarewell) {
      sayFarewell(farewell);
    }
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
    if (saidFarewell && !isFull && socket.isOpen()) {
      socket.shutdownOutput();
    }
    if (!isFull && !saidFarewell && isSecure) {
      // The selector does not know of bytes that TLS has decrypted already.
      receive();
    }
    advance();
    int wanted = (saidFarewell || hasRoom() ? SelectionKey.OP_READ : 0);
    setInterest(wanted | (isFull ? SelectionKey.OP_WRITE : 0));
    lane.offer(this);
  }

  private void sayFarewell(String because) {
    responses.begin(ClientFrame.GOODBYE);
    responses.result(Outcome.NO, 0, 0, 0, because);
    responses.count(0);
    responses.finish(isRefused ? ClientFrame.REFUSED : 0, 0, lane.epoch());
    saidFarewell = true;
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
    boolean isPartial = !requests.isOpen() && !requests.isEmpty() && !awaitsRoom;
    if (!isPartial) {
      partialSince = 0;
    } else if (partialSince == 0) {
      partialSince = now | 1;
    }
    boolean takesNothing = responses.unsent() > 0 && now - unsentSince > limits.frameNanos();
    boolean takesLittle = unsentLong > 0 && now - unsentLongSince > limits.frameNanos();
    boolean sendsNothing = partialSince != 0 && now - partialSince > limits.frameNanos();
    boolean stays = saidFarewell && now - unsentSince > limits.farewellNanos();
    if (takesNothing || takesLittle || sendsNothing || stays) {
      throw new IOException("the client takes too long");
    }
    if (underWay == 0 && untaken == 0 && now - heard > limits.idleNanos()) {
      leave("nothing came for a long time");
    }
    if (underWay == 0) {
      requests.shrink();
      responses.shrink();
    }
  }

  /** Closes it; what is under way goes on, and is not answered. */
  void close() {
    if (!closed) {
      closed = true;
      connection.close();
      LongFrames longFrames = lane.longFrames();
      longFrames.forget(this);
      longFrames.release(reserved);
      longFrames.addResponses(-unsentLong);
    }
  }
}
