package pando.bench.trial;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.client.server.FrameService;
import pando.cluster.ComputeServerProcess;
import pando.cluster.ComputeServerProcess.End;
import pando.cluster.ComputeServerSettings;
import pando.cluster.Config;
import pando.cluster.Host;
import pando.cluster.Membership;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.Partitioning;
import pando.index.ServedOptions;
import pando.index.bytes.KeyBounds;
import pando.sim.Cluster;
import pando.sim.Signal;

/**
 * One start of a compute server of a simulated cluster, and its services, by which clients come.
 */
final class ClusterServer {
  private static final Duration START_WAIT = Duration.ofSeconds(2);
  private static final Duration COORDINATOR_WAIT = Duration.ofSeconds(60);

  private static final long CALL_NANOS_MAX = 60_000_000_000L;

  private final Cluster cluster;
  private final int number;
  private final long port;
  private final ClusterWatch watch;
  private final Signal idle;
  private final Lock stopping = new ReentrantLock();
  private final Deque<FrameService> services = new ArrayDeque<>();
  private @Nullable Membership session;
  private @Nullable ComputeServer name;
  private @Nullable ComputeServerProcess process;
  private boolean closing;
  private int calls;

  /**
   * Prepares a start.
   *
   * @param port for clients, which no other start has
   */
  ClusterServer(Cluster cluster, int number, long port, ClusterWatch watch) {
    this.cluster = cluster;
    this.number = number;
    this.port = port;
    this.watch = watch;
    this.idle = cluster.signal();
  }

  /**
   * Starts it and waits until it has ended.
   *
   * @param isOver whether no further one is to start
   * @throws PandoException if it does not start
   */
  End run(
      ServedOptions options,
      Config config,
      Host host,
      Supplier<Membership> sessions,
      BooleanSupplier isOver) {
    ComputeServerSettings settings =
        new ComputeServerSettings(
            number,
            options,
            config,
            (_, name) -> attach(name),
            Optional.empty(),
            START_WAIT,
            COORDINATOR_WAIT);
    try {
      ComputeServerProcess started =
          ComputeServerProcess.start(() -> connect(sessions), settings, host);
      process = started;
      watch.started(this);
      if (isOver.getAsBoolean()) {
        stop();
      }
      End end = started.awaitEnd();
      stop();
      return end;
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted in a simulation", e);
    }
  }

  private Fabric attach(ComputeServer itsName) {
    name = itsName;
    return cluster.fabric(number, itsName);
  }

  private Membership connect(Supplier<Membership> sessions) {
    Membership opened = sessions.get();
    session = opened;
    return opened;
  }

  private boolean isCrashed() {
    ComputeServer its = name;
    return its != null && cluster.isCrashed(its);
  }

  /** Ends its session with the coordinator if it has crashed. */
  void endIfCrashed() {
    Membership its = session;
    if (its != null && isCrashed()) {
      its.close();
    }
  }

  int number() {
    return number;
  }

  long epoch() {
    return opened().epoch();
  }

  private ComputeServerProcess opened() {
    return Objects.requireNonNull(process);
  }

  /** Returns whether it has ever served. */
  boolean isStarted() {
    return process != null;
  }

  /** Returns whether clients are served. */
  boolean isOpen() {
    return process != null && !closing && !isCrashed();
  }

  /** Returns the ranges that it knows. */
  Partitioning partitioning() {
    return opened().index().partitioning();
  }

  /** Returns its range, which it has. */
  ClusterWatch.Range range() {
    Partitioning table = partitioning();
    int range = table.rangeOfServer(number);
    return table.hasFences()
        ? LongsAsBytes.range(table, range)
        : new ClusterWatch.Range(table.lowOfRange(range), table.highOfRange(range));
  }

  /** Returns whether it takes a key for its own, and may answer from its caches. */
  boolean answers(long key) {
    return isOpen() && serves(key) && opened().hasLease();
  }

  private boolean serves(long key) {
    Partitioning table = partitioning();
    int range =
        table.hasFences()
            ? KeyBounds.rangeOfKey(table, LongsAsBytes.key(key))
            : table.rangeOfKey(key);
    return table.ownerOfRange(range) == number;
  }

  /** Returns where clients reach it, and no other start of its number. */
  String address() {
    return address(number, port);
  }

  /** Returns where clients reach a start of a compute server's number; at port 0, the last one. */
  static String address(int number, long port) {
    return "compute-" + number + ":" + port;
  }

  /** Returns the routes that it gives clients, with those addresses that are good now. */
  private Routes routes() {
    return Routes.of(opened().routes().partitioning(), this::addressOf);
  }

  private Optional<String> addressOf(int owner) {
    return watch.servers().stream()
        .filter(other -> other.isOpen() && other.number == owner)
        .reduce((_, later) -> later)
        .map(ClusterServer::address);
  }

  /**
   * Carries out requests of a client, as a thread of its lanes does; returns the responses.
   *
   * @throws IOException if it has crashed before it has answered
   */
  byte[] serve(byte[] requests) throws IOException {
    if (!isOpen()) {
      return FrameService.goodbye();
    }
    calls++;
    try {
      FrameService service = services.isEmpty() ? service() : services.pop();
      try {
        byte[] responses = service.serve(requests, this::answered);
        if (isCrashed()) {
          throw new IOException("it has crashed: " + this);
        }
        return responses;
      } finally {
        services.push(service);
      }
    } finally {
      if (--calls == 0) {
        idle.give();
      }
    }
  }

  private void answered(long key) {
    if (!isCrashed()) {
      watch.answered(this, key);
    }
  }

  private FrameService service() {
    return opened()
        .strings()
        .map(strings -> new FrameService(strings, this::routes))
        .orElseGet(() -> new FrameService(opened().words().orElseThrow(), this::routes));
  }

  /** Closes its services, waits for what it has begun, and closes the process. */
  void stop() {
    closing = true;
    stopping.lock();
    try {
      while (calls > 0) {
        idle.await(CALL_NANOS_MAX);
      }
      List<Runnable> steps = new ArrayList<>();
      services.forEach(service -> steps.add(service::close));
      services.clear();
      steps.add(() -> opened().close());
      Closing.all(steps);
    } finally {
      stopping.unlock();
    }
  }

  @Override
  public String toString() {
    return "compute server " + number + (process == null ? "" : ", epoch " + epoch());
  }
}
