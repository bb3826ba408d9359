package pando.cluster;

import java.lang.System.Logger.Level;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.durable.ClusterLog;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.Partitioned;
import pando.index.Partitioning;
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
  private static final System.Logger LOG = System.getLogger(Agent.class.getName());

  /** Share of a change after which the estimate of a range's entries is written again. */
  private static final double REWRITTEN_AT = 0.25;

  /**
   * Shortest time after which a range's entries are estimated again where they have not changed.
   */
  private static final long ESTIMATED_SOON_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Longest time after which a range's entries are estimated again, as READs may be needed. */
  private static final long ESTIMATED_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(8);

  /** How long a compute server waits before it asks again for a range that it was not given. */
  private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The same where no compute server has come or gone, and none has many more or less entries. */
  private static final long SAME_AGAIN_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** How long a compute server waits before it announces again how much is unwritten. */
  private static final long UNWRITTEN_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final int GENERATION_SHIFT = 32;

  private final Host host;
  private final Membership membership;
  private final ClusterState state;
  private final int number;
  private final long epoch;
  private final Partitioned index;
  private final long generation;
  private final MovablePartitions partitions;
  private final FencedHere fenced;
  private final Rejoining rejoining;
  private final Patience patience;
  private final Leader leader;
  private final LeaderHooks hooks;

  /** Changes that have ended here, by id, until the coordinator has that. */
  private final Map<Integer, Change> ended = new HashMap<>();

  /** Changes that were tried here, by id, until the pool has said what has become of them. */
  private final Map<Integer, Tried> tried = new HashMap<>();

  /** What a change has thrown that it must not. */
  private @Nullable Throwable bug;

  /** Whether a change has failed here, so that the table in the pool may be newer. */
  private boolean unsure;

  /** Its log, if it has one. */
  private volatile @Nullable ClusterLog log;

  /** Where it serves clients; empty if nowhere. */
  private volatile String address = "";

  /** What it has announced of itself. */
  private volatile Member self;

  /** The compute servers, as the last step saw them. */
  private volatile List<Member> members = List.of();

  /** The compute servers, and about how many entries they had, when it asked for a range. */
  private List<Member> askedAmong = List.of();

  private long estimated;
  private long estimatedAt;

  /** When entries are estimated again: later and later as long as the estimate stays. */
  private long estimatePause;

  private long writtenAt;
  private boolean hasAsked;
  private long askedAt;
  private volatile boolean isAnnounced;
  private volatile boolean removed;

  /**
   * A change that was tried.
   *
   * @param change as it was begun
   * @param why it was not made as it should be
   */
  private record Tried(Change change, String why) {}

  /**
   * Creates an agent.
   *
   * @param host that gives the time
   * @param membership by which it has joined
   * @param number of the compute server
   * @param epoch that it was given
   * @param index whose ranges move
   * @param hooks where tests interrupt the leader
   */
  Agent(
      Host host,
      RenewedMembership membership,
      int number,
      long epoch,
      Fabric fabric,
      Partitioned index,
      Config config,
      LeaderHooks hooks) {
    this.host = host;
    this.membership = membership;
    this.state = new ClusterState(membership);
    this.number = number;
    this.epoch = epoch;
    this.self = Machine.member(number, epoch, "");
    this.index = index;
    this.generation = config.generation();
    this.partitions =
        index
            .partitions()
            .orElseThrow(
                () -> new IllegalArgumentException("ranges do not move: system=" + index.name()));
    this.fenced = new FencedHere(host, fabric, state);
    this.rejoining = new Rejoining(membership, fabric);
    this.patience = new Patience(host, config);
    this.leader =
        new Leader(state, index, partitions, fenced, config, patience, new Unserved(host), hooks);
    this.hooks = hooks;
  }

  /** Says which log it has; called before the first step. */
  void setLog(@Nullable ClusterLog its) {
    log = its;
  }

  /** Says where clients are served; called before the first step. */
  void setClientAddress(String clients) {
    address = clients;
  }

  /**
   * Takes a step of what needs the coordinator alone, and fences; does nothing while it does not
   * answer, and joins again where the session has ended.
   *
   * @return whether there is more to do at once
   * @throws SessionLostException if the session has just ended: take the step again
   * @throws pando.fabric.FencedException if this compute server is fenced
   * @throws CoordinatorLostException if the coordinator does not answer: take the step again
   */
  boolean lead() {
    patience.step();
    try {
      return leadOn();
    } finally {
      patience.rest();
    }
  }

  private boolean leadOn() {
    if (!hasSession()) {
      patience.begin();
      return false;
    }
    checkGeneration();
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

  private void checkGeneration() {
    if (generation > 0 && state.config().filter(now -> now.generation() == generation).isEmpty()) {
      FencedException over =
          new FencedException(
              "this generation of the cluster has ended, with a memory server or by a rebuild; what"
                  + " was acknowledged is in the data folders: generation="
                  + generation);
      if (log != null) {
        // Operations under way wait for a holder that does not answer any more.
        log.fail(over);
      }
      throw over;
    }
  }

  /** Returns whether there is a session; where it has ended, there is one in the next step. */
  private boolean hasSession() {
    return switch (membership.status()) {
      case CONNECTED -> true;
      case SUSPENDED -> false;
      case LOST -> {
        boolean _ = rejoining.joinAgain(self);
        yield false;
      }
    };
  }

  /**
   * Takes a step of what changes the pool: may wait for its locks. Else as {@link #lead}, which
   * another thread may run meanwhile, and which alone joins again.
   */
  boolean execute() {
    if (membership.status() != Membership.Status.CONNECTED) {
      return false;
    }
    members = state.computeServers();
    boolean executed = executeNext();
    adopt();
    writeMember();
    askForARange();
    return executed;
  }

  /** Executes one change; fences go first, and none that cannot be made yet keeps others back. */
  private boolean executeNext() {
    List<Change> mine =
        state.changes().stream()
            .filter(change -> change.isExecutedBy(number, epoch))
            .sorted(Comparator.comparing(Change::isFence).reversed())
            .toList();
    List<Integer> ids = mine.stream().map(Change::id).toList();
    ended.keySet().retainAll(ids);
    tried.keySet().retainAll(ids);
    return mine.stream().anyMatch(this::execute);
  }

  /** Executes a change; returns whether it has ended. */
  private boolean execute(Change change) {
    Change now = carryOutOnce(change);
    if (now.isOver()) {
      ended.put(change.id(), now);
    }
    if (now.isOver() || change.why().isEmpty()) {
      state.writeExecuted(
          change, now, RoutesEntry.of(index.partitioning(), state.computeServers()));
    }
    throwBug();
    removed |=
        now.kind() == Change.Kind.REMOVE
            && now.server() == number
            && now.state() == Change.State.DONE;
    return now.isOver();
  }

  /**
   * Carries a change out; not again where the coordinator did not answer afterwards, or the pool
   * did not say what has become of it.
   */
  private Change carryOutOnce(Change change) {
    Change over = ended.get(change.id());
    if (over != null) {
      return over;
    }
    Tried last = tried.get(change.id());
    return last == null ? carryOut(change) : decide(last);
  }

  /**
   * Tries to make a change; returns what has become of it. All failures are decided here: the
   * change ends by what the pool says, whatever was thrown. What is no failure of the environment
   * is a bug; then this process ends, but the change before it, so that the next executor does not
   * meet the same.
   */
  private Change carryOut(Change change) {
    Change begun = change;
    try {
      if (change.isFence() && !fenced.ensure(change)) {
        return change.waiting("not fenced at every memory server yet");
      }
      partitions.refreshPartitions();
      Partitioning before = index.partitioning();
      if (change.kind() == Change.Kind.MOVE && before.hasServer(change.server())) {
        begun = change.movedFrom(before.lowOfServer(change.server()));
      }
      // What a lost one has logged may still have to be replayed.
      boolean isInherited = change.isFence() && log != null;
      if (begun.isIn(before) && !isInherited) {
        return change.kind() == Change.Kind.SPLIT
            ? change.failed("the receiver has a range: " + change.other())
            : change.done();
      }
      Optional<String> tooLong = RoutesEntry.refusal(before, change);
      if (tooLong.isPresent()) {
        return change.failed(tooLong.get());
      }
      make(change);
      return Verdict.of(begun, index::partitioning, refusal(change));
    } catch (FencedException | SessionLostException | CoordinatorLostException e) {
      throw e;
    } catch (PandoException | IllegalArgumentException e) {
      if (PlantedClusterBug.FAILURE_REPEATED) {
        throw e;
      }
      LOG.log(Level.DEBUG, "a change was not made as it should be: " + change, e);
      unsure = true;
      return decide(new Tried(begun, reason(e)));
    } catch (RuntimeException | Error e) {
      bug = e;
      return decide(new Tried(begun, reason(e)));
    }
  }

  private Change decide(Tried last) {
    Change begun = last.change();
    tried.put(begun.id(), last);
    Change now = Verdict.of(begun, partitions::readPartitions, last.why());
    if (now.isOver() || now.isFence()) {
      tried.remove(begun.id());
    }
    return now;
  }

  private static String refusal(Change change) {
    return change.kind() == Change.Kind.ADD
        ? "the giver's range cannot be divided: it can be once it has more entries"
        : "no fence between leaves lies there";
  }

  private static String reason(Throwable failure) {
    return failure instanceof IllegalArgumentException
        ? String.valueOf(failure.getMessage())
        : failure.getClass().getSimpleName() + ": " + failure.getMessage();
  }

  private void throwBug() {
    switch (bug) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
  }

  private void make(Change change) {
    switch (change.kind()) {
      case MOVE -> partitions.moveBoundary(change.server(), change.key());
      case SPLIT -> partitions.split(number, change.key(), change.other());
      case ADD -> partitions.addComputeServer(number, change.server());
      case REMOVE -> partitions.removeComputeServer(number);
      case FENCE -> takeOver(change);
    }
  }

  /** Takes over the range of a compute server that is fenced, whose lease is over. */
  private void takeOver(Change fence) {
    ClusterLog its = log;
    if (its == null) {
      partitions.takeOver(fence.server(), number);
    } else {
      its.inherit(fence.server(), fence.leastEpoch());
    }
  }

  /** Has sessions of the index that are opened from now on answer only while a lease is held. */
  void answerWhile(Lease lease) {
    partitions.answerWhile(lease);
  }

  /** Adopts partitions that are, or may be, newer than those known here. */
  private void adopt() {
    Optional<Routes> routes = state.routes();
    boolean isNewer = routes.isPresent() && routes.get().epoch() > index.partitioning().epoch();
    if ((isNewer || unsure) && !PlantedClusterBug.NOT_ADOPTED) {
      partitions.refreshPartitions();
      unsure = false;
    }
  }

  /**
   * Writes that this compute server serves and where, at first, and about how many entries it has,
   * again when that has changed by a quarter; and what it has not written to the pool. It is no
   * member if its session has just ended.
   */
  private void writeMember() {
    state
        .member(number)
        .filter(found -> found.value().epoch() == epoch)
        .ifPresent(this::writeMember);
  }

  private void writeMember(ClusterState.Versioned<Member> written) {
    long entries = removed ? 0 : estimate(written.value().entries());
    long before = written.value().entries();
    Unwritten unwritten = index.unwritten();
    if (!written.value().isServing()
        || isOther(entries, before)
        || isNews(unwritten, written.value().unwritten())) {
      Member serving = written.value().serving(address, entries, unwritten);
      if (state.writeMember(serving, written.version())) {
        self = serving;
        isAnnounced = true;
      }
      writtenAt = host.nanoTime();
    }
  }

  /** Returns whether it has another order of size, and the last announcement is some time ago. */
  private boolean isNews(Unwritten unwritten, Unwritten before) {
    return order(unwritten) != order(before)
        && host.nanoTime() - writtenAt >= UNWRITTEN_AGAIN_NANOS;
  }

  private static int order(Unwritten unwritten) {
    return Long.SIZE - Long.numberOfLeadingZeros(unwritten.bytes());
  }

  private static boolean isOther(long entries, long before) {
    return Math.abs(entries - before) > REWRITTEN_AT * before;
  }

  /** Returns about how many entries it has, as it was some seconds ago if that was announced. */
  private long estimate(long announced) {
    long now = host.nanoTime();
    if (now - estimatedAt >= estimatePause) {
      estimated = estimate();
      estimatedAt = now;
      estimatePause =
          isOther(estimated, announced)
              ? 0
              : Math.min(Math.max(2 * estimatePause, ESTIMATED_SOON_NANOS), ESTIMATED_AGAIN_NANOS);
    }
    return estimated;
  }

  private long estimate() {
    try {
      return partitions.sizeEstimate(number);
    } catch (FencedException e) {
      throw e;
    } catch (PandoException | IllegalArgumentException e) {
      // What it says is for people, and to choose whose range is divided. It may have been taken
      // out of this process by a removal of which that is not known yet.
      return 0;
    }
  }

  /** Asks for a range where this compute server has none, and what it asked for before is over. */
  private void askForARange() {
    if (removed || !isAnnounced || index.partitioning().hasServer(number)) {
      return;
    }
    boolean isAsked =
        state.changes().stream()
            .anyMatch(change ->
                !change.isOver() && (change.server() == number || change.other() == number));
    if (!isAsked && mayAsk()) {
      state.ask(Change.add(number));
      hasAsked = true;
      askedAt = host.nanoTime();
      askedAmong = state.computeServers();
    }
  }

  /** Where nothing is new, the answer would be the same: it is left alone for longer. */
  private boolean mayAsk() {
    long wait = members.equals(askedAmong) ? SAME_AGAIN_NANOS : ASK_AGAIN_NANOS;
    return !hasAsked || host.nanoTime() - askedAt > wait;
  }

  /** Returns which compute server serves which keys, as it is known here; asks nobody. */
  Routes routes() {
    Routes known = RoutesEntry.of(index.partitioning(), members);
    // A new pool counts its tables anew, and clients take no routes for older ones.
    long epoch = (generation << GENERATION_SHIFT) + known.epoch();
    return new Routes(epoch, known.isPartitioned(), known.isOfStrings(), known.routes());
  }

  /** Returns whether it was taken out of the cluster: nothing is left but to end. */
  boolean isRemoved() {
    return removed;
  }
}
