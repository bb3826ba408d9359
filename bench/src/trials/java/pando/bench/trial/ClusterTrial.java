package pando.bench.trial;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.ComputeServerProcess.End;
import pando.cluster.Config;
import pando.cluster.Host;
import pando.cluster.LogMode;
import pando.cluster.Member;
import pando.cluster.Membership;
import pando.cluster.PoolEntry;
import pando.cluster.ServerState;
import pando.fabric.ComputeServer;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.IndexOptions;
import pando.index.Partitioned;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.Session;
import pando.index.Tree;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.KeyBounds;
import pando.sim.Cluster;
import pando.sim.fault.Fault;

/**
 * One seed of a small cluster whose compute servers are processes of module cluster, with all that
 * they do for it: they join, lead, are given ranges and give them away, have a lease, are fenced,
 * end, and start anew. Only their clock, threads, coordinator and fabric are those of the
 * simulation. Clients are those of module client.
 *
 * <p>Checked are the history of all clients, what {@link ClusterWatch} sees meanwhile, and, once
 * faults have ended, that all changes end, all compute servers agree on the routes, every key is
 * served, and the tree in the pool is whole. Where a memory server is lost for good, what is left
 * to check is that all changes end but fences, which wait for it.
 */
public final class ClusterTrial extends RecordedTrial {
  /** Faults that strike only what these trials have, or what they can bear. */
  public static final Set<Fault> FAULTS =
      Set.of(
          Fault.TORN,
          Fault.LATE_READ,
          Fault.DELAY,
          Fault.PAUSE,
          Fault.CLOCK_JUMP,
          Fault.SESSION_LOST,
          Fault.STALE_ROUTE,
          Fault.CUT_CLIENT,
          Fault.FULL_POOL,
          Fault.CRASH_COMPUTE,
          Fault.LOSE_MEMORY,
          Fault.RESTART_ALL);

  /** Kept, so that its level is: what compute servers log of their ends is expected here. */
  private static final Logger LOG = Logger.getLogger("pando.cluster");

  private static final long NANOS_MAX = 4_000_000_000_000L;
  private static final long EVENTS_MAX = 100_000_000;

  /** Shorter than a pause may be. */
  private static final int LEASE_MILLIS = 4;

  /** So much faster or slower than true are clocks at most: together not quite a tenth. */
  private static final double CLOCK_DRIFT = 0.047;

  /** Name of the process that makes the index. */
  private static final ComputeServer MAKER = new ComputeServer(ComputeServer.NUMBER_MAX, 1);

  private static final long THINK_NANOS = 50_000;

  /** Every so many operations a client thinks for long. */
  private static final int REST_EVERY = 10;

  private static final long REST_NANOS = 20_000_000;
  private static final long CHANGE_NANOS = 60_000_000;

  /** So many changes wait at most: under some faults few of them succeed. */
  private static final int CHANGES_MAX = 16;

  private static final long START_NANOS = 40_000_000;
  private static final long STRIKE_NANOS = 10_000_000;
  private static final long LOOK_NANOS = 5_000_000;

  /** After a long wait the next look comes after the waiting time divided by this. */
  private static final int LOOKS_PART = 16;

  /** A pause that has begun when the faults end, and what follows from it, take so long. */
  private static final long BEGUN_NANOS = 20_000_000;

  /** Within this time everything ends once the faults have. */
  private static final long QUIET_NANOS = 30_000_000_000L;

  /** The same where a memory server is lost: what needs that may stall for a hundred seconds. */
  private static final long LOST_QUIET_NANOS = 2_000_000_000_000L;

  /** Every so many seeds compute servers log nothing. */
  private static final int UNLOGGED_EVERY = 3;

  private static final String WRITE_BACK = "write-back-interval";
  private static final String WRITE_BACK_INTERVAL = "40us";

  /** The intervals of trials are shorter, but what writes back may be paused again and again. */
  private static final long LOST_NANOS_MAX = 200_000_000;

  static {
    LOG.setLevel(Level.OFF);
  }

  private final ServedOptions options;
  private final boolean losesServers;

  /** Of memory servers that do not come back: without data folders their memory is gone. */
  private final List<Membership> memory = new ArrayList<>();

  /** Memory servers that come back; empty without data folders. */
  private final List<ClusterMemory> places = new ArrayList<>();

  private final @Nullable TrialFolders folders;
  private final Config config;
  private final SimCoordinator coordinator;
  private final ClusterWatch watch;
  private final ClusterChanges asking;
  private final Map<End, Long> ends = new TreeMap<>();
  private Map<Integer, Change> changes = Map.of();
  private List<Change> left = List.of();
  private long starts;
  private long refused;
  private boolean isAtRest;
  private boolean over;

  /** Whether compute servers are closed, so that memory servers may end. */
  private boolean isClosed;

  private ClusterTrial(TrialPlan plan, long seed, Cluster cluster, @Nullable TrialFolders folders) {
    super(plan, seed, cluster);
    this.folders = folders;
    this.losesServers =
        folders != null
            || plan.faults().contains(Fault.SESSION_LOST)
            || plan.faults().contains(Fault.CRASH_COMPUTE);
    this.options = drawn();
    LogMode log = log(plan, seed);
    boolean isLogged = log != LogMode.NONE;
    this.config =
        new Config(options.system(), Map.of(), plan.memoryServers(), LEASE_MILLIS, log, 0);
    this.coordinator = new SimCoordinator(cluster, random.split());
    this.watch =
        new ClusterWatch(
            coordinator.entries(),
            plan.computeServers(),
            history,
            clock,
            losesServers && !isLogged && !options.system().equals("p-sherman"),
            lostNanosMax(),
            cluster::nanos);
    this.asking =
        new ClusterChanges(
            new ClusterState(coordinator.connect()),
            plan.computeServers(),
            keys,
            random.split(),
            losesServers);
  }

  /** Returns what compute servers log in a seed. */
  private static LogMode log(TrialPlan plan, long seed) {
    if (restartsAll(plan)) {
      return LogMode.DATA;
    }
    if (!isLogged(plan) || seed % UNLOGGED_EVERY == 0) {
      return LogMode.NONE;
    }
    boolean losesMemory = plan.faults().contains(Fault.LOSE_MEMORY) && canLoad(plan);
    boolean hasFolders = losesMemory && seed % UNLOGGED_EVERY == UNLOGGED_EVERY - 1;
    return hasFolders ? LogMode.DATA : LogMode.MEMORY;
  }

  /** Returns whether a generation can begin: where the pool is full now and then, none would. */
  private static boolean canLoad(TrialPlan plan) {
    return !plan.fillsPool();
  }

  private static boolean isLogged(TrialPlan plan) {
    return plan.strings() || plan.index().tiny().isLogged();
  }

  private static boolean restartsAll(TrialPlan plan) {
    return plan.faults().contains(Fault.RESTART_ALL);
  }

  /** Every second seed writes changes back before they are old, if the plan does not say. */
  private ServedOptions drawn() {
    ServedOptions drawn = plan.strings() ? plan.drawStrings(random) : plan.draw(random, false);
    boolean chooses = writesBack(drawn) && !plan.settings().containsKey(WRITE_BACK);
    return chooses && seed % 2 == 0 ? drawn.with(WRITE_BACK, WRITE_BACK_INTERVAL) : drawn;
  }

  private static boolean writesBack(ServedOptions some) {
    return some.documentation().containsKey(WRITE_BACK);
  }

  /** Returns how old a change may be that is lost; 0 where there is no bound. */
  private long lostNanosMax() {
    boolean bounded =
        options instanceof ByteOptions strings
            ? strings.labels().writeBackNanos() > 0
            : writesBack(options) && !options.equals(options.with(WRITE_BACK, "0"));
    return bounded ? LOST_NANOS_MAX : 0;
  }

  /**
   * Checks that a plan is one for these trials.
   *
   * @throws IllegalArgumentException if it has one compute server, a system whose ranges do not
   *     move, or a fault that has no place here
   */
  public static void check(TrialPlan plan) {
    Set<Fault> other = new TreeSet<>(plan.faults());
    other.removeAll(FAULTS);
    if (restartsAll(plan) && !(isLogged(plan) && canLoad(plan))) {
      other.add(Fault.RESTART_ALL);
    }
    boolean moves = plan.strings() || plan.index().tiny().hasMovablePartitions();
    if (!other.isEmpty() || !moves || plan.computeServers() < 2) {
      throw new IllegalArgumentException(
          "no plan for a cluster: system=%s, its ranges move=%s, computeServers=%s, least=2, faults that have no place here=%s"
              .formatted(plan.name(), moves, plan.computeServers(), other));
    }
  }

  /**
   * Runs a seed.
   *
   * @throws IllegalArgumentException as {@link #check} says
   * @throws HangException if the run makes no progress
   */
  public static TrialResult run(TrialPlan plan, long seed) {
    check(plan);
    if (log(plan, seed) != LogMode.DATA) {
      try (Cluster cluster = new Cluster(shape(plan, seed))) {
        return new ClusterTrial(plan, seed, cluster, null).run();
      }
    }
    try (TrialFolders folders = new TrialFolders(plan.strings());
        Cluster cluster = new Cluster(shape(plan, seed).withHandlers(folders.handlers()))) {
      return new ClusterTrial(plan, seed, cluster, folders).run();
    }
  }

  private TrialResult run() {
    if (folders == null) {
      load();
      announceMemory();
    } else {
      folders.fill(0, initial());
      spawnMemory(folders);
    }
    spawn();
    runToEnd(() -> cluster.run(NANOS_MAX, EVENTS_MAX));
    watch.close();
    violations.addAll(watch.violations());
    clients.forEach(client -> violations.addAll(client.failures()));
    audit();
    return result();
  }

  /** Makes the index, with all keys at compute server 0, which does not run yet. */
  private void load() {
    try (Partitioned index = options.createAt(cluster.fabric(0, MAKER), 0)) {
      load(index instanceof ByteIndex strings ? new LongsAsBytes(strings) : (RangeIndex) index);
    }
  }

  private void announceMemory() {
    for (int number = 0; number < plan.memoryServers(); number++) {
      PoolEntry entry = new PoolEntry(number, 1, "", BYTES_PER_SERVER, false, ServerState.SERVING);
      Membership session = coordinator.entries().connect();
      memory.add(session);
      new ClusterState(session).announceMemory(entry);
    }
  }

  private void spawnMemory(TrialFolders its) {
    for (int number = 0; number < plan.memoryServers(); number++) {
      // Its process runs on a machine of its own; here it shares a compute server's.
      int machine = number % plan.computeServers();
      Host host = new ClusterHost(cluster, machine, 1);
      ClusterMemory place =
          new ClusterMemory(
              cluster,
              coordinator,
              its,
              number,
              host,
              random.split(),
              () -> isClosed,
              () -> watch.state().config().isPresent());
      places.add(place);
      spawn(machine, "memory-" + number, _ -> place.run());
      cluster.stopMemoryServer(number);
    }
    spawn(0, "restarts", _ -> restartAll());
  }

  private void restartAll() {
    while (working > 0) {
      cluster.sleepNanos(STRIKE_NANOS);
      if (cluster.strikes(Fault.RESTART_ALL)) {
        cluster.crashProcesses();
        for (int number = 0; number < plan.memoryServers(); number++) {
          cluster.stopMemoryServer(number);
        }
      }
    }
  }

  private void spawn() {
    for (int number = 0; number < plan.computeServers(); number++) {
      supervise(number, "unit");
    }
    if (random.nextBoolean()) {
      // It waits until a number is free, so the one that had it may go on.
      supervise(random.nextInt(plan.computeServers()), "standby");
    }
    int count = plan.computeServers() * plan.clients();
    working = count;
    for (int number = 0; number < count; number++) {
      int id = number;
      spawn(number % plan.computeServers(), "client-" + number, own -> runClient(id, own));
    }
    spawn(0, "changes", this::ask);
    spawn(0, "faults", _ -> loseSessions());
    spawn(0, "crashes", this::endCrashed);
    spawn(0, "memory", _ -> endLostMemory());
    spawn(0, "end", this::end);
  }

  /** Adds a client of the simulation, with randomness of its own. */
  private void spawn(int machine, String name, Consumer<SplittableRandom> body) {
    SplittableRandom own = random.split();
    cluster.core(machine).spawn(name, () -> body.accept(own));
  }

  /** Starts a compute server, and again whenever it has ended. */
  private void supervise(int number, String name) {
    Host host = new ClusterHost(cluster, number, 1 + CLOCK_DRIFT * (2 * random.nextDouble() - 1));
    spawn(
        number,
        name + "-" + number,
        own -> {
          while (number > 0 && folders == null && watch.servers().isEmpty()) {
            // The index is that of compute server 0.
            cluster.sleepNanos(LOOK_NANOS);
          }
          while (!over) {
            cluster.sleepNanos(own.nextLong(START_NANOS));
            start(number, host);
          }
        });
  }

  private void start(int number, Host host) {
    ClusterServer server = new ClusterServer(cluster, number, ++starts, watch);
    try {
      End end = server.run(options, config, host, coordinator::connectComputeServer, () -> over);
      ends.merge(end, 1L, Long::sum);
      if (end == End.LOST && !losesServers) {
        violations.add("a compute server was lost without a fault: " + server);
      }
    } catch (PandoException e) {
      // Another one had the number, or it was lost as it started, or as it wrote back.
      refused++;
      if (!losesServers && !isMemoryLost() && server.isStarted()) {
        violations.add("a compute server could not be closed: " + StackText.of(e));
      }
    } catch (IllegalArgumentException e) {
      // A tiny cache does not hold the directory of a range that has grown.
      refused++;
      if (server.isStarted()) {
        violations.add("a compute server failed: " + StackText.of(e));
      }
    } catch (IllegalStateException e) {
      violations.add("a compute server failed: " + StackText.of(e));
    }
  }

  private void runClient(int number, SplittableRandom own) {
    try (ClusterClient sessions = sessions(own)) {
      while (!sessions.connect()) {
        if (isDown()) {
          return;
        }
        cluster.sleepNanos(LOOK_NANOS);
      }
      TrialClient client = client(number, own, sessions, () -> rest(own));
      client.run(plan.operations() / (plan.computeServers() * plan.clients()), () -> !isDown());
    } finally {
      working--;
    }
  }

  private ClusterClient sessions(SplittableRandom own) {
    List<String> addresses =
        IntStream.range(0, plan.computeServers())
            .mapToObj(number -> ClusterServer.address(number, 0))
            .toList();
    return new ClusterClient(cluster, watch, addresses, own);
  }

  private TrialClient client(
      int number, SplittableRandom own, Supplier<Session> sessions, BooleanSupplier pace) {
    TrialClient client =
        new TrialClient(
            number, sessions, _ -> true, pace, keys, history, clock, own, this::isViolation);
    clients.add(client);
    return client;
  }

  /** Lets a client think; returns whether another one goes on, which has old routes. */
  private boolean rest(SplittableRandom own) {
    cluster.sleepNanos(own.nextLong(own.nextInt(REST_EVERY) == 0 ? REST_NANOS : THINK_NANOS));
    return cluster.faultNanos(Fault.STALE_ROUTE) > 0;
  }

  /**
   * Where nothing is lost, every operation is carried out; else once nothing is lost any more. No
   * node is damaged.
   */
  private boolean isViolation(PandoException failure) {
    boolean isCut =
        plan.faults().contains(Fault.CUT_CLIENT) && failure instanceof UnknownOutcomeException;
    boolean losesMemory = plan.faults().contains(Fault.LOSE_MEMORY) && folders == null;
    if (isCut || losesMemory || (isFull(failure) && !isAtRest)) {
      return false;
    }
    return !losesServers || isAtRest || failure instanceof CorruptNodeException;
  }

  private boolean isFull(Throwable failure) {
    return plan.fillsPool()
        && (failure instanceof PoolFullException
            || (failure.getCause() != null && isFull(failure.getCause())));
  }

  private void ask(SplittableRandom own) {
    cluster.sleepNanos(own.nextLong(CHANGE_NANOS));
    while (working > 0) {
      if (unfinished() < CHANGES_MAX) {
        asking.ask();
      }
      cluster.sleepNanos(own.nextLong(CHANGE_NANOS));
    }
  }

  private long unfinished() {
    return watch.state().changes().stream().filter(change -> !change.isOver()).count();
  }

  /** Ends the sessions of processes that have crashed, as the coordinator does after a while. */
  private void endCrashed(SplittableRandom own) {
    while (!over) {
      cluster.sleepNanos(own.nextLong(SimCoordinator.SESSION_TIMEOUT.toNanos()));
      watch.servers().forEach(ClusterServer::endIfCrashed);
    }
  }

  private void loseSessions() {
    while (working > 0) {
      cluster.sleepNanos(STRIKE_NANOS);
      coordinator.strike();
    }
  }

  private void endLostMemory() {
    while (!over) {
      cluster.sleepNanos(STRIKE_NANOS);
      for (int number = 0; number < memory.size(); number++) {
        if (cluster.isLost(number)) {
          memory.get(number).close();
        }
      }
    }
  }

  /**
   * Returns whether nobody serves any more, for good: where a memory server is lost, no compute
   * server can start.
   */
  private boolean isDown() {
    return isMemoryLost() && open().isEmpty();
  }

  private boolean isMemoryLost() {
    return folders == null && IntStream.range(0, plan.memoryServers()).anyMatch(cluster::isLost);
  }

  // The end.

  private void end(SplittableRandom own) {
    while (working > 0) {
      cluster.sleepNanos(LOOK_NANOS);
    }
    cluster.endFaults();
    cluster.sleepNanos(BEGUN_NANOS);
    long start = cluster.nanos();
    long longest = isMemoryLost() ? LOST_QUIET_NANOS : QUIET_NANOS;
    while (!isQuiet() && cluster.nanos() - start < longest) {
      cluster.sleepNanos(Math.max(LOOK_NANOS, (cluster.nanos() - start) / LOOKS_PART));
    }
    if (!isQuiet()) {
      violations.add("the cluster does not come to rest: " + describe() + "\n" + cluster.stacks());
    }
    left = changesLeft();
    changes = new LinkedHashMap<>();
    for (int id : asking.asked()) {
      watch.state().change(id).ifPresent(change -> changes.put(id, change));
    }
    isAtRest = true;
    if (!isMemoryLost()) {
      touch(own);
    }
    over = true;
    List.copyOf(watch.servers()).forEach(this::stop);
    isClosed = true;
  }

  private void stop(ClusterServer server) {
    try {
      server.stop();
    } catch (PandoException e) {
      if (!losesServers && !isMemoryLost()) {
        violations.add("a compute server could not be closed: " + StackText.of(e));
      }
    }
  }

  /** Returns whether all changes are over, and the compute servers agree on who serves what. */
  private boolean isQuiet() {
    ClusterState state = watch.state();
    Routes routes = state.routes().orElse(null);
    List<ClusterServer> open = open();
    if (isMemoryLost()) {
      return changesLeft().isEmpty();
    }
    return routes != null
        && places.stream().allMatch(ClusterMemory::isRunning)
        && changesLeft().isEmpty()
        && state.computeServers().stream().allMatch(Member::isServing)
        && open.stream().allMatch(server -> server.partitioning().epoch() == routes.epoch())
        && routes.routes().stream()
            .allMatch(route -> open.stream().anyMatch(server -> server.answers(leastKey(route))));
  }

  private long leastKey(Routes.Route route) {
    return plan.strings() ? LongsAsBytes.first(route.fence()) : route.low();
  }

  private List<ClusterServer> open() {
    return watch.servers().stream().filter(ClusterServer::isOpen).toList();
  }

  /**
   * Returns the changes that are to end still. Where a memory server is lost, a fence waits for it;
   * where nobody serves, nobody makes changes.
   */
  private List<Change> changesLeft() {
    boolean lost = isMemoryLost();
    return isDown()
        ? List.of()
        : watch.state().changes().stream()
            .filter(change -> !change.isOver() && !(lost && change.isFence()))
            .toList();
  }

  private String describe() {
    ClusterState state = watch.state();
    return "changes="
        + changesLeft()
        + ", routes="
        + state.routes()
        + ", leader="
        + state.leader()
        + ", members="
        + state.computeServers()
        + ", running="
        + open();
  }

  /** Reads and stores every key. */
  private void touch(SplittableRandom own) {
    Set<Long> keysLeft = allKeys();
    try (ClusterClient sessions = sessions(own)) {
      client(FINAL_CLIENT + 1, own, sessions, () -> false).touch(cluster, keysLeft, hangs);
    }
  }

  /**
   * Checks the tree or the blocks in the pool, and the history with what they have as a last read.
   */
  private void audit() {
    if (folders != null) {
      readFolders(folders);
    }
    if (isMemoryLost()) {
      checkHistory();
      return;
    }
    if (plan.strings()) {
      readStrings();
      checkHistory();
      return;
    }
    Tree tree;
    try {
      tree = ((IndexOptions) options).walk(cluster.fabric(0, MAKER));
    } catch (IllegalStateException e) {
      violations.add("the tree cannot be walked: " + StackText.of(e));
      return;
    }
    violations.addAll(tree.problems());
    if (tree.problems().isEmpty()) {
      readLast(tree.entries());
    }
    checkHistory();
  }

  /** Records what the data folders have as last reads: all that was acknowledged is in each. */
  private void readFolders(TrialFolders its) {
    if (its.hasFailed()) {
      violations.add("a data folder could not be written");
    }
    for (int number = 0; TrialFolders.has(number); number++) {
      readLast(its.entries(number));
    }
  }

  /** Opens what each compute server had, and records what is there as a last read. */
  private void readStrings() {
    Map<Long, Long> found = new TreeMap<>();
    try {
      for (int number = 0; number < plan.computeServers(); number++) {
        readStrings(number, found);
      }
      readLast(found);
    } catch (IllegalStateException | PandoException e) {
      violations.add("the blocks cannot be read: " + StackText.of(e));
    }
  }

  private void readStrings(int number, Map<Long, Long> found) {
    try (ByteIndex index =
            ByteIndex.joinAt(cluster.fabric(0, MAKER), (ByteOptions) options, number);
        ByteSession session = index.session()) {
      Partitioning table = index.partitioning();
      if (table.hasServer(number)) {
        int range = table.rangeOfServer(number);
        session.scan(
            table.fenceOfRange(range),
            KeyBounds.fenceBehind(table, range),
            Long.MAX_VALUE,
            (key, value) -> {
              found.put(LongsAsBytes.key(key), LongsAsBytes.value(value));
              return true;
            });
      }
    }
  }

  private TrialResult result() {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("operations answered", watch.answers());
    counts.put("changes asked for", (long) changes.size());
    counts.put("changes done", count(Change.State.DONE));
    counts.put("changes failed", count(Change.State.FAILED));
    counts.put("changes not over", (long) left.size());
    counts.put("compute servers started", starts);
    counts.put("starts that failed", refused);
    for (End end : End.values()) {
      counts.put("ends " + end, ends.getOrDefault(end, 0L));
    }
    counts.put("joined again", (long) watch.rejoined());
    counts.put("losses", (long) watch.losses());
    counts.put("memory servers started", places.stream().mapToLong(ClusterMemory::starts).sum());
    counts.put("disks lost", folders != null && folders.isDiskLost() ? 1L : 0);
    counts.put("generations", watch.state().config().map(Config::generation).orElse(0L));
    return result(Math.toIntExact(count(Change.State.DONE)), counts);
  }

  private long count(Change.State state) {
    return changes.values().stream().filter(change -> change.state() == state).count();
  }
}
