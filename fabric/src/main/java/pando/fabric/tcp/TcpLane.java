package pando.fabric.tcp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;

/**
 * The connections of a lane: to each memory server one for verbs, and one for CALLs, as those may
 * wait for a processor and verbs must not wait behind them.
 */
final class TcpLane implements Completions {
  /** Shortest wait for connections; a shorter one is slept. */
  private static final long WAIT_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long SLEEP_NANOS_MAX = TimeUnit.MICROSECONDS.toNanos(50);

  private final Watchdog watchdog;
  private final Selector selector;
  private final LaneConnection[] verbs;
  private final LaneConnection[] calls;

  /** Whether requests have gathered since the last poll began. */
  private volatile boolean hasGathered;

  private volatile boolean waits;

  /** Whether something came to a connection that may have nothing under way. */
  private volatile boolean isReadable;

  private TcpLane(Watchdog watchdog, RemoteServer[] servers, Selector selector) {
    this.watchdog = watchdog;
    this.selector = selector;
    this.verbs = connections(servers, 0);
    this.calls = connections(servers, TcpWorker.CALL_NANOS_MAX);
  }

  /** Makes a lane's connections, none of which is open yet. */
  static TcpLane to(RemoteServer[] servers, Watchdog watchdog) {
    try {
      return new TcpLane(watchdog, servers, Selector.open());
    } catch (IOException e) {
      throw new TcpException("cannot wait for several connections", e);
    }
  }

  /** Returns the connections of a lane over TCP. */
  static TcpLane of(LaneLoop lane) {
    return (TcpLane) lane.completions();
  }

  private LaneConnection[] connections(RemoteServer[] servers, long callNanos) {
    LaneConnection[] connections = new LaneConnection[servers.length];
    for (int i = 0; i < servers.length; i++) {
      connections[i] = new LaneConnection(this, servers[i], callNanos);
    }
    return connections;
  }

  /** Returns the connection for verbs to a memory server. */
  LaneConnection verbs(int server) {
    return verbs[server];
  }

  /** Returns the connection for CALLs to a memory server. */
  LaneConnection calls(int server) {
    return calls[server];
  }

  /** Opens a connection that wakes the lane when the watchdog closes it. */
  Watchdog.Watched open(RemoteServer server, long way) throws IOException {
    Watchdog.Watched opened = server.open(watchdog, way);
    opened.afterClose(this::wakeUp);
    return opened;
  }

  /** Has the lane wait for a connection, too. */
  SelectionKey register(SocketChannel channel) throws IOException {
    SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
    wakeUpIfWaiting();
    return key;
  }

  /** Notes that a connection has something to be sent. */
  void noteGathered() {
    hasGathered = true;
    wakeUpIfWaiting();
  }

  @Override
  public boolean poll() {
    hasGathered = false;
    boolean some = poll(verbs);
    some |= poll(calls);
    isReadable = false;
    return some;
  }

  private boolean poll(LaneConnection[] connections) {
    boolean some = false;
    for (LaneConnection connection : connections) {
      some |= connection.poll(isReadable);
    }
    return some;
  }

  @Override
  public void await(long nanos) {
    waits = true;
    try {
      isReadable = !hasGathered && select(nanos) > 0;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot wait for several connections", e);
    } finally {
      waits = false;
    }
  }

  private int select(long nanos) throws IOException {
    if (nanos >= WAIT_NANOS_MIN) {
      return selector.select(TcpLane::ignore, TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    int ready = selector.selectNow(TcpLane::ignore);
    if (ready == 0) {
      LockSupport.parkNanos(this, Math.min(nanos, SLEEP_NANOS_MAX));
    }
    return ready;
  }

  /** All connections are polled, whichever is ready. */
  private static void ignore(SelectionKey ready) {}

  @Override
  public void wakeUp() {
    selector.wakeup();
  }

  private void wakeUpIfWaiting() {
    if (waits) {
      selector.wakeup();
    }
  }

  @Override
  public void close() {
    for (int i = 0; i < verbs.length; i++) {
      verbs[i].close();
      calls[i].close();
    }
    try {
      selector.close();
    } catch (IOException e) {
      // It is of no further use either way.
    }
  }
}
