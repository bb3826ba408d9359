package pando.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import pando.client.Routes;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.IndexOptions;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Partitioned;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.Session;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.dex.DexOptions;

/**
 * A cluster in this process, whose steps the test takes one by one: a pool, a coordinator, and
 * compute servers that are killed by never taking a step again.
 */
final class TestCluster implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(5);
  static final int LEASE_MILLIS = 20;
  private static final long STEP_NANOS = 1_000_000;
  static final IndexOptions OPTIONS =
      DexOptions.defaults()
          .with("node-bytes", "192")
          .with("cache-bytes", String.valueOf(256 * 192))
          .with("compute-servers", "8");
  static final Config CONFIG = new Config("dex", Map.of(), 2, LEASE_MILLIS);

  final LocalPool pool =
      LocalPool.start(
          PoolOptions.defaults()
              .withMemoryServers(2)
              .withBytesPerServer(16 << 20)
              .withHandlers(Systems.handlers()));
  final MemoryCoordinator coordinator = new MemoryCoordinator(TIMEOUT);
  final ClusterState state = new ClusterState(coordinator.connect());
  final Map<Integer, Server> servers = new HashMap<>();
  final NavigableMap<Long, Long> model = new TreeMap<>();
  private final List<Membership> memory = new ArrayList<>();
  private final ServedOptions options;
  private final Config config;

  /** By which agents go: its clock goes on as all take a step. */
  private final Host host = new SteppedHost();

  private long nanos;

  /** Makes what the agents of compute servers that start see of their index. */
  UnaryOperator<Partitioned> seen = UnaryOperator.identity();

  /** Real threads, and the clock of the steps. */
  private final class SteppedHost implements Host {
    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public Thread newThread(String name, Runnable body) {
      return Host.real().newThread(name, body);
    }

    @Override
    public Signal signal() {
      return Host.real().signal();
    }
  }

  /** Thrown by a hook to kill the process that reached it. */
  static final class Killed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /** A compute server that has its number, and no part of the index yet. */
  static final class Start {
    /** Its sessions, the one that it uses at the end. */
    final List<MemoryMembership> sessions = new ArrayList<>();

    final RenewedMembership membership;
    final ClusterState state;
    final Joining joining;
    final long epoch;
    final Fabric fabric;

    Start(TestCluster cluster, int number) {
      this.membership =
          new RenewedMembership(() -> {
            sessions.add(cluster.coordinator.connect());
            return sessions.getLast();
          });
      this.state = new ClusterState(membership);
      ComputeServerSettings settings =
          new ComputeServerSettings(
              number,
              cluster.options,
              cluster.config,
              (_, name) -> cluster.pool.attach(name, name.epoch()),
              Optional.empty(),
              Duration.ofSeconds(20),
              Duration.ofSeconds(20));
      this.joining = new Joining(Host.real(), state, settings);
      this.epoch = joining.takeNumber();
      this.fabric = joining.attach(new ComputeServer(number, epoch));
    }

    void close() {
      membership.close();
      fabric.close();
    }
  }

  /** A compute server. */
  static final class Server {
    final int number;
    final List<MemoryMembership> sessions;
    final RenewedMembership membership;
    final long epoch;
    final Fabric fabric;
    final Partitioned index;
    final Agent agent;

    Server(TestCluster cluster, int number, LeaderHooks hooks) {
      Start start = new Start(cluster, number);
      this.number = number;
      this.sessions = start.sessions;
      this.membership = start.membership;
      this.epoch = start.epoch;
      this.fabric = start.fabric;
      start.joining.endPredecessors(fabric, epoch);
      Joining.Joined joined = start.joining.index(fabric, epoch);
      this.index = joined.index();
      Partitioned seen = cluster.seen.apply(index);
      this.agent = new Agent(cluster.host, membership, number, epoch, fabric, seen, CONFIG, hooks);
    }

    /** Returns its index of words. */
    RangeIndex words() {
      return (RangeIndex) index;
    }

    /** Returns its byte strings. */
    ByteIndex strings() {
      return (ByteIndex) index;
    }

    MovablePartitions partitions() {
      return index.partitions().orElseThrow();
    }

    /** Returns its session. */
    MemoryMembership session() {
      return sessions.getLast();
    }
  }

  TestCluster() {
    this(OPTIONS);
  }

  TestCluster(ServedOptions options) {
    this.options = options;
    this.config = new Config(options.system(), Map.of(), CONFIG.memoryServers(), LEASE_MILLIS);
    for (int number = 0; number < CONFIG.memoryServers(); number++) {
      MemoryMembership membership = coordinator.connect();
      memory.add(membership);
      announceMemory(membership, number);
    }
  }

  private static void announceMemory(MemoryMembership membership, int number) {
    ClusterState state = new ClusterState(membership);
    PoolEntry entry =
        new PoolEntry(number, number + 100, "m" + number, 16 << 20, false, ServerState.SERVING);
    if (!state.announceMemory(entry)) {
      throw new IllegalStateException("not announced: " + entry);
    }
  }

  /** Lets agents believe that time has passed. */
  void pass(Duration time) {
    nanos += time.toNanos();
  }

  void endMemory(int number) {
    memory.get(number).close();
  }

  Server start(int number) {
    return start(number, LeaderHooks.NONE);
  }

  Server start(int number, LeaderHooks hooks) {
    Server server = new Server(this, number, hooks);
    servers.put(number, server);
    return server;
  }

  /** Ends a compute server's session, and never runs it again; what it has sent is done. */
  void kill(int number) {
    Server server = servers.remove(number);
    if (server != null) {
      server.membership.close();
    }
  }

  /** Lets all compute servers take steps until something holds. */
  void runUntil(BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(40)) {
        throw new AssertionError("does not come about: " + this);
      }
      stepAll();
    }
  }

  /** Lets each compute server take a step; one that a hook kills is killed. */
  void stepAll() {
    nanos += STEP_NANOS;
    for (Server server : List.copyOf(servers.values())) {
      try {
        server.agent.lead();
        server.agent.execute();
      } catch (Killed e) {
        kill(server.number);
      }
    }
  }

  /** Runs until no change is left. */
  void settle() {
    runUntil(() -> isQuiet());
  }

  boolean isQuiet() {
    boolean over = state.changes().stream().allMatch(Change::isOver);
    Routes routes = state.routes().orElse(null);
    return over
        && routes != null
        && state.computeServers().stream().allMatch(Member::isServing)
        && routes.routes().stream().allMatch(range -> servers.containsKey(range.owner()))
        && servers.values().stream()
            .allMatch(server -> server.index.partitioning().epoch() == routes.epoch());
  }

  Change ask(Change change) {
    int id = state.ask(change);
    runUntil(() -> state.change(id).orElseThrow().isOver());
    settle();
    return state.change(id).orElseThrow();
  }

  /** Stores an entry by the compute server that serves its key. */
  void put(long key, long value) {
    try (Session session = owner(key).words().session()) {
      session.put(key, value);
    }
    model.put(key, value);
  }

  private Server owner(long key) {
    Routes routes = state.routes().orElseThrow();
    Server server = servers.get(routes.partitioning().ownerOfKey(key));
    if (server == null) {
      throw new AssertionError("nobody serves: key=" + key + ", routes=" + routes);
    }
    return server;
  }

  /** Returns the entries that are found by asking the owner of each key of the model. */
  NavigableMap<Long, Long> found() {
    NavigableMap<Long, Long> found = new TreeMap<>();
    for (long key : model.keySet()) {
      try (Session session = owner(key).words().session()) {
        if (session.get(key)) {
          found.put(key, session.value());
        }
      }
    }
    return found;
  }

  /** Returns how many compute servers serve a key. */
  long serving(long key) {
    return servers.values().stream()
        .filter(server -> {
          try (Session session = server.words().session()) {
            session.get(key);
            return true;
          } catch (NotServedHereException e) {
            return false;
          }
        })
        .count();
  }

  /** Returns a compute server that runs. */
  Server server(int number) {
    Server server = servers.get(number);
    if (server == null) {
      throw new AssertionError("does not run: number=" + number);
    }
    return server;
  }

  @Override
  public String toString() {
    return "changes="
        + state.changes()
        + ", routes="
        + state.routes()
        + ", leader="
        + state.leader()
        + ", members="
        + state.computeServers();
  }

  @Override
  public void close() {
    pool.close();
  }
}
