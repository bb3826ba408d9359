package pando.cli.cluster;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.CoordinatorLostException;
import pando.fabric.MemoryServerLostException;

/** Kills servers of a cluster, one after the other, while clients check every answer. */
final class ClusterCampaign implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration UNFORESEEN_WAIT = Duration.ofSeconds(10);

  /** Between two operations of a client. */
  private static final long PAUSE_NANOS = 1_500_000;

  private static final long LOAD_MILLIS = 400;
  private static final long MEMORY_LOST_MILLIS = 3_000;
  private static final int CHANGES_ON_FULL_DISK = 50;
  private static final long KILLED_AFTER_NANOS_MAX = 30_000_000;
  private static final int EXIT_ENDED = 143;

  private final TestedCluster cluster;
  private final ClusterView view;
  private final int servers;
  private final SplittableRandom random;
  private final PrintStream out;
  private final Tally tally;
  private final Losses losses;
  private final UnforeseenLosses unforeseen;
  private final CheckingClients clients;
  private boolean spent;

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
    /** A compute server stands still for about as long as its session lasts. */
    SHORT_PAUSE,
    /** All servers stand still for longer than their sessions last. */
    PAUSE_OF_ALL,
    /** ZooKeeper stands still for longer than sessions last. */
    PAUSE_OF_ZOOKEEPER,
    /** A compute server is asked to end, and writes all back. */
    END,
    /** The disk under ZooKeeper is full for a while; of a file system of its own. */
    FULL_DISK,
    /** A memory server is killed, and all is loaded into another cluster; the last cycle. */
    MEMORY,
    /** A memory server is killed, and all servers start again with what data folders have. */
    GENERATION,
    /** All servers but ZooKeeper are killed, and start again with what data folders have. */
    EVERYTHING;

    /** Returns whether the plan must have what others need not: a small disk, or data folders. */
    boolean needsMore() {
      return this == FULL_DISK || this == GENERATION || this == EVERYTHING;
    }
  }

  /**
   * Starts a cluster with clients.
   *
   * @param directory for its files, empty
   * @param removes whether clients remove keys and insert them again, which changes the tree
   * @param tally receives what is counted
   * @param out receives a line for each cycle
   */
  ClusterCampaign(
      TestedCluster.Plan plan,
      Path directory,
      SplittableRandom random,
      boolean removes,
      Tally tally,
      PrintStream out) {
    this.random = random;
    this.out = out;
    this.tally = tally;
    this.servers = plan.computeServers();
    this.cluster = TestedCluster.start(plan, directory);
    this.unforeseen = new UnforeseenLosses(cluster, tally, out);
    this.losses = new Losses(unforeseen::announceTo, UNFORESEEN_WAIT);
    this.view = new ClusterView(cluster);
    this.clients = new CheckingClients(losses, tally, removes, PAUSE_NANOS, random);
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
    view.awaitSettled(1, "start");
    clients.load(() -> cluster.connect(PATIENCE));
    // A range that is divided is written back before, so what was loaded is in the pool.
    IntStream.range(1, servers).forEach(cluster::startCompute);
    settle("load");
    clients.start();
  }

  /** Returns whether no further cycle makes sense: nodes are damaged, or memory is gone. */
  boolean isSpent() {
    return spent;
  }

  // Cycles.

  /** Runs a cycle. */
  void cycle(int number, Kind kind) throws InterruptedException {
    long start = System.nanoTime();
    Tally.Counts before = tally.counts();
    settle("cycle " + number);
    clients.takeWaits();
    TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
    String what = carryOut(kind);
    if (kind != Kind.MEMORY) {
      settle(what);
      TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
      clients.readAll();
      checkRunning();
    }
    long longest = clients.takeWaits().getMaxValue();
    spent |= tally.endCycle(out, number, kind, what, start, longest, before);
  }

  /** Waits until each compute server has a range; those that were lost unforeseen start again. */
  private void settle(String after) {
    view.await(
        () -> {
          unforeseen.announceTo(losses);
          unforeseen.restart();
          return view.isSettled(servers);
        },
        after);
    losses.haveComeAbout();
  }

  private void checkRunning() {
    for (int number = 0; number < servers; number++) {
      TestedProcess process = cluster.compute(number);
      if (!process.isAlive() && !UnforeseenLosses.isOne(process)) {
        tally.wrong(
            "compute server %d has ended by itself: exit code=%d"
                .formatted(number, exitCode(number)));
      }
    }
  }

  private String carryOut(Kind kind) throws InterruptedException {
    return switch (kind) {
      case OWNER -> kill(other(view.leader()));
      case LEADER -> kill(view.leader());
      case ZOOKEEPER -> killZooKeeper(false);
      case ZOOKEEPER_AND_OWNER -> killZooKeeper(true);
      case LEADER_IN_CHANGE -> killInChange(true);
      case OWNER_IN_CHANGE -> killInChange(false);
      case LEADER_IN_FENCE -> killInFence();
      case PAUSE -> pause();
      case SHORT_PAUSE -> pauseShortly();
      case PAUSE_OF_ALL -> pauseWithoutLoss(cluster.all());
      case PAUSE_OF_ZOOKEEPER -> pauseWithoutLoss(List.of(cluster.zooKeeper()));
      case END -> end();
      case FULL_DISK -> fillDisk();
      case MEMORY -> loseMemory();
      case GENERATION -> restartAll(false);
      case EVERYTHING -> restartAll(true);
    };
  }

  private int other(int number) {
    return (number + 1 + random.nextInt(servers - 1)) % servers;
  }

  private String kill(int number) {
    boolean restartsAtOnce = random.nextInt(4) == 0;
    List<Losses.Range> ranges = view.ranges(number);
    kill(number, ranges, ranges);
    if (restartsAtOnce) {
      cluster.startCompute(number);
    }
    long millis = awaitAnswer(ranges);
    if (!restartsAtOnce) {
      tally.recovered(millis);
      cluster.startCompute(number);
    }
    return "compute server %d killed, answers after %d ms%s"
        .formatted(number, millis, restartsAtOnce ? ", restarted at once" : "");
  }

  private void kill(int number, List<Losses.Range> possible, List<Losses.Range> sure) {
    unforeseen.announceTo(losses);
    losses.announce(possible, sure);
    cluster.compute(number).kill();
    losses.haveComeAbout();
  }

  /** Returns after how many milliseconds a key was answered. */
  private long awaitAnswer(List<Losses.Range> ranges) {
    long start = System.nanoTime();
    clients.probe(ranges.getFirst().low());
    return (System.nanoTime() - start) / 1_000_000;
  }

  private String killZooKeeper(boolean andOwner) throws InterruptedException {
    int number = random.nextInt(servers);
    List<Losses.Range> ranges = view.ranges(number);
    int away = random.nextInt(6_000);
    cluster.killZooKeeper();
    TimeUnit.MILLISECONDS.sleep(away / 2);
    if (andOwner) {
      kill(number, ranges, ranges);
    }
    TimeUnit.MILLISECONDS.sleep(away / 2);
    cluster.startZooKeeper();
    if (andOwner) {
      awaitAnswer(ranges);
      cluster.startCompute(number);
    }
    return "ZooKeeper killed for %d ms%s"
        .formatted(away, andOwner ? ", and compute server " + number : "");
  }

  private String fillDisk() throws InterruptedException {
    cluster.fillDisk();
    Routes before = view.routes();
    boolean asked = true;
    try {
      for (int i = 0; i < CHANGES_ON_FULL_DISK; i++) {
        cluster.state().ask(anyMove(before));
      }
    } catch (CoordinatorLostException e) {
      asked = false;
    }
    TimeUnit.MILLISECONDS.sleep(MEMORY_LOST_MILLIS);
    cluster.freeDisk();
    boolean hasEnded = !cluster.isZooKeeperAlive();
    if (hasEnded) {
      cluster.startZooKeeper();
    }
    return "disk full, changes taken=%s, ZooKeeper ended=%s".formatted(asked, hasEnded);
  }

  // Kills in changes.

  /** Asks for a change, and kills a compute server when it has come to a state that is drawn. */
  private String killInChange(boolean leader) {
    int leads = view.leader();
    Routes before = view.routes();
    Change asked = anyChange(before);
    int id = cluster.state().ask(asked);
    if (random.nextBoolean()) {
      view.awaitChanges(changes ->
          changes.stream().anyMatch(one -> one.id() == id && one.state() != Change.State.ASKED));
      spin(random.nextLong(KILLED_AFTER_NANOS_MAX));
    }
    int killed = leader ? leads : other(leads);
    kill(killed, ClusterView.rangesInChange(before, killed, asked), List.of());
    Change found = view.change(id).orElseThrow();
    tally.done(
        "%s killed in %s %s".formatted(leader ? "leader" : "other", asked.kind(), found.state()));
    view.await(() -> view.change(id).orElseThrow().isOver(), "a change: " + found);
    Change ended = view.change(id).orElseThrow();
    boolean removed = ended.kind() == Change.Kind.REMOVE && ended.state() == Change.State.DONE;
    if (removed && ended.server() != killed) {
      exitCode(ended.server());
      cluster.startCompute(ended.server());
    }
    cluster.startCompute(killed);
    return "%s asked for, compute server %d%s killed as it was %s; it ended %s %s"
        .formatted(
            asked.kind(),
            killed,
            leader ? ", the leader," : "",
            found.state(),
            ended.state(),
            ended.why());
  }

  private static void spin(long nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }

  private Change anyChange(Routes before) {
    int place = 1 + random.nextInt(before.routes().size() - 1);
    return random.nextInt(3) == 0
        ? Change.remove(before.routes().get(place).owner())
        : anyMove(before);
  }

  private Change anyMove(Routes before) {
    int place = 1 + random.nextInt(before.routes().size() - 1);
    return Change.move(
        before.routes().get(place).owner(),
        keyIn(ClusterView.range(before, place - random.nextInt(2))));
  }

  /** Returns a key that is not the least of a range. */
  private long keyIn(Losses.Range range) {
    return random.nextLong(range.low(), range.high()) + 1;
  }

  /** Kills the leader when a fence has come to a state that is drawn. */
  private String killInFence() {
    int leads = view.leader();
    int lost = other(leads);
    List<Losses.Range> ranges = view.ranges(lost);
    List<Losses.Range> own = view.ranges(leads);
    int last = view.changes().stream().mapToInt(Change::id).max().orElse(0);
    FenceState wanted = FenceState.values()[random.nextInt(FenceState.values().length)];
    kill(lost, ranges, ranges);
    view.awaitChanges(changes ->
        changes.stream()
            .filter(change -> change.id() > last && change.server() == lost)
            .anyMatch(change -> FenceState.of(change).compareTo(wanted) >= 0));
    // It may be the heir of the other one.
    List<Losses.Range> both = Stream.concat(own.stream(), ranges.stream()).toList();
    kill(leads, both, own);
    FenceState found = FenceState.of(view.lastFence(lost).orElseThrow());
    tally.done("leader killed in FENCE " + found);
    long millis = awaitAnswer(ranges);
    cluster.startCompute(lost);
    cluster.startCompute(leads);
    return "compute server %d killed, and the leader, %d, as its fence was %s; answers after %d ms"
        .formatted(lost, leads, found, millis);
  }

  /** How far a fence is. */
  private enum FenceState {
    ASKED,
    BEGUN,
    HEIR_NAMED,
    DONE;

    static FenceState of(Change fence) {
      if (fence.isOver()) {
        return DONE;
      }
      if (fence.state() == Change.State.ASKED) {
        return ASKED;
      }
      return fence.executor() == Change.NONE ? BEGUN : HEIR_NAMED;
    }
  }

  // Other ends.

  private String pause() throws InterruptedException {
    int number = random.nextInt(servers);
    List<Losses.Range> ranges = view.ranges(number);
    losses.announce(ranges, ranges);
    cluster.compute(number).stop();
    losses.haveComeAbout();
    long millis = awaitAnswer(ranges);
    TimeUnit.MILLISECONDS.sleep(random.nextInt(1_000));
    cluster.compute(number).goOn();
    expectExit(number, UnforeseenLosses.EXIT_LOST);
    cluster.startCompute(number);
    return "compute server %d stood still, others answered after %d ms".formatted(number, millis);
  }

  /** It joins again, or others were sooner: both may be. */
  private String pauseShortly() throws InterruptedException {
    int number = random.nextInt(servers);
    List<Losses.Range> ranges = view.ranges(number);
    losses.announce(ranges, List.of());
    TestedProcess process = cluster.compute(number);
    long millis = sessionMillis() / 2 + random.nextLong(sessionMillis());
    process.stop();
    TimeUnit.MILLISECONDS.sleep(millis);
    process.goOn();
    long answered = awaitAnswer(ranges);
    // Its session may just be over, and the fence not yet begun.
    TimeUnit.MILLISECONDS.sleep(sessionMillis());
    view.await(() -> !process.isAlive() || view.isSettled(servers), "a short pause");
    losses.haveComeAbout();
    boolean fenced = !process.isAlive();
    tally.done(fenced ? "fenced in a short pause" : "went on after a short pause");
    if (fenced) {
      expectExit(number, UnforeseenLosses.EXIT_LOST);
      cluster.startCompute(number);
    } else {
      process.undisturbed();
    }
    return "compute server %d stood still for %d ms, %s, answers after %d ms"
        .formatted(number, millis, fenced ? "was fenced" : "went on", answered);
  }

  /** Has servers stand still for longer than sessions last: nothing is lost, and none ends. */
  private String pauseWithoutLoss(List<TestedProcess> servers) throws InterruptedException {
    long millis = 2 * sessionMillis() + random.nextLong(sessionMillis());
    servers.forEach(TestedProcess::stop);
    TimeUnit.MILLISECONDS.sleep(millis);
    servers.forEach(TestedProcess::goOn);
    long answered = awaitAnswer(view.ranges(random.nextInt(this.servers)));
    settle("a pause of " + millis + " ms");
    servers.forEach(TestedProcess::undisturbed);
    return "%d servers stood still for %d ms, answers after %d ms"
        .formatted(servers.size(), millis, answered);
  }

  private long sessionMillis() {
    return TimeUnit.SECONDS.toMillis(cluster.plan().sessionSeconds());
  }

  private int exitCode(int number) {
    return cluster.compute(number).awaitExit(ClusterView.RECOVERY_SECONDS).orElseThrow();
  }

  private void expectExit(int number, int expected) {
    int found = exitCode(number);
    if (found != expected) {
      throw new IllegalStateException(
          "not the exit code: computeServer=%d, found=%d, expected=%d"
              .formatted(number, found, expected));
    }
  }

  private String end() {
    int number = random.nextInt(servers);
    List<Losses.Range> ranges = view.ranges(number);
    cluster.compute(number).end();
    expectExit(number, EXIT_ENDED);
    long millis = awaitAnswer(ranges);
    cluster.startCompute(number);
    return "compute server %d asked to end, answers after %d ms".formatted(number, millis);
  }

  private String loseMemory() throws InterruptedException {
    int number = random.nextInt(cluster.plan().memoryServers());
    long told = tally.failures(MemoryServerLostException.class);
    cluster.memory(number).kill();
    TimeUnit.MILLISECONDS.sleep(MEMORY_LOST_MILLIS);
    long answers = clients.readAllAndStop();
    told = tally.failures(MemoryServerLostException.class) - told;
    cluster.startAnew("anew");
    view.awaitSettled(1, "start anew");
    try (PandoClient another = cluster.connect(PATIENCE)) {
      clients.loadInto(another);
    }
    spent = true;
    return "memory server %d killed, %d keys answered, %d operations told; loaded anew"
        .formatted(number, answers, told);
  }

  /** Kills a memory server, or all servers; each server that has ended starts again. */
  private String restartAll(boolean everything) throws InterruptedException {
    int number = random.nextInt(cluster.plan().memoryServers());
    long start = System.nanoTime();
    long before = cluster.generation();
    IntStream.range(0, servers).forEach(compute -> cluster.compute(compute).expectEnd());
    if (everything) {
      cluster.all().stream()
          .filter(process -> !process.equals(cluster.zooKeeper()))
          .forEach(TestedProcess::kill);
    } else {
      cluster.memory(number).kill();
    }
    TimeUnit.MILLISECONDS.sleep(random.nextInt(2_000));
    // Also one that loads what the folders have.
    int killed = random.nextBoolean() ? random.nextInt(servers) : -1;
    long killAfter = start + TimeUnit.MILLISECONDS.toNanos(random.nextInt(8_000));
    boolean isKilled = killed < 0;
    while (!isKilled
        || !cluster.isWhole()
        || cluster.generation() <= before
        || !view.isSettled(servers)) {
      cluster.startEnded();
      if (!isKilled && System.nanoTime() > killAfter) {
        cluster.compute(killed).kill();
        isKilled = true;
      }
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(ClusterView.RECOVERY_SECONDS)) {
        throw new IllegalStateException("the cluster does not start again");
      }
      TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
    }
    long millis = (System.nanoTime() - start) / 1_000_000;
    tally.recovered(millis);
    return "%s killed, settled after %d ms%s"
        .formatted(
            everything ? "all servers" : "memory server " + number,
            millis,
            killed < 0 ? "" : ", compute server %d killed meanwhile".formatted(killed));
  }

  // Changes without kills.

  /** Changes ranges for some rounds; returns how long operations took that were under way then. */
  Histogram changeUnderLoad(int rounds) {
    for (int round = 0; round < rounds; round++) {
      Routes before = view.routes();
      for (int place = 1; place < servers; place++) {
        Change move = Change.move(before.routes().get(place).owner(), keyIn(around(before, place)));
        change(cluster.state().ask(move));
      }
      int removed = random.nextInt(servers);
      change(cluster.state().ask(Change.remove(removed)));
      exitCode(removed);
      int last = view.changes().getLast().id();
      cluster.startCompute(removed);
      if (random.nextBoolean()) {
        trySplit(removed);
      }
      view.awaitChanges(changes -> changes.getLast().id() > last);
      change(view.changes().getLast().id());
      settle("changes under load");
      clients.readAll();
    }
    return clients.takeWaitsInChanges();
  }

  /** Asks for a split as soon as there is a receiver, which itself asks for a half of a range. */
  private void trySplit(int receiver) {
    view.await(
        () ->
            view.computeServers().stream()
                .anyMatch(member -> member.number() == receiver && member.isServing()),
        "start");
    Routes routes = view.routes();
    Change split =
        Change.split(
            routes.routes().getFirst().owner(), keyIn(ClusterView.range(routes, 0)), receiver);
    change(cluster.state().ask(split));
  }

  /** Returns keys near the boundary below a range. */
  private static Losses.Range around(Routes routes, int place) {
    Losses.Range below = ClusterView.range(routes, place - 1);
    Losses.Range own = ClusterView.range(routes, place);
    return new Losses.Range(below.high() - quarter(below), own.low() + quarter(own));
  }

  private static long quarter(Losses.Range range) {
    return (range.high() - range.low()) >>> 2;
  }

  private void change(int id) {
    clients.setInChange(true);
    view.awaitChanges(
        changes -> changes.stream().anyMatch(change -> change.id() == id && change.isOver()));
    clients.setInChange(false);
    Change ended = view.change(id).orElseThrow();
    tally.done("under load: %s %s".formatted(ended.kind(), ended.state()));
  }

  @Override
  public void close() {
    clients.close();
    cluster.close();
  }
}
