package pando.client;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;

/**
 * What the sessions of a client share: its host and options, a connection to each compute server,
 * and the routes as they are known. Thread-safe.
 */
final class ClientContext implements AutoCloseable {
  private final List<String> seeds;
  private final ClientOptions options;
  private final ClientHost host;
  private final long number;
  private final AtomicInteger turn;
  private final Map<String, Connection> connections = new ConcurrentHashMap<>();

  /** Held while a thread asks for routes. */
  private final ReentrantLock refreshing = new ReentrantLock();

  /** How often threads have asked for other routes. */
  private final AtomicInteger refreshes = new AtomicInteger();

  private volatile @Nullable RouteTable table;
  private volatile boolean closed;

  ClientContext(List<String> seeds, ClientOptions options, ClientHost host) {
    this.seeds = seeds;
    this.options = options;
    this.host = host;
    this.number = host.random();
    this.turn = new AtomicInteger((int) host.random() & 0xffff);
  }

  /**
   * Asks the given compute servers for the first routes.
   *
   * @throws ClientException if none answers
   */
  void connect() {
    List<String> reasons = new ArrayList<>();
    RouteTable found = ask(seeds, Long.MIN_VALUE, reasons);
    if (found == null) {
      throw new ClientException("no compute server answers: " + reasons);
    }
    table = found;
  }

  ClientHost host() {
    return host;
  }

  long patienceNanos() {
    return options.patience().toNanos();
  }

  boolean isClosed() {
    return closed;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
  }

  RouteTable table() {
    RouteTable known = table;
    if (known == null) {
      throw new IllegalStateException("not connected yet");
    }
    return known;
  }

  Routes routes() {
    return table().routes();
  }

  /**
   * Asks for routes, unless another thread has done so since some were read, or while this one
   * waited: it may take long. Keeps those it has if none answers with some of this epoch or a later
   * one.
   */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  void refresh(RouteTable seen, long epoch) {
    int before = refreshes.get();
    refreshing.lock();
    try {
      if (!closed && table == seen && refreshes.get() == before) {
        SequencedSet<String> addresses = new LinkedHashSet<>();
        seen.servers().forEach(server -> addresses.add(server.address()));
        addresses.addAll(seeds);
        RouteTable found = ask(List.copyOf(addresses), epoch, new ArrayList<>());
        refreshes.incrementAndGet();
        if (found != null) {
          table = found;
        }
      }
    } finally {
      refreshing.unlock();
    }
  }

  /**
   * Asks compute servers in turn until one has routes; begins with another one each time.
   *
   * @param epoch least epoch of the routes
   * @param reasons receives why the others gave none
   */
  private @Nullable RouteTable ask(List<String> addresses, long epoch, List<String> reasons) {
    int first = turn.getAndIncrement() & Integer.MAX_VALUE;
    for (int i = 0; i < addresses.size(); i++) {
      Connection connection = connection(addresses.get((first + i) % addresses.size()));
      Call call = new Call();
      call.begin(ClientFrame.ROUTES);
      if (connection.ask(call)) {
        Routes routes = call.routes;
        if (routes != null && routes.epoch() >= epoch) {
          return new RouteTable(routes, connection, targets(routes), first);
        }
      } else {
        reasons.add(connection.address() + ": " + call.text);
      }
    }
    return null;
  }

  private @Nullable Connection[] targets(Routes routes) {
    @Nullable Connection[] targets = new Connection[routes.routes().size()];
    for (int i = 0; i < targets.length; i++) {
      String address = routes.routes().get(i).address();
      targets[i] = address.isEmpty() ? null : connection(address);
    }
    return targets;
  }

  private Connection connection(String address) {
    Connection its = connections.computeIfAbsent(address, this::newConnection);
    if (closed) {
      its.close();
    }
    return its;
  }

  private Connection newConnection(String address) {
    return new Connection(host, address, number, options.answerTimeout().toNanos());
  }

  @Override
  public void close() {
    closed = true;
    connections.values().forEach(Connection::close);
    host.close();
  }
}
