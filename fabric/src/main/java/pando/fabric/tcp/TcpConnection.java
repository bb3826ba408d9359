package pando.fabric.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Outcome;
import pando.fabric.wire.Frame;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;

/**
 * A worker's connection to one memory server: one request at a time, and its response.
 *
 * <p>A memory server serves whole requests. So one that did not leave whole took no effect, nor did
 * one that was refused as it arrived damaged; both are sent again on a new connection. One that
 * left and was not answered may have taken effect, or may do so later: it is sent again only if it
 * is repeatable, that is, reads alone.
 *
 * <p>A connection whose last request was not answered whole is not used again, whatever the reason:
 * half a request, or a response that nobody took, must not meet the next one.
 */
final class TcpConnection {
  private final TcpWorker worker;
  private final RemoteServer server;
  private final long lostNanos;
  private final RequestWriter request;
  private final ResponseReader response = new ResponseReader();
  private final RequestPath path;

  /** Why the request that has left has no response; {@code null} if it may yet come. */
  private @Nullable IOException failure;

  /** Whether a request was begun to be sent, and its response not received. */
  private boolean isUnderWay;

  private boolean isRefused;

  /** Whether a request that was cut on its way may yet take effect. */
  private boolean isUnsettled;

  /** What became of the last request, as far as is known. */
  private Outcome outcome = Outcome.NOT_DONE;

  /** Starts at numbers far apart, as the workers of a lane share a connection. */
  private long sequence = (long) System.identityHashCode(this) << Integer.SIZE;

  /** When the request must have been answered, however often it is sent. */
  private long deadline;

  /**
   * Creates it, not connected.
   *
   * @param way makes the way by which requests leave and responses come
   */
  TcpConnection(
      TcpWorker worker,
      RemoteServer server,
      long lostNanos,
      BiFunction<RequestWriter, ResponseReader, RequestPath> way) {
    this.worker = worker;
    this.server = server;
    this.request = new RequestWriter(server.epoch());
    this.lostNanos = lostNanos;
    this.path = way.apply(request, response);
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

  /**
   * Returns whether something may yet take effect of a request that was cut on its way, as it was
   * not {@linkplain #connect connected} since.
   */
  boolean isUnsettled() {
    return isUnsettled;
  }

  /** Returns what became of the last request. */
  Outcome outcome() {
    return outcome;
  }

  /** Ends a request of verbs. */
  void finish() {
    outcome = Outcome.NOT_DONE;
    request.finish(++sequence);
  }

  /** Writes the request of a CALL. */
  void call(int function, MemorySegment memory, long message, int requestBytes) {
    request.call(++sequence, function, memory, message, requestBytes);
  }

  /**
   * Connects, unless it is connected: tries until the memory server is found to be lost. Nothing
   * takes effect any more of what an older connection has sent.
   *
   * @throws StalledException if the memory server still serves that, or has no room; nothing was
   *     sent
   * @throws pando.fabric.MemoryServerLostException if it is; nothing was sent
   * @throws FencedException if it refuses this compute server; nothing was sent
   */
  void connect() {
    server.checkUsable();
    if (isUnderWay) {
      cut();
    }
    if (!path.isOpen()) {
      connectAnew();
    }
    isUnsettled = false;
  }

  private void connectAnew() {
    TriedTime tried = new TriedTime(lostNanos, worker.nanoTime());
    IOException because = tryOpen();
    for (int attempt = 0; because != null; attempt++) {
      if (tried.isOver(worker.nanoTime())) {
        server.declareLost("it accepts no connections: nanos=" + lostNanos + ", last=" + because);
      }
      server.checkUsable();
      worker.backoff().pause(attempt);
      because = tryOpen();
    }
  }

  /** Returns why the memory server accepted no connection, or {@code null} if it did. */
  private @Nullable IOException tryOpen() {
    worker.checkOpen();
    try {
      path.open();
      return null;
    } catch (IOException e) {
      worker.keepInterrupt();
      // A fabric that is closed meanwhile closes its connections, and has lost nothing.
      worker.checkOpen();
      return e;
    }
  }

  /**
   * Sends the request. Fails only if it cannot be sent; {@link #receive} reports that it may have
   * been cut.
   *
   * @param nanos longest wait for the memory server to take the request, and to answer it
   * @throws StalledException if the memory server did not take it; it has no effect
   */
  void send(long nanos) {
    deadline = worker.nanoTime() + nanos;
    sendByDeadline();
  }

  private void sendByDeadline() {
    for (int attempt = 0; !trySend(); attempt++) {
      worker.keepInterrupt();
      if (isLate()) {
        throw new StalledException(
            "the memory server takes no request: " + server + ", because=" + failure);
      }
      worker.backoff().pause(attempt);
    }
  }

  /** Returns whether the request has left whole, or may do so. */
  private boolean trySend() {
    connect();
    failure = null;
    isUnderWay = true;
    outcome = Outcome.UNKNOWN;
    try {
      path.send(sequence, deadline);
      return true;
    } catch (IOException e) {
      failure = e;
      cut();
      noteFailed(path.hasLeft());
      return path.hasLeft();
    }
  }

  /**
   * Waits for the response, no longer than {@link #send} allows.
   *
   * @param repeatable whether the request may be sent again
   * @throws UnknownOutcomeException if none came and the request must not be sent again
   * @throws StalledException if none came to one that was repeated; it has no effect
   * @throws FencedException if it was refused, or must be repeated and is refused; it has no effect
   */
  void receive(boolean repeatable) {
    IOException because = tryReceive();
    for (int attempt = 0; because != null; attempt++) {
      worker.keepInterrupt();
      worker.checkOpen();
      String what = "no answer from the memory server: " + server + ", because=" + because;
      if (!repeatable && !isRefused && path.hasLeft()) {
        throw new UnknownOutcomeException(what, because);
      }
      if (isLate()) {
        throw new StalledException(what);
      }
      worker.backoff().pause(attempt);
      sendByDeadline();
      because = tryReceive();
    }
  }

  private boolean isLate() {
    return worker.nanoTime() - deadline > 0;
  }

  /** Returns why there is no response, or {@code null} if there is. */
  private @Nullable IOException tryReceive() {
    isRefused = false;
    if (failure != null) {
      return failure;
    }
    try {
      path.receive();
      checkResponse();
      isUnderWay = false;
      checkNotFenced();
      outcome = Outcome.DONE;
      return null;
    } catch (IOException e) {
      cut();
      noteFailed(!isRefused && path.hasLeft());
      return e;
    }
  }

  private void noteFailed(boolean maybeDone) {
    outcome = maybeDone ? Outcome.UNKNOWN : Outcome.NOT_DONE;
    isUnsettled |= maybeDone;
  }

  private void checkResponse() throws FrameException {
    if (!request.isAnsweredBy(response)) {
      throw new FrameException(
          "an answer that does not fit: status="
              + response.status()
              + ", detail="
              + response.detail()
              + ", bytes="
              + response.resultBytes());
    }
    isRefused = response.status() == Frame.REFUSED;
    if (isRefused) {
      throw new FrameException("refused: " + response.text());
    }
  }

  private void checkNotFenced() {
    if (response.status() == Frame.FENCED) {
      outcome = Outcome.NOT_DONE;
      throw server.fenced();
    }
  }

  private void cut() {
    isUnderWay = false;
    path.cut();
  }

  /**
   * Gives the connection up, as the worker is closed. What may yet take effect of an older one does
   * not from then on, unless the memory server cannot be reached.
   */
  void close() {
    if (isUnsettled) {
      settle();
    }
    path.release();
  }

  private void settle() {
    try {
      server.checkUsable();
      path.open();
    } catch (IOException | PandoException | IllegalStateException e) {
      // It cannot be reached, or the lane is closed. The caller knows already that the outcome is
      // unknown.
      worker.keepInterrupt();
    }
  }
}
