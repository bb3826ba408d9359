package pando.fabric.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.wire.Frame;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;

/**
 * A worker's connection to one memory server: one request at a time, and its response.
 *
 * <p>A memory server serves whole requests. So one that did not leave whole took no effect, and is
 * sent again on a new connection. One that left and was not answered may have taken effect, or may
 * do so later: it is sent again only if it is repeatable, that is, reads alone.
 */
final class TcpConnection {
  private final TcpWorker worker;
  private final RemoteServer server;
  private final Watchdog watchdog;
  private final long lostNanos;
  private final RequestWriter request = new RequestWriter();
  private final ResponseReader response = new ResponseReader();
  private Watchdog.@Nullable Watched connection;
  private @Nullable IOException failure;
  private long sequence;

  TcpConnection(TcpWorker worker, RemoteServer server, Watchdog watchdog, long lostNanos) {
    this.worker = worker;
    this.server = server;
    this.watchdog = watchdog;
    this.lostNanos = lostNanos;
  }

  RemoteServer server() {
    return server;
  }

  /** Returns the request, to be written. */
  RequestWriter request() {
    return request;
  }

  /** Returns the response, once it is {@linkplain #receive received}. */
  ResponseReader response() {
    return response;
  }

  /** Ends a request of verbs. */
  void finish() {
    request.finish(++sequence);
  }

  /** Writes the request of a CALL. */
  void call(int function, MemorySegment memory, long message, int requestBytes) {
    request.call(++sequence, function, memory, message, requestBytes);
  }

  /**
   * Connects, unless it is connected: tries until the memory server is found to be lost.
   *
   * @throws pando.fabric.MemoryServerLostException if it is; nothing was sent
   */
  void connect() {
    server.checkAlive();
    if (connection != null && !connection.channel().isOpen()) {
      close();
    }
    if (connection == null) {
      connection = connectAnew();
    }
  }

  private Watchdog.Watched connectAnew() {
    long deadline = worker.nanoTime() + lostNanos;
    for (int attempt = 0; ; attempt++) {
      worker.checkOpen();
      try {
        return server.open(watchdog);
      } catch (IOException e) {
        worker.keepInterrupt();
        if (worker.nanoTime() - deadline > 0) {
          server.declareLost("it accepts no connections: nanos=" + lostNanos + ", last=" + e);
        }
      }
      server.checkAlive();
      worker.backoff().pause(attempt);
    }
  }

  /**
   * Sends the request. Fails only if it cannot be sent; that it may have been cut is told by {@link
   * #receive}.
   *
   * @param nanos longest wait for the memory server to take it
   * @throws StalledException if the memory server did not take it; it has no effect
   */
  void send(long nanos) {
    long deadline = worker.nanoTime() + nanos;
    while (!trySend(nanos)) {
      worker.keepInterrupt();
      if (worker.nanoTime() - deadline > 0) {
        throw new StalledException("the memory server takes no request: " + server);
      }
    }
  }

  /** Returns whether the request may have left whole. */
  private boolean trySend(long nanos) {
    connect();
    Watchdog.Watched open = connected();
    try {
      failure = null;
      open.expect(nanos);
      request.send(open.channel());
      open.relax();
      return true;
    } catch (ClosedChannelException e) {
      // It was closed on this side, perhaps after the last byte left.
      failure = e;
      return true;
    } catch (IOException e) {
      close();
      return false;
    }
  }

  /**
   * Waits for the response.
   *
   * @param repeatable whether the request may be sent again
   * @param nanos longest wait
   * @throws UnknownOutcomeException if none came and the request must not be sent again
   * @throws StalledException if none came to one that was repeated
   */
  void receive(boolean repeatable, long nanos) {
    long deadline = worker.nanoTime() + nanos;
    IOException because = tryReceive(nanos);
    while (because != null) {
      worker.keepInterrupt();
      worker.checkOpen();
      String what = "no answer from the memory server: " + server + ", because=" + because;
      if (!repeatable) {
        throw new UnknownOutcomeException(what, because);
      }
      if (worker.nanoTime() - deadline > 0) {
        throw new StalledException(what);
      }
      send(nanos);
      because = tryReceive(nanos);
    }
  }

  /** Returns why there is no response, or {@code null} if there is. */
  private @Nullable IOException tryReceive(long nanos) {
    Watchdog.Watched open = connected();
    try {
      if (failure != null) {
        throw failure;
      }
      open.expect(nanos);
      response.receive(open.channel(), sequence);
      open.relax();
      if (response.status() == Frame.DONE && !request.isAnsweredBy(response)) {
        throw new FrameException("results that were not asked for: " + server);
      }
      return null;
    } catch (IOException e) {
      close();
      return open.isLate() ? new IOException("too late: nanos=" + nanos, e) : e;
    } catch (RuntimeException | Error e) {
      // Memory for a long response, for example: what is left of it must not meet the next request.
      close();
      throw e;
    }
  }

  private Watchdog.Watched connected() {
    if (connection == null) {
      throw new IllegalStateException("not connected: " + server);
    }
    return connection;
  }

  /** Closes the connection; the next request opens another. */
  void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }
}
