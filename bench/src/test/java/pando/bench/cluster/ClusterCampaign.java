package pando.bench.cluster;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Member;

/** Kills servers of a cluster, one after the other, while clients check every answer. */
final class ClusterCampaign implements AutoCloseable {
  private static final int KEYS = 12_000;
  private static final int CLIENTS = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long RECOVERY_SECONDS = 120;
  private static final long LOAD_MILLIS = 400;
  private static final int EXIT_LOST = 3;

  private final TestedCluster cluster;
  private final SplittableRandom random;
  private final PrintStream out;
  private final boolean removes;
  private final Losses losses = new Losses();
  private final Tally tally = new Tally();
  private final ReentrantReadWriteLock running = new ReentrantReadWriteLock(true);
  private final List<PandoClient> connections = new ArrayList<>();
  private final List<CheckingClient> clients = new ArrayList<>();
  private final Map<String, Integer> cycles = new TreeMap<>();
  private final Histogram recoveries = new Histogram(3);
  private @Nullable ClientSession probe;
  private int clusters;

  /** What is done in a cycle. */
  enum Kind {
    /** A compute server that does not lead is killed. */
    OWNER,
    /** The compute server that leads is killed. */
    LEADER,
    /** ZooKeeper is killed, and starts again with its files. */
    ZOOKEEPER,
    /** ZooKeeper and a compute server are killed. */
    ZOOKEEPER_AND_OWNER,
    /** The leader is killed while it changes ranges. */
    LEADER_IN_CHANGE,
    /** The leader is killed while it takes care of the loss of another. */
    LEADER_IN_FENCE,
    /** Another compute server than the leader is killed in a change. */
    OWNER_IN_CHANGE,
    /** A compute server stands still for longer than its session lasts. */
    PAUSE,
    /** A compute server is asked to end, and writes all back. */
    END,
    /** A memory server is killed: the keys are loaded into another cluster. */
    MEMORY
  }

  /**
   * Starts a cluster with clients.
   *
   * @param removes whether clients remove keys, too
   */
  ClusterCampaign(
      TestedCluster.Plan plan, Path directory, long seed, boolean removes, PrintStream out) {
    this.random = new SplittableRandom(seed);
    this.out = out;
    this.removes = removes;
    this.cluster = TestedCluster.start(plan, directory);
    boolean ready = false;
    try {
      begin();
      ready = true;
    } finally {
      if (!ready) {
        close();
      }
    }
  }

  private void begin() {
    await(() -> isSettled(1), "start", 20);
    connections.add(cluster.connect(PATIENCE));
    connections.add(cluster.connect(PATIENCE));
    probe = connections.getFirst().session();
    List<List<KeyHistory>> keys = new ArrayList<>();
    IntStream.range(0, CLIENTS).forEach(_ -> keys.add(new ArrayList<>()));
    for (int i = 0; i < KEYS; i++) {
      keys.get(i % CLIENTS).add(new KeyHistory(random.nextLong()));
    }
    for (int i = 0; i < CLIENTS; i++) {
      CheckingClient client =
          new CheckingClient(
              connections.get(i % connections.size()),
              keys.get(i),
              losses,
              tally,
              running.readLock(),
              removes,
              random.split());
      client.load();
      clients.add(client);
    }
    // A range that is divided is written back before, so what was loaded is in the pool.
    for (int number = 1; number < cluster.plan().computeServers(); number++) {
      cluster.startCompute(number);
    }
    awaitSettled("load");
    clients.forEach(CheckingClient::start);
  }

  Tally tally() {
    return tally;
  }

  // Cycles.

  /** Runs a cycle; returns whether all was as it must be. */
  boolean cycle(int number, Kind kind) throws InterruptedException {
    long start = System.nanoTime();
    long answers = tally.answers();
    long lost = tally.lostWrites();
    long failures = tally.failures();
    int wrong = tally.wrong().size();
    TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
    String what = carryOut(kind);
    awaitSettled(what);
    TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
    readAll();
    cycles.merge(kind.name(), 1, Integer::sum);
    Histogram waits = new Histogram(3);
    clients.forEach(client -> waits.add(client.takeWaits()));
    out.printf(
        Locale.ROOT,
        "cycle %d %s: %s; %.1f s, answers=%d, longest=%d ms, lost writes=%d, failures=%d, wrong=%d%n",
        number,
        kind,
        what,
        (System.nanoTime() - start) / 1e9,
        tally.answers() - answers,
        waits.getMaxValue() / 1_000,
        tally.lostWrites() - lost,
        tally.failures() - failures,
        tally.wrong().size() - wrong);
    tally.wrong().stream().skip(wrong).limit(5).forEach(text -> out.println("  WRONG " + text));
    if (kind != Kind.MEMORY && tally.failures() > failures) {
      out.println("  failures until now: " + tally);
    }
    out.flush();
    return tally.wrong().size() == wrong;
  }

  private void readAll() {
    running.writeLock().lock();
    try {
      clients.forEach(CheckingClient::readAll);
    } finally {
      running.writeLock().unlock();
    }
  }

  private String carryOut(Kind kind) throws InterruptedException {
    return switch (kind) {
      case OWNER -> kill(other(leader()));
      case LEADER -> kill(leader());
      case ZOOKEEPER -> killZooKeeper(false);
      case ZOOKEEPER_AND_OWNER -> killZooKeeper(true);
      case LEADER_IN_CHANGE -> killInChange(true);
      case OWNER_IN_CHANGE -> killInChange(false);
      case LEADER_IN_FENCE -> killInFence();
      case PAUSE -> pause();
      case END -> end();
      case MEMORY -> loseMemory();
    };
  }

  private String kill(int number) {
    Losses.Range range = ranges(number).getFirst();
    boolean restartsAtOnce = random.nextInt(4) == 0;
    kill(number, ranges(number), ranges(number));
    if (restartsAtOnce) {
      cluster.startCompute(number);
    }
    long millis = awaitAnswer(range);
    if (!restartsAtOnce) {
      cluster.startCompute(number);
    }
    return "compute server %d killed, answers after %d ms%s"
        .formatted(number, millis, restartsAtOnce ? ", restarted at once" : "");
  }

  private void kill(int number, List<Losses.Range> possible, List<Losses.Range> sure) {
    losses.announce(possible, sure);
    cluster.compute(number).kill();
    losses.haveComeAbout();
  }

  /** Returns after how many milliseconds a key of a range was answered. */
  private long awaitAnswer(Losses.Range range) {
    long start = System.nanoTime();
    Objects.requireNonNull(probe).get(range.low());
    long millis = (System.nanoTime() - start) / 1_000_000;
    recoveries.recordValue(millis);
    return millis;
  }

  private String killZooKeeper(boolean andOwner) throws InterruptedException {
    int number = random.nextInt(cluster.plan().computeServers());
    List<Losses.Range> ranges = ranges(number);
    cluster.killZooKeeper();
    long away = random.nextInt(3_000);
    TimeUnit.MILLISECONDS.sleep(away / 2);
    if (andOwner) {
      kill(number, ranges, ranges);
    }
    TimeUnit.MILLISECONDS.sleep(away / 2);
    cluster.startZooKeeper();
    if (andOwner) {
      awaitAnswer(ranges.getFirst());
      cluster.startCompute(number);
    }
    return "ZooKeeper killed for %d ms%s"
        .formatted(away, andOwner ? ", and compute server " + number : "");
  }

  /** Asks for a change, and kills a compute server when it is in a state that is drawn. */
  private String killInChange(boolean leader) {
    int leads = leader();
    Routes before = routes();
    Change asked = anyChange(before);
    List<Losses.Range> all = List.of(new Losses.Range(Long.MIN_VALUE, Long.MAX_VALUE));
    Change.State state = random.nextBoolean() ? Change.State.ASKED : Change.State.UNDER_WAY;
    long delay = random.nextInt(3) * random.nextInt(20_000) * 1_000L;
    int id = cluster.state().ask(asked);
    if (state != Change.State.ASKED) {
      awaitChange(
          changes -> changes.stream().anyMatch(change -> change.id() == id && isPast(change)));
      long start = System.nanoTime();
      while (System.nanoTime() - start < delay) {
        Thread.onSpinWait();
      }
    }
    int killed = leader ? leads : other(leads);
    List<Losses.Range> concerned = concerned(before, killed, asked);
    kill(killed, concerned.isEmpty() ? all : concerned, List.of());
    Change found = cluster.state().change(id).orElseThrow();
    cycles.merge("%s killed: %s %s".formatted(leader ? "leader" : "other", asked.kind(), found.state()), 1, Integer::sum);
    Change ended = cluster.state().awaitEnd(id, Duration.ofSeconds(RECOVERY_SECONDS));
    if (!ended.isOver()) {
      throw new IllegalStateException("a change does not end: " + ended);
    }
    for (int number = 0; number < cluster.plan().computeServers(); number++) {
      if (number == killed) {
        cluster.startCompute(number);
      } else if (ended.kind() == Change.Kind.REMOVE && ended.server() == number) {
        awaitEnded(number, ended.state() == Change.State.DONE);
      }
    }
    return "%s asked for, compute server %d%s killed as it was %s; it ended %s %s"
        .formatted(asked.kind(), killed, leader ? ", the leader," : "", found.state(), ended.state(), ended.why());
  }

  private static boolean isPast(Change change) {
    return change.state() != Change.State.ASKED;
  }

  /** A compute server that was removed ends; it starts again. */
  private void awaitEnded(int number, boolean removed) {
    if (removed) {
      if (cluster.compute(number).awaitExit(RECOVERY_SECONDS).isEmpty()) {
        throw new IllegalStateException("removed, and does not end: server=" + number);
      }
      cluster.startCompute(number);
    }
  }

  /** Returns the keys that a killed compute server may have had in a change. */
  private List<Losses.Range> concerned(Routes before, int killed, Change change) {
    List<Losses.Range> ranges = new ArrayList<>();
    List<Routes.Route> routes = before.routes();
    for (int place = 0; place < routes.size(); place++) {
      int owner = routes.get(place).owner();
      boolean isBeside =
          (place > 0 && routes.get(place - 1).owner() == killed)
              || (place + 1 < routes.size() && routes.get(place + 1).owner() == killed);
      if (owner == killed || owner == change.server() || isBeside) {
        ranges.add(range(before, place));
      }
    }
    return ranges;
  }

  private Change anyChange(Routes before) {
    int place = 1 + random.nextInt(before.routes().size() - 1);
    int owner = before.routes().get(place).owner();
    if (random.nextInt(3) == 0) {
      return Change.remove(owner);
    }
    Losses.Range own = range(before, place);
    Losses.Range below = range(before, place - 1);
    Losses.Range chosen = random.nextBoolean() ? own : below;
    long within = random.nextLong() & Long.MAX_VALUE;
    long width = chosen.high() - chosen.low();
    return Change.move(owner, chosen.low() + 1 + Long.remainderUnsigned(within, Math.max(1, width - 1 < 0 ? Long.MAX_VALUE : width - 1)));
  }

  /** Kills the leader in a state of a fence that is drawn. */
  private String killInFence() {
    int leads = leader();
    int lost = other(leads);
    List<Losses.Range> ranges = ranges(lost);
    Losses.Range probed = ranges.getFirst();
    kill(lost, ranges, ranges);
    List<Losses.Range> own = ranges(leads);
    int state = random.nextInt(4);
    awaitChange(
        changes ->
            changes.stream()
                .anyMatch(change ->
                    change.kind() == Change.Kind.FENCE
                        && change.server() == lost
                        && change.leastEpoch() >= 0
                        && isNew(change)
                        && stateOf(change) >= state));
    kill(leads, List.of(new Losses.Range(Long.MIN_VALUE, Long.MAX_VALUE)), own);
    String found =
        cluster.state().changes().stream()
            .filter(change -> change.kind() == Change.Kind.FENCE && change.server() == lost)
            .reduce((_, last) -> last)
            .map(change ->
                change.state() + (change.executor() == Change.NONE ? "" : " with an heir"))
            .orElse("none");
    cycles.merge("leader killed: FENCE " + found, 1, Integer::sum);
    long millis = awaitAnswer(probed);
    cluster.startCompute(lost);
    cluster.startCompute(leads);
    return "compute server %d killed, and the leader, %d, as its fence was %s; answers after %d ms"
        .formatted(lost, leads, found, millis);
  }

  private boolean isNew(Change change) {
    return change.id() > lastFence;
  }

  private int lastFence;

  private static int stateOf(Change change) {
    if (change.isOver()) {
      return 3;
    }
    return change.state() == Change.State.ASKED ? 0 : change.executor() == Change.NONE ? 1 : 2;
  }

  private String pause() throws InterruptedException {
    int number = random.nextInt(cluster.plan().computeServers());
    List<Losses.Range> ranges = ranges(number);
    losses.announce(ranges, ranges);
    cluster.compute(number).stop();
    losses.haveComeAbout();
    long millis = awaitAnswer(ranges.getFirst());
    TimeUnit.MILLISECONDS.sleep(random.nextInt(1_000));
    cluster.compute(number).goOn();
    int exit = cluster.compute(number).awaitExit(RECOVERY_SECONDS).orElse(-1);
    if (exit != EXIT_LOST) {
      throw new IllegalStateException(
          "a compute server that lost its range must end so: exit code=" + exit);
    }
    cluster.startCompute(number);
    return "compute server %d stood still, others answered after %d ms".formatted(number, millis);
  }

  private String end() {
    int number = random.nextInt(cluster.plan().computeServers());
    Losses.Range range = ranges(number).getFirst();
    cluster.compute(number).end();
    int exit = cluster.compute(number).awaitExit(RECOVERY_SECONDS).orElse(-1);
    long millis = awaitAnswer(range);
    cluster.startCompute(number);
    return "compute server %d asked to end, exit code %d, answers after %d ms"
        .formatted(number, exit, millis);
  }

  private String loseMemory() throws InterruptedException {
    throw new UnsupportedOperationException("not yet: " + clusters++);
  }

  // What the cluster is like.

  private Routes routes() {
    return asked(() -> cluster.state().routes().orElseThrow());
  }

  private int leader() {
    return asked(() -> cluster.state().leader().orElseThrow());
  }

  private int other(int number) {
    int count = cluster.plan().computeServers();
    return (number + 1 + random.nextInt(count - 1)) % count;
  }

  private List<Losses.Range> ranges(int number) {
    Routes routes = routes();
    return IntStream.range(0, routes.routes().size())
        .filter(place -> routes.routes().get(place).owner() == number)
        .mapToObj(place -> range(routes, place))
        .toList();
  }

  private static Losses.Range range(Routes routes, int place) {
    List<Routes.Route> all = routes.routes();
    return new Losses.Range(
        all.get(place).low(),
        place + 1 < all.size() ? all.get(place + 1).low() - 1 : Long.MAX_VALUE);
  }

  /** Asks the coordinator until it answers. */
  private static <T> T asked(Supplier<T> question) {
    long start = System.nanoTime();
    while (true) {
      try {
        return question.get();
      } catch (CoordinatorLostException e) {
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS)) {
          throw e;
        }
      }
    }
  }

  private void awaitChange(Predicate<List<Change>> condition) {
    await(() -> condition.test(asked(() -> cluster.state().changes())), "a change", 0);
  }

  /** Waits until each compute server has a range, and nothing is left to do. */
  private void awaitSettled(String after) {
    await(() -> isSettled(cluster.plan().computeServers()), after, 20);
    lastFence =
        asked(() -> cluster.state().changes()).stream().mapToInt(Change::id).max().orElse(0);
  }

  private boolean isSettled(int count) {
    return asked(() -> {
      ClusterState state = cluster.state();
      Optional<Routes> routes = state.routes();
      List<Member> members = state.computeServers();
      return routes.isPresent()
          && routes.get().routes().size() == count
          && routes.get().routes().stream().noneMatch(route -> route.address().isEmpty())
          && members.stream().filter(Member::isServing).count() == count
          && state.leader().isPresent()
          && state.changes().stream().allMatch(Change::isOver);
    });
  }

  private void await(BooleanSupplier condition, String after, long pauseMillis) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS)) {
        throw new IllegalStateException(
            "does not come about: after=%s, members=%s, routes=%s, changes=%s"
                .formatted(
                    after,
                    cluster.state().computeServers(),
                    cluster.state().routes(),
                    cluster.state().changes().stream().filter(change -> !change.isOver()).toList()));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(pauseMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CompletionException(e);
      }
    }
  }

  /** Prints what all cycles came to. */
  void report() {
    out.println(tally);
    out.println("cycles: " + cycles);
    out.printf(
        "a key of a lost range answered after, in ms: p50=%d, p90=%d, longest=%d, of %d%n",
        recoveries.getValueAtPercentile(50),
        recoveries.getValueAtPercentile(90),
        recoveries.getMaxValue(),
        recoveries.getTotalCount());
    out.flush();
  }

  @Override
  public void close() {
    clients.forEach(CheckingClient::close);
    connections.forEach(PandoClient::close);
    cluster.close();
  }
}
