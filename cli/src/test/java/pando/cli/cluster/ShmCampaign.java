package pando.cli.cluster;

import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import pando.client.ClientOptions;
import pando.client.Routes;
import pando.cluster.Change;
import pando.fabric.MemoryServerLostException;

/**
 * Stops and kills processes that share a pool in shared memory, one after the other, while clients
 * check every answer. The end of a process takes the place of a fence.
 */
final class ShmCampaign implements AutoCloseable {
  /** Its time for an answer is shorter than some pauses. */
  private static final ClientOptions CLIENT =
      ClientOptions.defaults()
          .withPatience(Duration.ofSeconds(60))
          .withAnswerTimeout(Duration.ofSeconds(5));

  /** Between two operations of a client. */
  private static final long PAUSE_NANOS = 200_000;

  private static final long PAUSE_MILLIS_MAX = 6_000;
  private static final long LOAD_MILLIS = 400;
  private static final long MEMORY_LOST_MILLIS = 3_000;
  private static final long IN_CHANGE_NANOS_MAX = 20_000_000;

  private final ShmPool.Plan plan;
  private final int servers;
  private final SplittableRandom random;
  private final Tally tally;
  private final PrintStream out;
  private final Losses losses = new Losses(_ -> {}, Duration.ZERO);
  private final CheckingClients clients;
  private final ShmPool pool;
  private boolean spent;

  /** What is done in a cycle. */
  enum Kind {
    /** A compute server is killed. */
    KILL,
    /** A compute server stands still, and is killed then. */
    PAUSE_AND_KILL,
    /** A compute server is killed while ranges change. */
    KILL_IN_CHANGE,
    /** A compute server stands still. */
    PAUSE,
    /** A compute server stands still while ranges change. */
    PAUSE_IN_CHANGE,
    /** A memory server stands still. */
    PAUSE_OF_MEMORY,
    /** All servers stand still. */
    PAUSE_OF_ALL,
    /** A memory server is killed; the last cycle of a pool. */
    MEMORY;

    /** Returns whether it is of systems whose compute servers have ranges. */
    boolean needsRanges() {
      return this == KILL_IN_CHANGE || this == PAUSE_IN_CHANGE;
    }
  }

  /**
   * Starts a pool with clients.
   *
   * @param directory for its files, empty
   * @param removes whether clients remove keys and insert them again, which changes the tree
   * @param tally receives what is counted
   * @param out receives a line for each cycle
   */
  ShmCampaign(
      ShmPool.Plan plan,
      Path directory,
      SplittableRandom random,
      boolean removes,
      Tally tally,
      PrintStream out) {
    this.plan = plan;
    this.servers = plan.computeServers();
    this.random = random;
    this.tally = tally;
    this.out = out;
    this.clients = new CheckingClients(losses, tally, removes, PAUSE_NANOS, random);
    this.pool = ShmPool.start(plan, directory);
    boolean ready = false;
    try {
      clients.load(() -> pool.connect(CLIENT));
      // A range that is divided is written back before, so what was loaded is in the pool.
      pool.startOthers();
      clients.start();
      ready = true;
    } finally {
      if (!ready) {
        close();
      }
    }
  }

  /** Returns whether no further cycle makes sense: operations fail. */
  boolean isSpent() {
    return spent;
  }

  /** Runs a cycle. */
  void cycle(int number, Kind kind) throws InterruptedException {
    long start = System.nanoTime();
    Tally.Counts before = tally.counts();
    clients.takeWaits();
    TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
    String what = carryOut(kind);
    if (kind != Kind.MEMORY) {
      pool.lookAll();
      TimeUnit.MILLISECONDS.sleep(LOAD_MILLIS);
      clients.readAll();
    }
    long longest = clients.takeWaits().getMaxValue();
    spent |= tally.endCycle(out, number, kind, what, start, longest, before);
  }

  private String carryOut(Kind kind) throws InterruptedException {
    return switch (kind) {
      case KILL -> killAny(0);
      case PAUSE_AND_KILL -> killAny(anyPause());
      case KILL_IN_CHANGE -> killInChange();
      case PAUSE -> pause();
      case PAUSE_IN_CHANGE -> pauseInChange();
      case PAUSE_OF_MEMORY -> pause(List.of(pool.memory(random.nextInt(plan.memoryServers()))));
      case PAUSE_OF_ALL -> pause(pool.all());
      case MEMORY -> loseMemory();
    };
  }

  private int anyServer() {
    return random.nextInt(servers);
  }

  private int other(int number) {
    return (number + 1 + random.nextInt(servers - 1)) % servers;
  }

  private long anyPause() {
    return random.nextLong(PAUSE_MILLIS_MAX);
  }

  private static long millisSince(long start) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  // Kills.

  private String killAny(long pausedMillis) throws InterruptedException {
    int number = anyServer();
    List<Losses.Range> ranges = ClusterView.ranges(pool.look(other(number)), number);
    announce(ranges, ranges);
    if (pausedMillis > 0) {
      pool.compute(number).stop();
      TimeUnit.MILLISECONDS.sleep(pausedMillis);
    }
    kill(number);
    return "paused for %d ms, %s".formatted(pausedMillis, replace(number));
  }

  private String killInChange() {
    Move move = beginMove();
    int number = anyServer();
    announce(ClusterView.rangesInChange(move.before, number, move.change), List.of());
    kill(number);
    if (number != move.giver) {
      pool.table(move.giver);
    }
    return "a move from %d, %s".formatted(move.giver, replace(number));
  }

  /** A system that keeps no changes loses nothing. */
  private void announce(List<Losses.Range> possible, List<Losses.Range> sure) {
    if (plan.keepsChanges()) {
      losses.announce(possible, sure);
    }
  }

  private void kill(int number) {
    pool.compute(number).kill();
    losses.haveComeAbout();
  }

  /**
   * Has a neighbour take the range of one over that was killed, or starts it again so soon that it
   * takes that up itself.
   */
  private String replace(int number) {
    long start = System.nanoTime();
    Routes table = pool.look(other(number));
    boolean takesUp = !plan.hasRanges() || random.nextInt(4) == 0;
    int heir = takesUp ? number : neighbour(table, number);
    if (takesUp) {
      pool.restart(number);
    } else {
      pool.ask(heir, "take-over " + number);
    }
    clients.probe(lowOf(table, number));
    tally.recovered(millisSince(start));
    if (!takesUp) {
      pool.restart(number);
      pool.giveHalf(heir, number);
    }
    return "compute server %d killed, %s"
        .formatted(number, takesUp ? "restarted at once" : "its range taken over by " + heir);
  }

  /** Returns the least key of a compute server, of all keys if it has no range. */
  private static long lowOf(Routes table, int number) {
    return ClusterView.ranges(table, number).stream()
        .mapToLong(Losses.Range::low)
        .findFirst()
        .orElse(Long.MIN_VALUE);
  }

  private int neighbour(Routes table, int number) {
    List<Integer> owners = table.routes().stream().map(Routes.Route::owner).toList();
    int place = owners.indexOf(number);
    boolean below = place == owners.size() - 1 || (place > 0 && random.nextBoolean());
    return owners.get(below ? place - 1 : place + 1);
  }

  private String loseMemory() throws InterruptedException {
    int number = random.nextInt(plan.memoryServers());
    long told = tally.failures(MemoryServerLostException.class);
    pool.memory(number).kill();
    TimeUnit.MILLISECONDS.sleep(MEMORY_LOST_MILLIS);
    long answers = clients.readAllAndStop();
    told = tally.failures(MemoryServerLostException.class) - told;
    spent = true;
    return "memory server %d killed, %d keys answered, %d operations told"
        .formatted(number, answers, told);
  }

  // Pauses.

  private String pause() throws InterruptedException {
    int number = anyServer();
    long key = lowOf(pool.look(number), other(number));
    long millis = anyPause();
    pool.compute(number).stop();
    long start = System.nanoTime();
    clients.probe(key);
    long answered = millisSince(start);
    TimeUnit.MILLISECONDS.sleep(millis);
    pool.compute(number).goOn();
    return "compute server %d stood still for %d ms, another answered after %d ms"
        .formatted(number, millis, answered);
  }

  private String pauseInChange() throws InterruptedException {
    Move move = beginMove();
    int number = anyServer();
    String what = pause(List.of(pool.compute(number)));
    pool.table(move.giver);
    return "a move from %d, compute server %d: %s".formatted(move.giver, number, what);
  }

  private String pause(List<TestedProcess> processes) throws InterruptedException {
    long millis = anyPause();
    processes.forEach(TestedProcess::stop);
    TimeUnit.MILLISECONDS.sleep(millis);
    processes.forEach(TestedProcess::goOn);
    return "%d servers stood still for %d ms".formatted(processes.size(), millis);
  }

  // A change.

  /** A move of the boundary between two ranges, under way. */
  private record Move(Routes before, Change change, int giver) {}

  /** Begins a move, and returns a random time later; the giver will answer with a table. */
  private Move beginMove() {
    Routes before = pool.look(anyServer());
    int place = 1 + random.nextInt(before.routes().size() - 1);
    int from = place - random.nextInt(2);
    Losses.Range range = ClusterView.range(before, from);
    long key = random.nextLong(range.low(), range.high()) + 1;
    Change change = Change.move(before.routes().get(place).owner(), key);
    int giver = before.routes().get(from).owner();
    pool.compute(giver).send("move " + change.server() + " " + key);
    long start = System.nanoTime();
    long nanos = random.nextLong(IN_CHANGE_NANOS_MAX);
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
    return new Move(before, change, giver);
  }

  @Override
  public void close() {
    clients.close();
    pool.close();
  }
}
