package pando.fabric.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.FrameInput;
import pando.fabric.wire.FrameOutput;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.SecureChannel;

/**
 * The connection that the workers of a lane share to a memory server. Their requests gather until
 * the lane polls, and leave in one piece; the responses come in the same order.
 *
 * <pre>
 *   workers --send--> gathered requests --poll--> memory server
 *      |                                               |
 *      +-- under way, in order <---poll--- responses --+
 * </pre>
 *
 * <p>Where it is cut, each request under way fails, and its worker learns whether it may have left.
 * The next request opens the connection again. Thread-safe.
 */
final class LaneConnection {
  private final TcpLane lane;
  private final RemoteServer server;

  /** Is held while the connection is opened, which waits for the memory server. */
  private final ReentrantLock opening = new ReentrantLock();

  private final FrameOutput output = new FrameOutput();
  private final FrameInput input = new FrameInput();
  private final ArrayDeque<LanePath> underWay = new ArrayDeque<>();
  private Watchdog.@Nullable Watched connection;
  private @Nullable SelectionKey key;
  private boolean wasFull;
  private boolean closed;

  LaneConnection(TcpLane lane, RemoteServer server) {
    this.lane = lane;
    this.server = server;
  }

  synchronized boolean isOpen() {
    return connection != null && connection.channel().isOpen();
  }

  /**
   * Opens it, unless it is open or another worker opens it meanwhile.
   *
   * @throws IOException if the memory server accepts no connection
   */
  void open() throws IOException {
    opening.lock();
    try {
      if (!isOpen()) {
        openAnew();
      }
    } finally {
      opening.unlock();
    }
  }

  private void openAnew() throws IOException {
    Watchdog.Watched opened = lane.open(server);
    boolean adopted = false;
    try {
      adopt(opened);
      adopted = true;
    } finally {
      if (!adopted) {
        opened.close();
      }
    }
  }

  private synchronized void adopt(Watchdog.Watched opened) throws IOException {
    if (closed) {
      throw new IllegalStateException("lane is closed");
    }
    fail(new ClosedChannelException());
    opened.socket().configureBlocking(false);
    key = lane.register(opened.socket());
    connection = opened;
  }

  /**
   * Gathers a request, to be sent when the lane polls.
   *
   * @return what it goes by, to {@link #cut} it
   * @throws SocketException if the connection was cut; the request was not sent
   */
  synchronized Watchdog.Watched send(LanePath path, RequestWriter request) throws SocketException {
    Watchdog.Watched open = connection;
    if (open == null) {
      throw new SocketException("cut before the request was sent: " + server);
    }
    output.add(request);
    path.end = output.added();
    underWay.addLast(path);
    if (underWay.size() == 1) {
      open.expectBy(path.deadline);
    }
    lane.noteGathered();
    return open;
  }

  /**
   * Sends what gathered, and delivers what came.
   *
   * @param readable whether something may have come though nothing is under way
   * @return whether a worker goes on
   */
  synchronized boolean poll(boolean readable) {
    Watchdog.Watched open = connection;
    if (open == null || (underWay.isEmpty() && !readable)) {
      return false;
    }
    try {
      send(open.channel());
      boolean delivered = receive(open.channel());
      if (delivered) {
        watch(open);
      }
      return delivered;
    } catch (IOException e) {
      fail(open.reason(e));
      return true;
    } catch (RuntimeException | Error e) {
      // Memory for a long response, for example. The workers are told, and the lane goes on.
      fail(new IOException("the lane failed: " + server, e));
      return true;
    }
  }

  private void send(ByteChannel channel) throws IOException {
    output.send(channel);
    boolean isFull = !output.isEmpty() || (channel instanceof SecureChannel tls && !tls.flush());
    if (isFull != wasFull && key != null) {
      // Of a channel that takes no more, wait until it does.
      key.interestOps(SelectionKey.OP_READ | (isFull ? SelectionKey.OP_WRITE : 0));
      wasFull = isFull;
    }
  }

  /** Takes all that came, as what a channel has decrypted is not waited for. */
  private boolean receive(ByteChannel channel) throws IOException {
    boolean some = false;
    int bytes;
    do {
      bytes = input.read(channel);
      while (input.hasFrame()) {
        deliver();
        some = true;
      }
    } while (bytes > 0 && !underWay.isEmpty());
    if (bytes < 0) {
      throw new EOFException("the memory server ended the connection");
    }
    return some;
  }

  private void deliver() throws FrameException {
    LanePath path = underWay.peekFirst();
    if (path == null) {
      throw new FrameException("a response to no request: server=" + server);
    }
    // If it is not the response to this request, this one fails with the others.
    path.take(input);
    underWay.removeFirst();
    path.goOn();
    input.next();
  }

  /** Lets the memory server have the time that the oldest request has. */
  private void watch(Watchdog.Watched open) {
    LanePath oldest = underWay.peekFirst();
    if (oldest == null) {
      open.relax();
    } else {
      open.expectBy(oldest.deadline);
    }
  }

  /** Cuts the connection, unless it was opened anew meanwhile. */
  @SuppressWarnings("ReferenceEquality") // Connections are what they are.
  synchronized void cut(Watchdog.Watched used) {
    if (connection == used) {
      fail(new ClosedChannelException());
    }
  }

  /** Closes it for good, with the lane. */
  synchronized void close() {
    closed = true;
    fail(new ClosedChannelException());
  }

  private void fail(IOException because) {
    if (connection != null) {
      connection.close();
      connection = null;
      key = null;
    }
    for (LanePath path = underWay.pollFirst(); path != null; path = underWay.pollFirst()) {
      path.fail(because, output.sent());
    }
    output.clear();
    input.clear();
    wasFull = false;
  }
}
