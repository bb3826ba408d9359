package pando.index.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.BoundKey;
import pando.index.IndexOptions;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;
import pando.index.bugs.PlantedBug;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * The partitions that this process knows, and the changes of partitions and compute servers, while
 * operations run (DEX section 4). Thread-safe.
 *
 * @param <S> a compute server
 * @param <W> one session's worker at a compute server
 */
public final class PartitionChanges<S extends HostedServer, W extends GatedWorker>
    implements MovablePartitions {
  /*
   * The table in the pool says whose a key is. The compute server that loses keys, the giver, makes
   * the change:
   *
   *   1. Take the lock of the table, and adopt what others have changed.
   *   2. Look for the bound, and move what can be moved while operations go on (Parting).
   *   3. Keep operations out of the compute servers concerned that live here, and wait for those
   *      that are under way (Quiet). Others go on, unless they share a gate with these.
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

  private final HostedIndex<S, W> index;
  private final Members<S, W> members;

  /** The number of the thread that has the turn. */
  private final AtomicLong changing = new AtomicLong(NOBODY);

  private final Turn turn = new Turn();

  private volatile Partitioning current;
  private volatile @Nullable Lease lease;

  /**
   * Creates an object that knows a table.
   *
   * @param first {@linkplain #setCurrent replaced} when an index is joined or loaded
   */
  PartitionChanges(HostedIndex<S, W> index, Members<S, W> members, Partitioning first) {
    this.index = index;
    this.members = members;
    this.current = first;
  }

  @Override
  public void answerWhile(Lease held) {
    lease = Objects.requireNonNull(held, "held");
  }

  /** Returns the lease of sessions that are opened now, {@code null} if they need none. */
  @Nullable Lease lease() {
    return lease;
  }

  // The table.

  /** Returns the partitions that this process knows; those in the pool may be newer. */
  Partitioning current() {
    return current;
  }

  /** Sets the table that the pool has. The caller holds its lock. */
  void setCurrent(Partitioning table) {
    current = table;
  }

  /** Returns whether this thread has the turn. */
  private boolean isMine() {
    return changing.get() == Thread.currentThread().threadId();
  }

  /** The turn: held by the one thread of this process that changes its compute servers. */
  final class Turn implements AutoCloseable {
    private Turn() {}

    @Override
    public void close() {
      changing.set(NOBODY);
    }
  }

  /** Waits for the turn, and takes it. */
  Turn turn(Worker worker) {
    if (isMine() || members.isAlone()) {
      throw new IllegalStateException("this thread keeps others out of the index");
    }
    long start = 0;
    for (int attempt = 0; true; attempt++) {
      Turn taken = tryTurn();
      if (taken != null) {
        return taken;
      }
      String what = "another change of the index does not end";
      start = WaitLimit.LONG.pause(worker.backoff(), attempt, start, what);
    }
  }

  /** Takes the turn, or returns {@code null} if another thread has it. */
  private @Nullable Turn tryTurn() {
    return changing.compareAndSet(NOBODY, Thread.currentThread().threadId()) ? turn : null;
  }

  /** Makes a change under the lock of the partition table. */
  <T> T change(Function<PoolChange, T> change) {
    members.checkOpen();
    while (true) {
      try (PoolChange opened = index.opened()) {
        // A flush may hold the turn for long, so this waits for it before it takes the lock.
        turn(opened.worker()).close();
        opened.lock();
        try (Turn taken = tryTurn()) {
          if (taken != null) {
            members.checkOpen();
            return change.apply(opened);
          }
        }
      }
    }
  }

  /** Takes a step while this process makes no change. A thread that has the turn may do so. */
  void steadily(Runnable step) {
    members.checkOpen();
    if (isMine() || members.isAlone()) {
      step.run();
      return;
    }
    try (PoolChange opened = index.opened();
        var _ = turn(opened.worker())) {
      members.checkOpen();
      step.run();
    }
  }

  /**
   * As {@link pando.index.RangeIndex#flush}: each compute server writes what it can, whatever
   * others do.
   */
  void flush() {
    Failures failures = new Failures();
    steadily(() -> members.servers().forEach(server -> failures.collect(server::writeBack)));
    failures.rethrow();
  }

  /** Makes a change of the index as a whole, with operations and background tasks kept out. */
  <T> T alone(BiFunction<PoolChange, Quiet<S>, T> step) {
    return change(opened -> {
      try (Quiet<S> all = new Quiet<>(members, members.gates(), opened.worker())) {
        return step.apply(opened, all);
      }
    });
  }

  @Override
  public long sizeEstimate(int server) {
    members.checkOpen();
    W worker = members.worker(members.local(server));
    if (worker == null) {
      return 0; // It has just been taken out.
    }
    try {
      worker.enter();
      try {
        long low = worker.server().low();
        long high = worker.server().high();
        return low <= high ? Math.round(worker.sizeOf(low, high)) : 0;
      } finally {
        worker.exit();
      }
    } finally {
      members.retire(worker);
    }
  }

  // Changes.

  @Override
  public BoundKey moveBoundary(int server, BoundKey low) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      int range = change.rangeOfServer(server);
      S giver = members.local(change.giver(range, low));
      boolean upper = low.compareToBound(change.before(), range) < 0;
      int receiver = upper ? server : change.before().ownerOfRange(range - 1);
      give(
          opened,
          giver,
          receiver,
          () -> parting(opened, giver, low, upper),
          bound -> change.moved(range, bound));
      return BoundKey.of(current, range);
    });
  }

  private Parting parting(PoolChange opened, S giver, BoundKey at, boolean upper) {
    return index.overlay().part(at, upper, key -> index.part(opened, giver, key, upper));
  }

  private Parting partingHalf(PoolChange opened, S giver) {
    return index
        .overlay()
        .partHalf(() -> index.partHalf(opened, giver), key -> index.part(opened, giver, key, true));
  }

  @Override
  public int split(int server, long key) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = members.local(server);
      int range = change.rangeOfServer(server);
      BoundKey at = BoundKey.of(key);
      change.checkSplit(range, at);
      return addHere(opened, change, giver, range, () -> parting(opened, giver, at, true));
    });
  }

  @Override
  public boolean split(int server, BoundKey key, int receiver) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = members.local(server);
      int range = change.rangeOfServer(server);
      change.checkSplit(range, key);
      change.checkFree(receiver);
      give(
          opened,
          giver,
          receiver,
          () -> parting(opened, giver, key, true),
          bound -> change.split(range, bound, receiver));
      return current.hasServer(receiver);
    });
  }

  @Override
  public int addComputeServer(int from) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = members.local(from);
      int range = change.rangeOfServer(from);
      return addHere(opened, change, giver, range, () -> partingHalf(opened, giver));
    });
  }

  @Override
  public boolean addComputeServer(int from, int receiver) {
    return change(opened -> {
      Repartitioning change = begin(opened);
      S giver = members.local(from);
      int range = change.rangeOfServer(from);
      change.checkFree(receiver);
      give(
          opened,
          giver,
          receiver,
          () -> partingHalf(opened, giver),
          bound -> change.split(range, bound, receiver));
      return current.hasServer(receiver);
    });
  }

  /**
   * Adds a compute server here that gets the upper part of another's range; returns its number, -1
   * if there is no fence to split at.
   */
  private int addHere(
      PoolChange opened, Repartitioning change, S giver, int range, Supplier<Parting> parting) {
    int number = change.freeNumber(free -> members.find(free) != null);
    S added = index.add(opened, number);
    try {
      give(opened, giver, number, parting, bound -> change.split(range, bound, number));
    } finally {
      if (!current.hasServer(number)) {
        index.retire(opened, added);
      }
    }
    return current.hasServer(number) ? number : -1;
  }

  /** As {@link pando.index.RangeIndex#bury}. */
  void bury(int lost) {
    change(opened -> {
      begin(opened);
      checkElsewhere(lost);
      checkFenced(lost);
      index.buryServer(opened, lost);
      return true;
    });
  }

  /** Checks that a burial does not unlock what a compute server that lives goes on to change. */
  private void checkFenced(int lost) {
    if (index.fabric().capabilities().fences() && !index.fabric().hasFenced(lost)) {
      throw new IllegalStateException(
          "fence the compute server by this fabric before it is buried: lost=" + lost);
    }
  }

  private void checkElsewhere(int lost) {
    if (lost < 0 || lost >= IndexOptions.COMPUTE_SERVERS_MAX) {
      throw new IllegalArgumentException(
          "no such compute server: lost=%s, greatest=%s"
              .formatted(lost, IndexOptions.COMPUTE_SERVERS_MAX - 1));
    }
    if (members.find(lost) != null) {
      throw new IllegalArgumentException("compute server lives here: lost=" + lost);
    }
  }

  @Override
  public void takeOver(int lost, int heir) {
    change(opened -> {
      Repartitioning change = begin(opened);
      checkElsewhere(lost);
      S taking = members.local(heir);
      if (change.before().hasServer(lost)) {
        checkFenced(lost);
        Partitioning after = change.before().withRangeGiven(change.rangeOfServer(lost), heir);
        index.bury(opened, lost);
        give(opened, taking, heir, () -> index.partLost(opened, taking, lost), _ -> after);
      }
      return true;
    });
  }

  @Override
  public void removeComputeServer(int server) {
    change(opened -> {
      Repartitioning change = begin(opened);
      S leaving = members.local(server);
      Partitioning after = change.withoutServer(server);
      int receiver = after.ownerOfRange(Math.max(0, change.rangeOfServer(server) - 1));
      try {
        give(opened, leaving, receiver, () -> partingWhole(opened, leaving), _ -> after);
      } finally {
        if (!current.hasServer(server) && !index.overlay().keepsServers()) {
          index.retire(opened, leaving);
        }
      }
      return true;
    });
  }

  private Parting partingWhole(PoolChange opened, S leaving) {
    return index.overlay().partWhole(() -> index.partWhole(opened, leaving));
  }

  @Override
  public boolean isHere(int server) {
    return server >= 0 && server < IndexOptions.COMPUTE_SERVERS_MAX && members.find(server) != null;
  }

  @Override
  public void refreshPartitions() {
    change(this::begin);
  }

  @Override
  public Partitioning readPartitions() {
    members.checkOpen();
    try (PoolChange opened = index.opened()) {
      return read(opened.catalogue());
    }
  }

  private Partitioning read(Catalogue catalogue) {
    return index.overlay().read(catalogue);
  }

  /**
   * Gives keys to a compute server, here or elsewhere.
   *
   * @param one compute server that lives here and is concerned: the giver, or the heir
   * @param division returns the partitions after the change, for a bound; the present ones if there
   *     is nothing to give
   */
  private void give(
      PoolChange opened,
      S one,
      int receiver,
      Supplier<Parting> begin,
      Function<Bound, Partitioning> division) {
    List<S> concerned = new ArrayList<>(List.of(one));
    S other = members.find(receiver);
    if (other != null && !concerned.contains(other)) {
      concerned.add(other);
    }
    try (Parting parting = begin.get();
        Quieted quiet = new Quieted(opened, concerned)) {
      quiet.empty();
      Partitioning after = division.apply(parting.bound());
      if (after.epoch() != current.epoch()) {
        parting.give(receiver, after);
        publish(opened.catalogue(), after);
      }
    }
  }

  /** Starts a change of the partitions, after adopting the changes of other processes. */
  private Repartitioning begin(PoolChange opened) {
    Repartitioning change = new Repartitioning(read(opened.catalogue()));
    if (!isAdopted(change.before())) {
      adopt(opened, change.before());
    }
    return change;
  }

  /** Writes new partitions to the pool and adopts them here. */
  private void publish(Catalogue catalogue, Partitioning after) {
    try {
      index.overlay().write(catalogue, after);
    } catch (Throwable e) {
      followPool(catalogue, e);
      throw e;
    }
    current = after;
  }

  /** Reads which partitions the pool has, after a change of unknown outcome. */
  private void followPool(Catalogue catalogue, Throwable failure) {
    try {
      current = read(catalogue);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** Returns whether a table is the current one, and all compute servers here have its ranges. */
  private boolean isAdopted(Partitioning table) {
    return table.epoch() == current.epoch()
        && members.servers().stream().allMatch(server -> index.hasRange(server, table));
  }

  /** Returns whether the compute servers here have the ranges that this process knows. */
  public boolean areAdopted() {
    return isAdopted(current);
  }

  /** Adopts a change that another process made. */
  private void adopt(PoolChange opened, Partitioning found) {
    List<S> concerned =
        members.servers().stream().filter(server -> !index.hasRange(server, found)).toList();
    try (Quieted quiet = new Quieted(opened, concerned)) {
      quiet.empty();
      current = found;
    }
  }

  /**
   * Waits until a key has an owner in this process. The caller is not inside a gate.
   *
   * @param seen the table by which it was looked for
   * @param key for the message
   * @param owner its owner by that table
   * @param isLocal whether the owner lives here
   * @throws NotServedHereException if the key belongs to another process
   */
  public void awaitOwner(Partitioning seen, String key, int owner, boolean isLocal, int attempt) {
    members.checkOpen();
    if (isMine() || members.isAlone()) {
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
  private void checkHere(String key, int owner) {
    if (members.find(owner) == null && isAdopted(readPartitions())) {
      throw new NotServedHereException(key, owner);
    }
  }

  private void lookForOwner(
      PoolChange opened, String key, int owner, boolean isLocal, int attempt) {
    Partitioning found = read(opened.catalogue());
    if (!isAdopted(found)) {
      adopt(opened, found);
    } else if (members.find(owner) == null) {
      throw new NotServedHereException(key, owner);
    } else if (isLocal) {
      opened.worker().backoff().pause(Math.min(attempt, PAUSE_ATTEMPT));
    }
  }

  /** Compute servers that take on the ranges of the current table when they go on. */
  private final class Quieted implements AutoCloseable {
    private final PoolChange change;
    private final List<S> servers;
    private final Quiet<S> quiet;

    Quieted(PoolChange change, List<S> servers) {
      this.change = change;
      this.servers = servers;
      List<Gate> gates = PlantedBug.MOVED_UNGATED ? List.of() : members.gates(servers);
      this.quiet = new Quiet<>(members, gates, change.worker());
    }

    void empty() {
      quiet.empty();
    }

    /** If one cannot take its range on, the others do so anyway. */
    @Override
    public void close() {
      List<S> others = servers.stream().filter(server -> !index.hasRange(server, current)).toList();
      quiet.closeAfter(others, server -> server.takeOn(change, current));
    }
  }
}
