package pando.cluster;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.index.BoundKey;
import pando.index.MovablePartitions;
import pando.index.Partitioned;
import pando.index.Partitioning;

/**
 * What the compute server that leads does for all: finds out what is lost, and brings changes to
 * their end, one after the other.
 *
 * <p>A change goes through these states; each arrow is one write, which is refused if another
 * leads, or has written meanwhile. So a leader that is lost anywhere leaves a state from which the
 * next one goes on; what is done between two writes can be done again.
 *
 * <pre>
 *   move, split, add, remove:
 *     ASKED --plan: giver--> UNDER_WAY, executor --the giver changes the table--> DONE or FAILED
 *                                  |
 *                                  +--the giver is lost: it is fenced, and the table says-->
 *                                     DONE, FAILED, or (add) ASKED
 *   fence:
 *     ASKED --epoch raised--> UNDER_WAY --fenced, lease over, heir chosen-->
 *     UNDER_WAY, executor --the heir changes the table--> DONE
 *                |
 *                +--the heir is lost: it is fenced; or its range is elsewhere--> UNDER_WAY
 * </pre>
 *
 * <p>Fences go first: what else is under way may wait for one. For one thread.
 */
final class Leader {
  /** Changes that are over and remembered. */
  private static final int REMEMBERED = 100;

  private final ClusterState state;
  private final Partitioned index;
  private final MovablePartitions partitions;
  private final FencedHere fenced;
  private final Duration leaseOver;
  private final Patience patience;
  private final Unserved unserved;
  private final LeaderHooks hooks;

  /** By which it took its last step: it may have led before, and others since. */
  private ClusterState.@Nullable Leadership last;

  Leader(
      ClusterState state,
      Partitioned index,
      MovablePartitions partitions,
      FencedHere fenced,
      Config config,
      Patience patience,
      Unserved unserved,
      LeaderHooks hooks) {
    this.state = state;
    this.index = index;
    this.partitions = partitions;
    this.fenced = fenced;
    this.leaseOver = RenewedLease.outlasting(Duration.ofMillis(config.leaseMillis()));
    this.patience = patience;
    this.unserved = unserved;
    this.hooks = hooks;
  }

  /** What the coordinator says, as one step sees it. */
  private record View(
      ClusterState.Leadership leadership, List<Change> changes, List<Member> members) {
    Optional<Member> member(int number) {
      return members.stream().filter(member -> member.number() == number).findFirst();
    }

    Optional<Member> serving(int number) {
      return member(number).filter(Member::isServing);
    }

    boolean isUnfenced(int number) {
      return fencesOf(number).findAny().isEmpty();
    }

    /** Returns the fences of a compute server that are not over. */
    Stream<Change> fencesOf(int number) {
      return changes.stream()
          .filter(change -> change.isFence() && !change.isOver() && change.server() == number);
    }
  }

  /**
   * Takes a step.
   *
   * @return whether there is more to do at once
   */
  boolean step(ClusterState.Leadership leadership) {
    if (!leadership.equals(last)) {
      unserved.begin();
      last = leadership;
    }
    View view = new View(leadership, state.changes(), state.computeServers());
    boolean acted = declareLosses(view) || goOn(view);
    state.writeRoutes(RoutesEntry.of(index.partitioning(), view.members), leadership);
    forgetOld(view);
    return acted;
  }

  // What is lost.

  private boolean declareLosses(View view) {
    if (!patience.isOver()) {
      unserved.begin();
      return false;
    }
    return declareMemoryLost(view) || declareLost(view);
  }

  private boolean declareMemoryLost(View view) {
    List<Integer> running = state.memoryServers().stream().map(Member::number).toList();
    boolean any = false;
    for (PoolEntry entry : state.pool()) {
      if (entry.state() == ServerState.SERVING && !running.contains(entry.number())) {
        Optional<ClusterState.Versioned<PoolEntry>> found = state.poolEntry(entry.number());
        any |=
            found.isPresent()
                && found.get().value().equals(entry)
                && state.writePoolEntry(
                    entry.withState(ServerState.LOST), found.get().version(), view.leadership);
      }
    }
    return any;
  }

  /** Asks for a fence of each compute server that has something, and does not run any more. */
  private boolean declareLost(View view) {
    TreeSet<Integer> needed = new TreeSet<>(owners(index.partitioning()));
    view.changes.stream()
        .filter(change -> change.state() == Change.State.UNDER_WAY)
        .map(Change::executor)
        .filter(number -> number != Change.NONE)
        .forEach(needed::add);
    unserved.look(needed, number -> view.serving(number).isPresent());
    boolean any = false;
    for (int number : needed) {
      // In this order: a compute server that starts raises its epoch and runs at once.
      long epoch = state.epoch(number).value();
      if (view.isUnfenced(number) && !isRunning(number)) {
        state.ask(Change.lost(number, epoch));
        hooks.reached(LeaderHooks.Point.LOSS_FOUND, 0);
        any = true;
      }
    }
    return any;
  }

  /** Returns whether a compute server serves, or starts and has not had its time for that. */
  private boolean isRunning(int number) {
    return state
        .computeServer(number)
        .filter(member -> member.isServing() || !unserved.isOverdue(number))
        .isPresent();
  }

  private static List<Integer> owners(Partitioning table) {
    return IntStream.range(0, table.servers()).mapToObj(table::ownerOfRange).toList();
  }

  // Changes.

  private boolean goOn(View view) {
    for (Change change : view.changes) {
      if (change.isFence() && !change.isOver() && tryFence(view, change)) {
        return true;
      }
    }
    for (Change change : view.changes) {
      if (!change.isFence() && change.state() == Change.State.UNDER_WAY) {
        return judge(view, change);
      }
    }
    return view.changes.stream()
        .filter(change -> !change.isFence() && change.state() == Change.State.ASKED)
        .findFirst()
        .map(change -> goOn(view, change, plan(view, change)))
        .orElse(false);
  }

  private boolean goOn(View view, Change change, Change planned) {
    return !planned.equals(change) && write(view, change, planned);
  }

  private boolean write(View view, Change seen, Change changed) {
    return reached(
        state.writeChange(seen, changed, view.leadership),
        changed.isOver() ? LeaderHooks.Point.ENDED : LeaderHooks.Point.PLANNED,
        seen);
  }

  /** Calls the hook of a point if it was reached; returns whether it was. */
  private boolean reached(boolean written, LeaderHooks.Point point, Change change) {
    if (written) {
      hooks.reached(point, change.id());
    }
    return written;
  }

  /** Returns a change with the compute server that executes it, its end, or as it is to wait. */
  private Change plan(View view, Change change) {
    Partitioning table = index.partitioning();
    int server = change.server();
    if (change.hasOtherKeys(table)) {
      return change.failed(otherKeys(table, change.key()));
    }
    return switch (change.kind()) {
      case MOVE -> {
        if (!table.hasServer(server) || table.rangeOfServer(server) == 0) {
          yield change.failed("no range with one below it: server=" + server);
        }
        int range = table.rangeOfServer(server);
        boolean isDown = change.key().compareToBound(table, range) < 0;
        int giver = isDown ? table.ownerOfRange(range - 1) : server;
        yield givenBy(view, change.movedFrom(table.lowOfRange(range)), giver);
      }
      case SPLIT ->
          isFree(view, table, change.other())
              ? givenBy(view, change, server)
              : change.failed("the receiver does not run, or has a range: " + change.other());
      case ADD -> {
        if (table.hasServer(server)) {
          yield change.done();
        }
        if (!isFree(view, table, server)) {
          yield change.failed("it does not run: server=" + server);
        }
        int giver = change.other() == Change.NONE ? largest(view, table) : change.other();
        boolean waits =
            giver == Change.NONE
                && owners(table).stream().anyMatch(owner -> isAwaited(view, owner));
        yield waits ? change : givenBy(view, change, giver);
      }
      case REMOVE -> givenBy(view, change, server);
      case FENCE -> throw goesItsOwnWay(change);
    };
  }

  private static String otherKeys(Partitioning table, BoundKey key) {
    return table.hasFences()
        ? "the cluster has byte strings, so ask with one in place of a number: key=" + key
        : "the cluster has an index of words, so ask with a number in place of a byte string: key="
            + key;
  }

  private static IllegalStateException goesItsOwnWay(Change fence) {
    return new IllegalStateException("fences go their own way: " + fence);
  }

  private static boolean isFree(View view, Partitioning table, int number) {
    return number != Change.NONE && !table.hasServer(number) && view.serving(number).isPresent();
  }

  /** Returns whether a compute server with keys starts and serves soon, or is being fenced. */
  private boolean isAwaited(View view, int owner) {
    return !unserved.isOverdue(owner)
        || view.fencesOf(owner).anyMatch(fence -> fence.why().isEmpty());
  }

  private static Change givenBy(View view, Change change, int giver) {
    return view.serving(giver)
        .map(change::executedBy)
        .orElseGet(() -> change.failed("the giver does not run: server=" + giver));
  }

  /**
   * Returns the compute server with the most entries; of several with as many, the one with the
   * most keys, if these are words.
   */
  private static int largest(View view, Partitioning table) {
    return view.members.stream()
        .filter(member -> member.isServing() && table.hasServer(member.number()))
        .max(
            Comparator.comparingLong(Member::entries)
                .thenComparing(member -> keys(table, member.number()), Long::compareUnsigned))
        .map(Member::number)
        .orElse(Change.NONE);
  }

  /** Returns one less than how many keys a compute server has, which of byte strings is unknown. */
  private static long keys(Partitioning table, int server) {
    return table.hasFences() ? 0 : table.highOfServer(server) - table.lowOfServer(server);
  }

  /** Ends a change whose executor is lost, by what the table says; waits for one that is not. */
  private boolean judge(View view, Change change) {
    if (!isExecutorGone(view, change)) {
      return false;
    }
    Change judged = Verdict.of(change, () -> tableNow(view), "the giver was lost");
    boolean again = change.kind() == Change.Kind.ADD && judged.state() == Change.State.FAILED;
    return (judged.isOver() || change.why().isEmpty())
        && write(view, change, again ? change.askedAgain() : judged);
  }

  /**
   * Returns the table in the pool, once the routes are as new: an executor that was lost has not
   * written them.
   */
  private Partitioning tableNow(View view) {
    Partitioning table = partitions.readPartitions();
    state.writeRoutes(RoutesEntry.of(table, view.members), view.leadership);
    return table;
  }

  /**
   * Returns whether the executor cannot do anything any more: it is fenced, or its number has
   * started anew and serves, which fences all earlier starts before. A fence counts although the
   * executor still runs, or its next start waits for that fence to end.
   */
  private boolean isExecutorGone(View view, Change change) {
    int executor = change.executor();
    List<Change> fences = view.fencesOf(executor).toList();
    return fences.isEmpty()
        ? view.serving(executor).filter(now -> now.epoch() > change.executorEpoch()).isPresent()
        : fences.stream()
            .anyMatch(fence -> fence.leastEpoch() > change.executorEpoch() && hasComeAbout(fence));
  }

  /** Returns whether a fence keeps its compute server from doing anything, though it may go on. */
  private boolean hasComeAbout(Change fence) {
    return fence.state() == Change.State.UNDER_WAY && fenced.ensure(fence);
  }

  // Fences.

  /** Goes on with a fence; what keeps it from its end keeps nothing else back. */
  private boolean tryFence(View view, Change change) {
    try {
      return goOnFence(view, change);
    } catch (FencedException | SessionLostException | CoordinatorLostException e) {
      throw e;
    } catch (PandoException e) {
      if (change.why().isEmpty()) {
        state.writeChange(change, change.waiting(String.valueOf(e.getMessage())), view.leadership);
      }
      return false;
    }
  }

  private boolean goOnFence(View view, Change change) {
    if (change.state() == Change.State.ASKED) {
      return beginFence(view, change);
    }
    if (change.executor() != Change.NONE) {
      return (isExecutorGone(view, change) || isHeirApart(view, change))
          && write(view, change, change.fencing(change.leastEpoch()));
    }
    return nameHeir(view, change);
  }

  /**
   * Returns whether the heir, which could not take the range over, has one elsewhere: it has given
   * the keys between away since it was named. If it tries again anyway, it does no harm: a range is
   * taken over under the lock of the table, and once.
   */
  private boolean isHeirApart(View view, Change change) {
    if (change.why().isEmpty()) {
      return false;
    }
    Partitioning table = tableNow(view);
    int heir = change.executor();
    return table.hasServer(change.server())
        && table.hasServer(heir)
        && Math.abs(table.rangeOfServer(heir) - table.rangeOfServer(change.server())) > 1;
  }

  private boolean beginFence(View view, Change change) {
    // In this order: one that joins again gives its epoch another version.
    ClusterState.Versioned<Long> epoch = state.epoch(change.server());
    if (change.lostEpoch() > 0 && epoch.value() > change.lostEpoch()) {
      // It has started anew, or was fenced already.
      return write(view, change, change.done());
    }
    if (change.lostEpoch() > 0 && isRunning(change.server())) {
      return write(view, change, change.failed("it has joined again"));
    }
    return reached(
        state.beginFence(change, epoch, view.leadership), LeaderHooks.Point.FENCE_BEGUN, change);
  }

  private boolean nameHeir(View view, Change change) {
    if (!fenced.ensure(change)) {
      return false;
    }
    hooks.reached(LeaderHooks.Point.FENCED, change.id());
    if (fenced.nanosSince(change) < leaseOver.toNanos() && !PlantedClusterBug.LEASE_NOT_AWAITED) {
      return false;
    }
    hooks.reached(LeaderHooks.Point.LEASE_OVER, change.id());
    Partitioning table = tableNow(view);
    if (!table.hasServer(change.server())) {
      return write(view, change, change.done());
    }
    Member heir = heir(view, table, table.rangeOfServer(change.server()));
    return heir != null
        && reached(
            state.writeChange(change, change.executedBy(heir), view.leadership),
            LeaderHooks.Point.HEIR_NAMED,
            change);
  }

  /**
   * Returns a compute server that runs beside a range, or else one without a range; none that is
   * fenced itself, as it may never do what it is asked to.
   */
  private static @Nullable Member heir(View view, Partitioning table, int range) {
    for (int beside : new int[] {range - 1, range + 1}) {
      if (beside >= 0 && beside < table.servers()) {
        Optional<Member> neighbour =
            view.serving(table.ownerOfRange(beside))
                .filter(member -> view.isUnfenced(member.number()));
        if (neighbour.isPresent()) {
          return neighbour.get();
        }
      }
    }
    return view.members.stream()
        .filter(member -> member.isServing() && !table.hasServer(member.number()))
        .filter(member -> view.isUnfenced(member.number()))
        .findFirst()
        .orElse(null);
  }

  private void forgetOld(View view) {
    int over = 0;
    for (Change change : view.changes.reversed()) {
      if (change.isOver() && ++over > REMEMBERED) {
        state.forget(change, view.leadership);
      }
    }
  }
}
