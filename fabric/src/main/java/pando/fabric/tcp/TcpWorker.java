package pando.fabric.tcp;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.VerbList.Outcome;
import pando.fabric.base.ListWorker;
import pando.fabric.lane.LaneLoop;
import pando.fabric.server.CallFailedException;
import pando.fabric.wire.Frame;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Watchdog;

/**
 * Issues verbs by sending them to memory servers, over a connection to each that it needs.
 *
 * <p>All verbs go as lists. A list becomes requests, as many as it needs; those to different memory
 * servers are under way at once, those to the same one go one after the other.
 *
 * <p>A channel closes when its thread is interrupted. So the interrupt of a thread is put aside
 * while a verb runs: one that comes before the verb does not disturb it, and one that comes in its
 * middle costs the connection, unless the worker is of a lane, whose channels do not block.
 */
final class TcpWorker extends ListWorker {
  /** Longest wait for the response of a CALL. */
  static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  private final Watchdog watchdog;
  private final RemoteServer[] servers;
  private final TcpOptions options;
  private final @Nullable LaneLoop lane;
  private final @Nullable TcpConnection[] connections;

  /** The same connections, except in a lane. */
  private final @Nullable TcpConnection[] callConnections;

  private final long verbNanos;

  private final VerbPieces pieces = new VerbPieces();

  /** Connections that the requests under way go by. */
  private final TcpConnection[] used;

  private int usedCount;
  private boolean interrupted;

  TcpWorker(
      Watchdog watchdog,
      RemoteServer[] servers,
      long[] dramBytes,
      TcpOptions options,
      MemorySegment memory,
      RandomGenerator random,
      @Nullable LaneLoop lane) {
    super(dramBytes, memory, random, LaneLoop.backoff(lane));
    this.watchdog = watchdog;
    this.servers = servers;
    this.options = options;
    this.lane = lane;
    this.connections = new TcpConnection[servers.length];
    this.callConnections = lane == null ? connections : new TcpConnection[servers.length];
    this.used = new TcpConnection[servers.length];
    this.verbNanos = options.verbTimeout().toNanos();
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    checkCall(server, servers.length, function, message, requestBytes);
    TcpConnection connection = callConnection(server);
    connection.call(function, memory(), message, requestBytes);
    used[0] = connection;
    usedCount = 1;
    exchange(false, CALL_NANOS_MAX);
    ResponseReader response = connection.response();
    if (response.status() == Frame.CALL_FAILED) {
      throw new CallFailedException(response.text());
    }
    if (response.status() == Frame.BUSY) {
      throw new StalledException(
          "no processor took the CALL: " + connection.server() + ", function=" + function);
    }
    int responseBytes = response.detail();
    response.take(memory(), message, responseBytes);
    counters().countCall(requestBytes, responseBytes);
    return responseBytes;
  }

  @Override
  public void close() {
    super.close();
    keepInterrupt();
    try {
      close(connections);
      if (lane != null) {
        close(callConnections);
      }
    } finally {
      restoreInterrupt();
    }
  }

  private static void close(@Nullable TcpConnection[] connections) {
    for (TcpConnection connection : connections) {
      if (connection != null) {
        connection.close();
      }
    }
  }

  /** Checks that neither this worker nor its fabric is closed. */
  @Override
  protected void checkOpen() {
    super.checkOpen();
    if (watchdog.isClosed()) {
      throw new IllegalStateException("fabric is closed: name=" + TcpFabric.NAME);
    }
  }

  /** Puts the interrupt of this thread aside until the end of the verb, or of closing. */
  void keepInterrupt() {
    interrupted |= Thread.interrupted();
  }

  private void restoreInterrupt() {
    if (interrupted) {
      interrupted = false;
      Thread.currentThread().interrupt();
    }
  }

  @Override
  protected void run(VerbList list) {
    VerbList sent = pieces.of(list);
    try {
      runPieces(sent);
    } finally {
      pieces.tellOutcomes(list);
    }
  }

  private void runPieces(VerbList sent) {
    boolean repeatable = sent.isReadsAlone();
    int start = 0;
    while (start < sent.size()) {
      int end = writeRequests(sent, start);
      try {
        exchange(repeatable, verbNanos);
      } catch (StalledException | FencedException e) {
        // What went in earlier requests has taken effect.
        throw start == 0 || repeatable ? e : someSent(e);
      } finally {
        takeResults(sent, start, end);
      }
      start = end;
    }
  }

  /**
   * Writes verbs into requests, until one does not fit.
   *
   * @return number of the first verb that is not in them
   */
  private int writeRequests(VerbList list, int start) {
    usedCount = 0;
    int end = start;
    while (end < list.size() && add(list, end)) {
      end++;
    }
    for (int i = 0; i < usedCount; i++) {
      used[i].request().beginPayloads();
    }
    for (int i = start; i < end; i++) {
      if (list.kind(i) == Kind.WRITE) {
        connection(list, i).request().payload(memory(), list.local(i), list.length(i));
      }
    }
    for (int i = 0; i < usedCount; i++) {
      used[i].finish();
    }
    return end;
  }

  private boolean add(VerbList list, int index) {
    TcpConnection connection = connection(list, index);
    if (!isUsed(connection)) {
      connection.request().begin();
      used[usedCount++] = connection;
    }
    return connection.request().add(list, index, memory());
  }

  private boolean isUsed(TcpConnection connection) {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].server().number() == connection.server().number()) {
        return true;
      }
    }
    return false;
  }

  /** Sends the requests of all used connections, and waits for the responses of all. */
  private void exchange(boolean repeatable, long nanos) {
    keepInterrupt();
    try {
      for (int i = 0; i < usedCount; i++) {
        int server = used[i].server().number();
        settle(connections[server]);
        settle(callConnections[server]);
        used[i].connect();
      }
      RuntimeException failure = null;
      int sent = 0;
      while (sent < usedCount && failure == null) {
        try {
          used[sent].send(nanos);
          sent++;
        } catch (RuntimeException e) {
          failure = sent == 0 || repeatable ? e : unknownAfter(e);
        }
      }
      // Also after a failure, so that most of what was sent is done when the caller hears of it.
      for (int i = 0; i < sent; i++) {
        try {
          used[i].receive(repeatable);
        } catch (RuntimeException e) {
          failure = firstOf(failure, usedCount == 1 || repeatable ? e : unknownAfter(e));
        }
      }
      if (failure != null) {
        throw failure;
      }
    } finally {
      restoreInterrupt();
    }
  }

  /** Makes sure that nothing takes effect any more of a request that was cut on its way. */
  private static void settle(@Nullable TcpConnection connection) {
    if (connection != null && connection.isUnsettled()) {
      connection.connect();
    }
  }

  /** Returns what verbs to other memory servers make of a failure. */
  private static RuntimeException unknownAfter(RuntimeException failure) {
    boolean saysNotDone = failure instanceof StalledException || failure instanceof FencedException;
    return saysNotDone ? someSent(failure) : failure;
  }

  private static UnknownOutcomeException someSent(RuntimeException failure) {
    return new UnknownOutcomeException("some of the verbs were sent", failure);
  }

  private static RuntimeException firstOf(@Nullable RuntimeException first, RuntimeException next) {
    if (first == null) {
      return next;
    }
    first.addSuppressed(next);
    return first;
  }

  /** Takes the results of verbs that were answered, and says what became of each. */
  private void takeResults(VerbList list, int start, int end) {
    for (int i = start; i < end; i++) {
      TcpConnection connection = connection(list, i);
      if (connection.outcome() == Outcome.DONE) {
        takeResult(list, i, connection.response());
      }
      list.setOutcome(i, connection.outcome());
    }
  }

  private void takeResult(VerbList list, int index, ResponseReader response) {
    long local = list.local(index);
    switch (list.kind(index)) {
      case READ -> response.take(memory(), local, list.length(index));
      case WRITE -> {}
      case MASKED_CAS_16 -> response.take(memory(), local + FOUND_16, 2 * Long.BYTES);
      case CAS, FAA, MASKED_CAS, MASKED_FAA -> setFound(local, response.takeWord());
    }
  }

  private TcpConnection connection(VerbList list, int index) {
    return connection(GlobalAddress.server(list.remote(index)));
  }

  private TcpConnection connection(int server) {
    TcpConnection connection = connections[server];
    if (connection == null) {
      connection = newConnection(server, shared -> shared.verbs(server));
      connections[server] = connection;
    }
    return connection;
  }

  private TcpConnection callConnection(int server) {
    TcpConnection connection = callConnections[server];
    if (connection == null) {
      connection = newConnection(server, shared -> shared.calls(server));
      callConnections[server] = connection;
    }
    return connection;
  }

  /**
   * Makes a connection.
   *
   * @param shared chooses among those of the lane, for a worker of one
   */
  private TcpConnection newConnection(int server, Function<TcpLane, LaneConnection> shared) {
    long lostNanos = options.lostAfter().toNanos();
    return new TcpConnection(
        this,
        servers[server],
        lostNanos,
        (request, response) ->
            lane == null
                ? new OwnPath(servers[server], watchdog, request, response)
                : new LanePath(lane, shared.apply(TcpLane.of(lane)), request, response));
  }
}
