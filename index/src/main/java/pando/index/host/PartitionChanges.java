package pando.index.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;
import pando.index.session.Failures;

/**
 * The partitions that this process knows, and the changes of partitions and compute servers, while
 * operations run (DEX section 4). Thread-safe.
 *
 * @param <S> a compute server
 * @param <C> what changes an index as a whole
 */
public abstract class PartitionChanges<S, C extends PoolChange> implements MovablePartitions {
  /*
   * The table in the pool says whose a key is. The compute server that loses keys, the giver, makes
   * the change:
   *
   *   1. Take the lock of the table, and adopt what others have changed.
   *   2. Look for the bound, and move what can be moved while operations go on (Parting).
   *   3. Keep operations out of the compute servers concerned that live here, and wait for those
   *      that are under way (Quiet).
   *   4. Write back what only the giver has of the keys.
   *   5. Write the table. From this moment on the keys are the receiver's.
   *   6. Compute servers that live here take on their ranges; operations go on.
   *
   * A receiver in another process adopts the table when its process looks for keys that it did not
   * have, and keeps operations out of it meanwhile. Until then nobody serves the keys. A process
   * with an old table serves no key that it lost, as only a giver takes its keys away; sessions
   * there do not find keys of others, and look at the table in the pool.
   *
   * What fails before 5 leaves all as it was.
   *
   * A change takes the table's lock, then the turn, a lock of this process. Closing takes the turn
   * alone: it changes no range, so it need not wait for a holder of the lock in another process.
   */

  private static final int PAUSE_ATTEMPT = 64;

  /** No thread has this number. */
  private static final long NOBODY = 0;

  /**
   * Maximum wait for the turn. The limit is a time, not a number of attempts, as an interrupted
   * thread does not sleep between attempts.
   */
  private static final long TURN_NANOS_MAX = 100_000_000_000L;

  /** The number of the thread that has the turn. */
  private final AtomicLong changing = new AtomicLong(NOBODY);

  private final Turn turn = new Turn();

  private volatile Partitioning current;
  private volatile @Nullable Lease lease;

  /**
   * Creates an object that knows a table.
   *
   * @param first {@linkplain #setCurrent replaced} when an index is made or joined
   */
  protected PartitionChanges(Partitioning first) {
    this.current = first;
  }

  @Override
  public final void answerWhile(Lease held) {
    lease = Objects.requireNonNull(held, "held");
  }

  /** Returns the lease of sessions that are opened now, {@code null} if they need none. */
  public final @Nullable Lease lease() {
    return lease;
  }

  /** Keys that are to leave a compute server, until it has given them, or keeps them. */
  public interface Parting extends AutoCloseable {
    /** Returns the least key of the upper part: a fence between leaves. Operations are kept out. */
    long bound();

    /**
     * Makes the pool ready for a table that is written next. Operations are kept out. Where that is
     * written, {@link HostedServer#takeOn} ends the giving.
     */
    void give(int receiver, Partitioning after);

    /** Takes back what was not given. */
    @Override
    void close();
  }

  /** A bound, where there is no more to do than to find it. */
  public record Bound(LongSupplier found) implements Parting {
    @Override
    public long bound() {
      return found.getAsLong();
    }

    @Override
    public void give(int receiver, Partitioning after) {}

    @Override
    public void close() {}
  }

  /** Compute servers that are kept quiet until this is closed: no operation is under way there. */
  public interface Quiet extends AutoCloseable {
    /**
     * Writes back what only they have, and drops what must not outlast a change of their ranges.
     */
    void empty();

    /** Has them take on the ranges of the current table, and lets operations go on. */
    @Override
    void close();
  }

  // What a system does.

  /** Throws {@link IllegalStateException} if the index is closed. */
  public abstract void checkOpen();

  /** Begins a change, which has no lock yet. */
  protected abstract C open();

  /** Returns a compute server that lives here, or {@code null}. */
  protected abstract @Nullable S find(int number);

  /** Returns a compute server that lives here; throws IllegalArgumentException if it does not. */
  protected abstract S local(int number);

  /** Returns the compute servers that live here. */
  protected abstract List<S> locals();

  /** Adds a compute server without a range. */
  protected abstract S add(C change, int number);

  /** Takes a compute server without a range out of the index. */
  protected abstract void retire(C change, S server);

  /** Writes back what only a compute server has, while operations go on. */
  protected abstract void writeBack(S server);

  /** Returns whether a table gives a compute server the range that it has. */
  protected abstract boolean hasRange(S server, Partitioning table);

  /** Returns whether this thread keeps others out of the index, so that no range may change. */
  protected abstract boolean isAlone();

  /** Keeps operations out of compute servers, and waits for those under way. */
  protected abstract Quiet quiet(C change, List<S> servers);

  /**
   * Begins to take keys from a compute server, beside operations.
   *
   * @param key its leaf's least key becomes the bound
   * @param upper whether the keys from the bound on leave, or those below
   */
  protected abstract Parting part(C change, S giver, long key, boolean upper);

  /** Begins to take about the upper half of its keys from a compute server, beside operations. */
  protected abstract Parting partHalf(C change, S giver);

  /** Begins to take all keys from a compute server, beside operations. */
  protected abstract Parting partWhole(C change, S giver);

  /** Begins to take all keys from a compute server that is lost. */
  protected abstract Parting partLost(C change, S heir, int lost);

  // The table.

  /** Returns the partitions that this process knows; those in the pool may be newer. */
  public final Partitioning current() {
    return current;
  }

  /** Sets the table that the pool has. The caller holds its lock. */
  protected final void setCurrent(Partitioning table) {
    current = table;
  }

  /** Returns whether this thread has the turn. */
  private boolean isMine() {
    return changing.get() == Thread.currentThread().threadId();
  }

  /** The turn: held by the one thread of this process that changes its compute servers. */
  protected final class Turn implements AutoCloseable {
    private Turn() {}

    @Override
    public void close() {
      changing.set(NOBODY);
    }
  }

  /** Waits for the turn, and takes it. */
  protected final Turn turn(Worker worker) {
    if (isMine() || isAlone()) {
      throw new IllegalStateException("this thread keeps others out of the index");
    }
    long start = worker.nanoTime();
    for (int attempt = 0; true; attempt++) {
      Turn taken = tryTurn();
      if (taken != null) {
        return taken;
      }
      long waited = worker.nanoTime() - start;
      if (waited > TURN_NANOS_MAX) {
        throw new StalledException(
            "another change of the index does not end: waitedNanos=" + waited);
      }
      worker.backoff().pause(attempt);
    }
  }

  /** Takes the turn, or returns {@code null} if another thread has it. */
  private @Nullable Turn tryTurn() {
    return changing.compareAndSet(NOBODY, Thread.currentThread().threadId()) ? turn : null;
  }

  /** Makes a change under the lock of the partition table. */
  protected final <T> T change(Function<C, T> change) {
    checkOpen();
    while (true) {
      try (C opened = open()) {
        // A flush may hold the turn for long, so this waits for it before it takes the lock.
        turn(opened.worker()).close();
        opened.lock();
        try (Turn taken = tryTurn()) {
          if (taken != null) {
            checkOpen();
            return change.apply(opened);
          }
        }
      }
    }
  }

  /** Takes a step while this process makes no change. A thread that has the turn may do so. */
  public final void steadily(Runnable step) {
    checkOpen();
    if (isMine() || isAlone()) {
      step.run();
      return;
    }
    try (C opened = open();
        var _ = turn(opened.worker())) {
      checkOpen();
      step.run();
    }
  }

  /**
   * As {@link pando.index.RangeIndex#flush}: each compute server writes what it can, whatever
   * others do.
   */
  public final void flush() {
    Failures failures = new Failures();
    steadily(() -> locals().forEach(server -> failures.collect(() -> writeBack(server))));
    failures.rethrow();
  }

  // Changes.

  @Override
  public final long moveBoundary(int server, long low) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      int range = change.rangeOfServer(server);
      S giver = local(change.giver(range, low));
      boolean upper = low < change.before().lowOfRange(range);
      int receiver = upper ? server : change.before().ownerOfRange(range - 1);
      give(
          opened,
          giver,
          receiver,
          () -> part(opened, giver, low, upper),
          bound -> change.moved(range, bound));
      return current.lowOfRange(range);
    });
  }

  @Override
  public final int split(int server, long key) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = local(server);
      int range = change.rangeOfServer(server);
      change.checkSplit(range, key);
      return addHere(opened, change, giver, range, () -> part(opened, giver, key, true));
    });
  }

  @Override
  public final boolean split(int server, long key, int receiver) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = local(server);
      int range = change.rangeOfServer(server);
      change.checkSplit(range, key);
      change.checkFree(receiver);
      give(
          opened,
          giver,
          receiver,
          () -> part(opened, giver, key, true),
          bound -> change.split(range, bound, receiver));
      return current.hasServer(receiver);
    });
  }

  @Override
  public final int addComputeServer(int from) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = local(from);
      int range = change.rangeOfServer(from);
      return addHere(opened, change, giver, range, () -> partHalf(opened, giver));
    });
  }

  @Override
  public final boolean addComputeServer(int from, int receiver) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = local(from);
      int range = change.rangeOfServer(from);
      change.checkFree(receiver);
      give(
          opened,
          giver,
          receiver,
          () -> partHalf(opened, giver),
          bound -> change.split(range, bound, receiver));
      return current.hasServer(receiver);
    });
  }

  /**
   * Adds a compute server here that gets the upper part of another's range; returns its number, -1
   * if there is no fence to split at.
   */
  private int addHere(
      C opened, Repartitioning change, S giver, int range, Supplier<Parting> parting) {
    int number = change.freeNumber(free -> find(free) != null);
    S added = add(opened, number);
    try {
      give(opened, giver, number, parting, bound -> change.split(range, bound, number));
    } finally {
      if (!current.hasServer(number)) {
        retire(opened, added);
      }
    }
    return current.hasServer(number) ? number : -1;
  }

  @Override
  public final void takeOver(int lost, int heir) {
    change(opened -> {
      Repartitioning change = begin(opened);
      if (find(lost) != null) {
        throw new IllegalArgumentException("compute server lives here: lost=" + lost);
      }
      S taking = local(heir);
      if (change.before().hasServer(lost)) {
        Partitioning after = change.before().withRangeGiven(change.rangeOfServer(lost), heir);
        give(opened, taking, heir, () -> partLost(opened, taking, lost), _ -> after);
      }
      return true;
    });
  }

  @Override
  public final void removeComputeServer(int server) {
    change(opened -> {
      Repartitioning change = begin(opened);
      S leaving = local(server);
      Partitioning after = change.withoutServer(server);
      int receiver = after.ownerOfRange(Math.max(0, change.rangeOfServer(server) - 1));
      try {
        give(opened, leaving, receiver, () -> partWhole(opened, leaving), _ -> after);
      } finally {
        if (!current.hasServer(server)) {
          retire(opened, leaving);
        }
      }
      return true;
    });
  }

  @Override
  public final void refreshPartitions() {
    change(this::begin);
  }

  @Override
  public final Partitioning readPartitions() {
    checkOpen();
    try (C opened = open()) {
      return opened.catalogue().readPartitioning();
    }
  }

  /**
   * Gives keys to a compute server, here or elsewhere.
   *
   * @param one compute server that lives here and is concerned: the giver, or the heir
   * @param division returns the partitions afterwards, of the bound; the present ones if nothing is
   *     to be given
   */
  private void give(
      C opened, S one, int receiver, Supplier<Parting> begin, LongFunction<Partitioning> division) {
    List<S> concerned = new ArrayList<>(List.of(one));
    S other = find(receiver);
    if (other != null && !concerned.contains(other)) {
      concerned.add(other);
    }
    try (Parting parting = begin.get();
        Quiet quiet = quiet(opened, concerned)) {
      quiet.empty();
      Partitioning after = division.apply(parting.bound());
      if (after.epoch() != current.epoch()) {
        parting.give(receiver, after);
        publish(opened.catalogue(), after);
      }
    }
  }

  /** Starts a change of the partitions, after adopting the changes of other processes. */
  private Repartitioning begin(C opened) {
    Repartitioning change = new Repartitioning(opened);
    if (!isAdopted(change.before())) {
      adopt(opened, change.before());
    }
    return change;
  }

  /** Writes new partitions to the pool and adopts them here. */
  private void publish(Catalogue catalogue, Partitioning after) {
    try {
      catalogue.writePartitioning(after);
    } catch (Throwable e) {
      followPool(catalogue, e);
      throw e;
    }
    current = after;
  }

  /** Reads which partitions the pool has, after a change of unknown outcome. */
  private void followPool(Catalogue catalogue, Throwable failure) {
    try {
      current = catalogue.readPartitioning();
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** Returns whether a table is the current one, and all compute servers here have its ranges. */
  private boolean isAdopted(Partitioning table) {
    return table.epoch() == current.epoch()
        && locals().stream().allMatch(server -> hasRange(server, table));
  }

  /** Adopts a change that another process made. */
  private void adopt(C opened, Partitioning found) {
    List<S> concerned = locals().stream().filter(server -> !hasRange(server, found)).toList();
    try (Quiet quiet = quiet(opened, concerned)) {
      quiet.empty();
      current = found;
    }
  }

  /**
   * Waits until a key has an owner in this process; throws if the key belongs to another process.
   * The caller is not inside a gate.
   *
   * @param seen the table by which it was looked for
   * @param owner its owner by that table
   * @param isLocal whether the owner lives here
   */
  public final void awaitOwner(
      Partitioning seen, long key, int owner, boolean isLocal, int attempt) {
    checkOpen();
    if (isMine() || isAlone()) {
      // Ranges of this process do not change, and its compute servers own theirs.
      throw new NotServedHereException(key, owner);
    }
    if (current == seen) {
      checkHere(key, owner);
      change(opened -> {
        if (current == seen) {
          lookForOwner(opened, key, owner, isLocal, attempt);
        }
        return true;
      });
    }
  }

  /**
   * Throws if the table in the pool says that a key is another process's, too: without its lock,
   * which a change may hold for long.
   */
  private void checkHere(long key, int owner) {
    if (find(owner) == null && isAdopted(readPartitions())) {
      throw new NotServedHereException(key, owner);
    }
  }

  private void lookForOwner(C opened, long key, int owner, boolean isLocal, int attempt) {
    Partitioning found = opened.catalogue().readPartitioning();
    if (!isAdopted(found)) {
      adopt(opened, found);
    } else if (find(owner) == null) {
      throw new NotServedHereException(key, owner);
    } else if (isLocal) {
      opened.worker().backoff().pause(Math.min(attempt, PAUSE_ATTEMPT));
    }
  }
}
