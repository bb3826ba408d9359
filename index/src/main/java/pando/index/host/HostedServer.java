package pando.index.host;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;
import pando.fabric.Backoff;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.Partitioning;
import pando.index.PoolPart;
import pando.index.Unwritten;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.KeyRange;

/** What the sessions of one compute server share. Thread-safe. */
public abstract class HostedServer implements KeyRange, AutoCloseable {
  /** Number of this compute server in the index. */
  public final int number;

  /** Number of the system, as in the catalogue of the pool. */
  public final int system;

  /** Shut during a change of the index or of its range, and for {@link #tryAlone}. */
  Gate gate = new Gate();

  /** The compute servers of its index in this process; itself before it is one of them. */
  Supplier<? extends List<? extends HostedServer>> members = () -> List.of(this);

  /** Its background tasks, which add themselves. */
  final List<HostedTask<?, ?>> tasks = new ArrayList<>();

  private final int sessionsMax;
  private final BitSet sessions = new BitSet();

  /** Its range of keys; all of them where every compute server serves every key. */
  private long low = Long.MIN_VALUE;

  private long high = Long.MAX_VALUE;

  private volatile boolean retired;

  /**
   * Creates a compute server without sessions.
   *
   * @param system number of the system whose index it is
   * @param sessionsMax maximum number of open sessions
   */
  protected HostedServer(int number, int system, int sessionsMax) {
    this.number = number;
    this.system = system;
    this.sessionsMax = sessionsMax;
  }

  @Override
  public final long low() {
    return low;
  }

  @Override
  public final long high() {
    return high;
  }

  /**
   * Returns whether it shares one gate with the other compute servers of this process, so that an
   * operation can go from one to another inside it. If not, a change of ranges that does not
   * concern it does not keep operations out of it. Default: it does.
   */
  protected boolean sharesGate() {
    return true;
  }

  /** Returns whether operations at a compute server enter the same gate as those at this one. */
  final boolean sharesGateWith(int other) {
    return members.get().stream().anyMatch(each -> each.number == other && each.gate == gate);
  }

  /** Returns whether a table gives it the range that it has. */
  final boolean hasRange(Partitioning table) {
    return table.hasServer(number)
        ? low == table.lowOfServer(number) && high == table.highOfServer(number)
        : low > high;
  }

  /** Sets the range to the one that a table gives it, or to none. No operation is under way. */
  protected final void setRange(Partitioning table) {
    boolean has = table.hasServer(number);
    low = has ? table.lowOfServer(number) : Long.MAX_VALUE;
    high = has ? table.highOfServer(number) : Long.MIN_VALUE;
  }

  /**
   * Takes on the range that a table gives it, in place of another one. The caller holds the lock of
   * the partition table, and no operation is under way. If that fails, the range stays as it is,
   * and the next operation that needs another one tries again. Where keys were {@linkplain
   * Parting#give given} away it must not fail. Default: {@linkplain #setRange sets} it.
   */
  protected void takeOn(PoolChange change, Partitioning table) {
    setRange(table);
  }

  /** Returns whether it was taken out of the index. */
  final boolean isRetired() {
    return retired;
  }

  /** Marks it as taken out of the index. */
  final void markRetired() {
    retired = true;
  }

  /**
   * Called when the index is in place: after it was made, joined, or loaded in place of another.
   * The caller holds the lock of the partition table, and no operation is under way. Default: does
   * nothing.
   *
   * @param root pointer to its root
   */
  protected void open(Catalogue catalogue, long root) {}

  /**
   * Writes to the pool what must not stay in local memory alone when ranges change, or the index is
   * walked as a whole. No operation is under way. Default: nothing; what leaves is written when it
   * does.
   *
   * @throws pando.fabric.PandoException if something could not be written; the rest was
   */
  protected void settle() {}

  /**
   * Drops what must not outlast a change of ranges, once it is {@linkplain #settle written}. No
   * operation is under way. Default: nothing.
   */
  protected void clear() {}

  /** Drops all cached copies, after the index was replaced. */
  protected abstract void forget(Backoff backoff);

  /**
   * Returns the bytes of the pool's nodes in use that this compute server allocated. Freed nodes in
   * the local list are not counted.
   */
  protected abstract long poolBytes();

  /** Returns what it keeps of the pool for later. */
  protected abstract List<PoolPart> kept();

  /**
   * Returns the bytes in use in its caches of nodes, models and tables. Can also be called after
   * {@link #close}.
   */
  protected abstract long cachedBytes();

  /**
   * Gives allocated nodes that are not in use back to the pool.
   *
   * @param message local offset of a buffer for the message of a CALL
   */
  protected abstract void trim(Worker worker, long message);

  /** Returns the events of its caches that no session's worker counts. */
  protected abstract CacheCounters events();

  /** Returns the verbs that its background tasks have issued. */
  protected VerbCounters verbs() {
    VerbCounters sum = new VerbCounters();
    tasks.forEach(task -> sum.add(task.verbs()));
    return sum;
  }

  /**
   * Pauses background tasks, and waits until the current step of each has ended. No step begins
   * before {@link #resume}.
   */
  public void pause(Backoff backoff) {
    tasks.forEach(task -> task.pause(backoff));
  }

  /**
   * Resumes background tasks, the last one first, as earlier ones may pause later ones. May be
   * called without a {@link #pause} before.
   */
  public final void resume() {
    tasks.reversed().forEach(HostedTask::resume);
  }

  /**
   * Stops background tasks and waits for them, even if one has failed. Called once, before workers
   * close.
   */
  public void stop() {
    Failures failures = new Failures();
    tasks.forEach(task -> failures.collect(task::close));
    failures.rethrow();
  }

  /**
   * Takes a step while no operation on the index is under way in this process, if that can be had
   * soon. For background tasks, which must not be waited for with the gate shut.
   *
   * @param worker the task's own
   * @param waitNanos how long operations may be kept waiting for those under way, in nanoseconds
   * @return whether the step was taken
   */
  protected final boolean tryAlone(Worker worker, long waitNanos, Runnable step) {
    return gate.tryShut(worker, waitNanos) && takeAlone(step);
  }

  /**
   * Takes a step while no operation is under way; waits for those that are. Does nothing if the
   * index is closed.
   *
   * @throws pando.fabric.StalledException if one does not end
   */
  protected final void quietly(Worker worker, Runnable step) {
    if (gate.shut(worker)) {
      takeAlone(step);
    }
  }

  private boolean takeAlone(Runnable step) {
    try {
      step.run();
    } finally {
      gate.open();
    }
    return true;
  }

  /** Returns the gate that operations enter. Another one may take its place before it is opened. */
  protected final Gate gate() {
    return gate;
  }

  /** Makes a pass for a worker that is no session's, which {@link #forget(Gate.Pass)} ends. */
  protected final Gate.Pass pass(Worker worker) {
    return gate.pass(worker);
  }

  /** Ends a pass. */
  protected final void forget(Gate.Pass pass) {
    gate.forget(pass);
  }

  /**
   * Writes what was changed before the call to the pool, while operations go on. Default: nothing
   * is in local memory alone.
   *
   * @throws pando.fabric.PandoException if something could not be written; the rest was
   */
  protected void writeBack() {}

  /**
   * Returns what is in local memory alone. Can also be called after {@link #close}. Default:
   * nothing.
   */
  protected Unwritten unwritten() {
    return Unwritten.NONE;
  }

  /**
   * Returns the least free session number, and reserves it.
   *
   * @throws IllegalStateException if the maximum number of sessions is open
   */
  final synchronized int openSession() {
    int session = sessions.nextClearBit(0);
    if (session >= sessionsMax) {
      throw new IllegalStateException(
          "too many sessions: computeServer=" + number + ", maximum=" + sessionsMax);
    }
    sessions.set(session);
    return session;
  }

  /** Frees a session's number. */
  final synchronized void closeSession(int session) {
    sessions.clear(session);
  }

  /** Frees its local memory. Does nothing if it is closed already. */
  @Override
  public abstract void close();
}
