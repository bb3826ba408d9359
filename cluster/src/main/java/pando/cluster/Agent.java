package pando.cluster;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.index.CorruptNodeException;
import pando.index.MovablePartitions;
import pando.index.RangeIndex;
import pando.index.Unwritten;

/**
 * What a compute server does for its cluster, step by step: adopts new partitions, executes changes
 * that the leader gave it, leads where nobody does, and says how it is.
 *
 * <p>All that it needs to know is in the coordinator and in the pool, so what a step has not done,
 * a later one does, of this process or of another. One thread takes the steps of {@link #lead}, and
 * one those of {@link #execute}, so that a fence waits for no lock in the pool.
 */
final class Agent {
  /** Share of a change after which the estimate of a range's entries is written again. */
  private static final double REWRITTEN_AT = 0.25;

  /** How long a compute server waits before it asks again for a range that it was not given. */
  private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How long a compute server waits before it tells again what it has not written. */
  private static final long TELL_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Host host;
  private final ClusterState state;
  private final int number;
  private final long epoch;
  private final RangeIndex index;
  private final MovablePartitions partitions;
  private final FencedHere fenced;
  private final Leader leader;
  private final LeaderHooks hooks;

  /** The change that was made last, as it has ended. */
  private @Nullable Change ended;

  /** Where it serves clients; empty if nowhere. */
  private volatile String address = "";

  /** The compute servers, as the last step saw them. */
  private volatile List<Member> members = List.of();

  private long toldAt;
  private boolean hasAsked;
  private long askedAt;
  private volatile boolean isAnnounced;
  private volatile boolean removed;

  /**
   * Creates an agent.
   *
   * @param host that gives the time
   * @param number of the compute server, which has joined
   * @param epoch that it was given
   * @param index is {@link MovablePartitions}
   * @param hooks where tests interrupt the leader
   */
  Agent(
      Host host,
      ClusterState state,
      int number,
      long epoch,
      Fabric fabric,
      RangeIndex index,
      Config config,
      LeaderHooks hooks) {
    if (!(index instanceof MovablePartitions movable)) {
      throw new IllegalArgumentException("ranges that do not move: system=" + index.name());
    }
    this.host = host;
    this.state = state;
    this.number = number;
    this.epoch = epoch;
    this.index = index;
    this.partitions = movable;
    this.fenced = new FencedHere(host, fabric, state);
    this.leader = new Leader(state, index, partitions, fenced, config, hooks);
    this.hooks = hooks;
  }

  /** Says where clients are served; called before the first step. */
  void setClientAddress(String clients) {
    address = clients;
  }

  /**
   * Takes a step of what needs the coordinator alone, and fences; does nothing while it does not
   * answer.
   *
   * @return whether there is more to do at once
   * @throws SessionLostException if the session has ended
   * @throws pando.fabric.FencedException if this compute server is fenced
   * @throws CoordinatorLostException if the coordinator does not answer: take the step again
   */
  boolean lead() {
    if (state.membership().status() == Membership.Status.SUSPENDED) {
      return false;
    }
    fenced.follow(state.changes());
    Optional<ClusterState.Leadership> leadership = state.leadership();
    if (leadership.isEmpty()) {
      boolean leads = isAnnounced && state.lead(number, epoch);
      if (leads) {
        hooks.reached(LeaderHooks.Point.LEADING, 0);
      }
      return leads;
    }
    return leadership.get().isOf(number, epoch) && leader.step(leadership.get());
  }

  /**
   * Takes a step of what changes the pool: may wait for its locks. Else as {@link #lead}; another
   * thread may run that meanwhile.
   */
  boolean execute() {
    if (state.membership().status() == Membership.Status.SUSPENDED) {
      return false;
    }
    members = state.computeServers();
    boolean executed = executeNext();
    adopt();
    writeMember();
    askForARange();
    return executed;
  }

  private boolean executeNext() {
    Optional<Change> mine =
        state.changes().stream().filter(change -> change.isExecutedBy(number, epoch)).findFirst();
    if (mine.isEmpty()) {
      return false;
    }
    if (ended == null || ended.id() != mine.get().id()) {
      ended = carryOut(mine.get());
    }
    // If the coordinator does not answer now, the change is not made again.
    state.endChange(
        mine.get(), ended, RoutesEntry.of(index.partitioning(), state.computeServers()));
    removed |=
        ended.kind() == Change.Kind.REMOVE
            && ended.server() == number
            && ended.state() == Change.State.DONE;
    return true;
  }

  /** Makes a change; returns how it has ended. */
  private Change carryOut(Change change) {
    try {
      return switch (change.kind()) {
        case MOVE -> move(change);
        case SPLIT -> given(change, partitions.split(number, change.key(), change.other()));
        case ADD -> given(change, partitions.addComputeServer(number, change.server()));
        case REMOVE -> remove(change);
        case FENCE -> takeOver(change);
      };
    } catch (IllegalArgumentException e) {
      return change.failed(String.valueOf(e.getMessage()));
    } catch (CorruptNodeException | StalledException e) {
      if (change.kind() == Change.Kind.FENCE) {
        throw e;
      }
      // What a lost compute server left behind may stay so, and other changes wait.
      return change.failed(String.valueOf(e.getMessage()));
    }
  }

  private Change move(Change change) {
    partitions.refreshPartitions();
    long before = index.partitioning().lowOfServer(change.server());
    long low = partitions.moveBoundary(change.server(), change.key());
    return low == change.key() || low != before
        ? change.done()
        : change.failed("no fence between leaves lies between: low=" + low);
  }

  private static Change given(Change change, boolean given) {
    return given
        ? change.done()
        : change.failed("the range is a single leaf, or no fence lies there");
  }

  private Change remove(Change change) {
    partitions.refreshPartitions();
    if (index.partitioning().hasServer(number)) {
      partitions.removeComputeServer(number);
    }
    return change.done();
  }

  private Change takeOver(Change change) {
    if (!fenced.ensure(change)) {
      throw new StalledException("not fenced everywhere yet: " + change);
    }
    partitions.takeOver(change.server(), number);
    return change.done();
  }

  /** Adopts partitions that are newer than those known here. */
  private void adopt() {
    Optional<Routes> routes = state.routes();
    if (!PlantedBug.NOT_ADOPTED
        && routes.isPresent()
        && routes.get().epoch() > index.partitioning().epoch()) {
      partitions.refreshPartitions();
    }
  }

  /**
   * Writes that this compute server serves and where, at first, and about how many entries it has,
   * again when that has changed by a quarter; and what it has not written to the pool.
   *
   * @throws SessionLostException if it is no member any more
   */
  private void writeMember() {
    ClusterState.Versioned<Member> written =
        state
            .member(number)
            .filter(found -> found.value().epoch() == epoch)
            .orElseThrow(() ->
                new SessionLostException(
                    "not among the members any more: number=" + number + ", epoch=" + epoch));
    long entries = removed ? 0 : estimate();
    long before = written.value().entries();
    Unwritten unwritten = index.unwritten();
    if (!written.value().isServing()
        || Math.abs(entries - before) > REWRITTEN_AT * before
        || isToBeTold(unwritten, written.value().unwritten())) {
      Member serving = written.value().serving(address, entries, unwritten);
      isAnnounced |= state.writeMember(serving, written.version());
      toldAt = host.nanoTime();
    }
  }

  /** Returns whether what is unwritten is another order of size, and was not told just before. */
  private boolean isToBeTold(Unwritten unwritten, Unwritten before) {
    return order(unwritten) != order(before) && host.nanoTime() - toldAt >= TELL_AGAIN_NANOS;
  }

  private static int order(Unwritten unwritten) {
    return Long.SIZE - Long.numberOfLeadingZeros(unwritten.bytes());
  }

  private long estimate() {
    try {
      return partitions.sizeEstimate(number);
    } catch (FencedException e) {
      throw e;
    } catch (PandoException e) {
      // What it says is for people, and to choose whose range is divided.
      return 0;
    }
  }

  /** Asks for a range where this compute server has none, and what it asked for before is over. */
  private void askForARange() {
    if (removed || !isAnnounced || index.partitioning().hasServer(number)) {
      return;
    }
    long now = host.nanoTime();
    boolean isAsked =
        state.changes().stream()
            .anyMatch(change ->
                !change.isOver() && (change.server() == number || change.other() == number));
    if (!isAsked && (!hasAsked || now - askedAt > ASK_AGAIN_NANOS)) {
      state.ask(Change.add(number));
      hasAsked = true;
      askedAt = now;
    }
  }

  /** Returns which compute server serves which keys, as it is known here; asks nobody. */
  Routes routes() {
    return RoutesEntry.of(index.partitioning(), members);
  }

  /** Returns whether it was taken out of the cluster: nothing is left but to end. */
  boolean isRemoved() {
    return removed;
  }
}
