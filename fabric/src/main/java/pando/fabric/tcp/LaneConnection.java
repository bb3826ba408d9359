package pando.fabric.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.FrameInput;
import pando.fabric.wire.FrameOutput;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.SecureChannel;
import pando.fabric.wire.Watchdog;

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
 *
 * <p>A thread of the lane may give way while it has the lock, and needs the lane's own thread to go
 * on. So that one never waits for the lock.
 */
final class LaneConnection {
  private final TcpLane lane;
  private final RemoteServer server;
  private final long way;
  private final long callNanos;

  /** Is held while the connection is opened, which waits for the memory server. */
  private final ReentrantLock opening = new ReentrantLock();

  /** Guards all that follows. */
  private final Lock lock = new ReentrantLock();

  private final FrameOutput output = new FrameOutput();
  private final FrameInput input = new FrameInput();
  private final ArrayDeque<LanePath> underWay = new ArrayDeque<>();
  private volatile Watchdog.@Nullable Watched connection;
  private @Nullable SelectionKey key;
  private boolean wasFull;
  private boolean closed;

  /**
   * Creates it, not open.
   *
   * @param callNanos longest wait for a CALL; 0 if it is for verbs, which have deadlines
   */
  LaneConnection(TcpLane lane, RemoteServer server, long callNanos) {
    this.lane = lane;
    this.server = server;
    this.way = server.newWay();
    this.callNanos = callNanos;
  }

  boolean isOpen() {
    Watchdog.Watched open = connection;
    return open != null && open.channel().isOpen();
  }

  /**
   * Opens it, unless it is open or another worker opens it meanwhile.
   *
   * @throws IOException if the memory server accepts no connection
   */
  void open() throws IOException {
    opening.lock();
    try {
      // Another may have found meanwhile that it is lost.
      server.checkUsable();
      if (!isOpen()) {
        openAnew();
      }
    } finally {
      opening.unlock();
    }
  }

  private void openAnew() throws IOException {
    Watchdog.Watched opened = lane.open(server, way);
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

  private void adopt(Watchdog.Watched opened) throws IOException {
    opened.socket().configureBlocking(false);
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("lane is closed");
      }
      fail(new ClosedChannelException());
      key = lane.register(opened.socket());
      connection = opened;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gathers a request, to be sent when the lane polls.
   *
   * @return the connection that it leaves by, to {@link #cut} that one and none that comes later
   * @throws SocketException if the connection was cut; the request was not sent
   */
  Watchdog.Watched send(LanePath path, RequestWriter request) throws SocketException {
    lock.lock();
    try {
      Watchdog.Watched open = connection;
      if (open == null) {
        throw new SocketException("cut before the request was sent: " + server);
      }
      output.add(request);
      path.end = output.added();
      underWay.addLast(path);
      if (underWay.size() == 1) {
        watch(open);
      }
      lane.noteGathered();
      return open;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends what gathered, and delivers what came.
   *
   * @param readable whether something may have come though nothing is under way
   * @return whether a worker goes on
   */
  boolean poll(boolean readable) {
    if (!lock.tryLock()) {
      lane.noteGathered();
      return false;
    }
    try {
      Watchdog.Watched open = connection;
      boolean isIdle = underWay.isEmpty() && !readable;
      return open != null && !isIdle && poll(open);
    } finally {
      lock.unlock();
    }
  }

  private boolean poll(Watchdog.Watched open) {
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
      // Memory for a long response, for example. The workers get the failure, and the lane goes on.
      fail(open.reason(new IOException("the lane failed: " + server, e)));
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
    } else if (callNanos > 0) {
      // A CALL begins when those before it are answered.
      open.expect(callNanos);
    } else {
      open.expectBy(oldest.deadline);
    }
  }

  /** Cuts the connection, unless it was opened anew meanwhile. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  void cut(Watchdog.Watched used) {
    lock.lock();
    try {
      if (connection == used) {
        fail(new ClosedChannelException());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Closes it for good, with the lane. */
  void close() {
    lock.lock();
    try {
      closed = true;
      fail(new ClosedChannelException());
    } finally {
      lock.unlock();
    }
  }

  private void fail(IOException because) {
    Watchdog.Watched open = connection;
    if (open != null) {
      open.close();
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
