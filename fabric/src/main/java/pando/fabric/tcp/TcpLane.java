package pando.fabric.tcp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.SocketWait;
import pando.fabric.wire.Watchdog;

/**
 * The connections of a lane: to each memory server one for verbs, and one for CALLs, as those may
 * wait for a processor and verbs must not wait behind them.
 */
final class TcpLane implements Completions {
  private final Watchdog watchdog;
  private final SocketWait sockets = new SocketWait();
  private final LaneConnection[] verbs;
  private final LaneConnection[] calls;

  /** Made once, as a wait must not allocate. */
  private final Consumer<SelectionKey> noteReady = this::note;

  /** Receives what is ready and none of these connections. */
  private Consumer<SelectionKey> others = TcpLane::ignore;

  /** Whether requests have gathered since the last poll began. */
  private volatile boolean hasGathered;

  private volatile boolean waits;

  /** Whether something came to a connection that may have nothing under way. */
  private volatile boolean isReadable;

  /** Makes a lane's connections, none of which is open yet. */
  TcpLane(Watchdog watchdog, RemoteServer[] servers) {
    this.watchdog = watchdog;
    this.verbs = connections(servers, 0);
    this.calls = connections(servers, TcpWorker.CALL_NANOS_MAX);
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
    SelectionKey key = channel.register(sockets.selector(), SelectionKey.OP_READ, this);
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
  public void await(long nanos, Consumer<SelectionKey> ready) {
    others = ready;
    waits = true;
    try {
      if (!hasGathered) {
        sockets.await(nanos, noteReady);
      }
    } finally {
      waits = false;
    }
  }

  /** All connections to memory servers are polled, whichever is ready. */
  private void note(SelectionKey ready) {
    if (ready.attachment() == this) {
      isReadable = true;
    } else {
      others.accept(ready);
    }
  }

  private static void ignore(SelectionKey ready) {}

  @Override
  public Selector selector() {
    return sockets.selector();
  }

  @Override
  public void wakeUp() {
    sockets.wakeUp();
  }

  private void wakeUpIfWaiting() {
    if (waits) {
      sockets.wakeUp();
    }
  }

  @Override
  public void close() {
    for (int i = 0; i < verbs.length; i++) {
      verbs[i].close();
      calls[i].close();
    }
    sockets.close();
  }
}
