package pando.index.dex;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.EntrySource;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.load.BulkLoad;
import pando.index.node.NodeLayout;
import pando.index.pool.Catalogue;
import pando.index.pool.KeptNodes;
import pando.index.session.Gate;

/**
 * The partitions that this process knows, and the changes of partitions and compute servers.
 *
 * <p>A change takes the lock of the partition table in the pool, then the turn, a lock of this
 * process. Closing the index takes the turn alone: it writes caches back and changes no range, so
 * it need not wait for a holder of the table's lock in another process. Thread-safe.
 */
final class Partitions {
  private static final int PAUSE_ATTEMPT = 64;

  /** No thread has this number. */
  private static final long NOBODY = 0;

  /**
   * Maximum wait for the turn. The limit is a time, not a number of attempts, as an interrupted
   * thread does not sleep between attempts.
   */
  private static final long TURN_NANOS_MAX = 100_000_000_000L;

  private final Fabric fabric;
  private final DexOptions options;
  private final NodeLayout layout;
  private final Members members;

  /** The number of the thread that has the turn. */
  private final AtomicLong changing = new AtomicLong(NOBODY);

  private volatile Partitioning current;
  private volatile boolean closed;

  Partitions(Fabric fabric, DexOptions options, NodeLayout layout, Members members) {
    this.fabric = fabric;
    this.options = options;
    this.layout = layout;
    this.members = members;
    this.current = Partitioning.undivided(0);
  }

  Partitioning current() {
    return current;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  private Topology topology() {
    return new Topology(fabric, options, layout, members);
  }

  /** The turn: held by the one thread of this process that changes its compute servers. */
  private final class Turn implements AutoCloseable {
    Turn(Worker worker) {
      if (isMine()) {
        throw new IllegalStateException("this thread keeps others out of the index");
      }
      long me = Thread.currentThread().threadId();
      long start = worker.nanoTime();
      for (int attempt = 0; !changing.compareAndSet(NOBODY, me); attempt++) {
        long waited = worker.nanoTime() - start;
        if (waited > TURN_NANOS_MAX) {
          throw new StalledException(
              "another change of the index does not end: waitedNanos=" + waited);
        }
        worker.backoff().pause(attempt);
      }
    }

    @Override
    public void close() {
      changing.set(NOBODY);
    }
  }

  /** Returns whether this thread has the turn. */
  private boolean isMine() {
    return changing.get() == Thread.currentThread().threadId();
  }

  /** Makes a change under the lock of the partition table. */
  private <T> T change(Function<Topology, T> change) {
    checkOpen();
    try (Topology topology = topology()) {
      topology.lock();
      try (var _ = new Turn(topology.worker())) {
        checkOpen();
        return change.apply(topology);
      }
    }
  }

  /**
   * Compute servers whose gates are shut until this is closed, which resumes them with the current
   * ranges.
   */
  private final class Quiesced implements AutoCloseable {
    private final List<ComputeServer> servers;
    private int shut;

    Quiesced(List<ComputeServer> servers, Worker worker) {
      this(servers, gate -> gate.shut(worker));
    }

    private Quiesced(List<ComputeServer> servers, Consumer<Gate> shutting) {
      this.servers = servers;
      boolean all = false;
      try {
        for (ComputeServer server : servers) {
          shutting.accept(server.gate);
          shut++;
        }
        all = true;
      } finally {
        if (!all) {
          close();
        }
      }
    }

    /**
     * Empties the caches. If a node cannot be written back, all others are written and every cache
     * stays as it is.
     */
    void empty() {
      writeBack();
      servers.forEach(ComputeServer::clear);
    }

    /** Writes the caches back. If a node cannot be written, all others are written. */
    void writeBack() {
      PandoException failure = null;
      for (ComputeServer server : servers) {
        try {
          server.flush();
        } catch (PandoException e) {
          failure = failure == null || failure instanceof MemoryServerLostException ? e : failure;
        }
      }
      if (failure != null) {
        throw failure;
      }
    }

    @Override
    public void close() {
      servers.subList(0, shut).forEach(server -> server.resume(current));
    }
  }

  // Create, join and close.

  /**
   * Makes an empty index. The pool is marked as holding it once it can be joined.
   *
   * @param leaves has a range for each leaf to begin with; where a range of {@code partitioning}
   *     has several, it can be divided there while it is empty
   */
  void make(Partitioning partitioning, Partitioning leaves, int first, int count) {
    current = partitioning;
    try (Topology topology = topology()) {
      topology.lock();
      topology.catalogue().checkUnclaimed();
      NodeAllocator.checkRoom(
          topology.worker(),
          topology.message(),
          fabric.memoryServers(),
          partitioning.servers(),
          new int[] {options.nodeBytes()});
      try {
        addAll(first, count);
        long root = topology.buildEmpty(members.local(first), leaves);
        topology.catalogue().begin(root, current);
        startAll(root);
        topology.catalogue().claim(options.nodeBytes());
      } catch (Throwable e) {
        abandon(e);
        throw e;
      }
    }
  }

  void join(int first, int count) {
    join(first, count, true);
  }

  /** Joins with one compute server, which may have no range yet. */
  void joinAt(int number) {
    join(number, 1, false);
  }

  private void join(int first, int count, boolean withRanges) {
    try (Topology topology = topology()) {
      topology.lock();
      topology.catalogue().checkClaimed(options.nodeBytes(), options.kind());
      current = topology.catalogue().readPartitioning();
      for (int number = first; withRanges && number < first + count; number++) {
        current.rangeOfServer(number);
      }
      try {
        addAll(first, count);
        startAll(topology.catalogue().root());
      } catch (Throwable e) {
        abandon(e);
        throw e;
      }
    }
  }

  private void addAll(int first, int count) {
    for (int number = first; number < first + count; number++) {
      addLocal(number);
    }
  }

  private ComputeServer addLocal(int number) {
    ComputeServer server = new ComputeServer(number, fabric, options, layout);
    members.add(server);
    return server;
  }

  private void startAll(long root) {
    for (ComputeServer server : members.locals()) {
      server.setRoot(root);
      server.resume(current);
    }
  }

  /**
   * Releases what a failed start has made; further failures are added to the first as suppressed.
   */
  private void abandon(Throwable failure) {
    try {
      members.locals().forEach(ComputeServer::trim);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    } finally {
      members.closeAll();
    }
  }

  boolean isClosed() {
    return closed;
  }

  void close() {
    if (closed) {
      return;
    }
    Topology topology;
    try {
      topology = topology();
    } catch (IllegalStateException e) {
      // The fabric is closed, so nothing can be written back any more.
      closed = true;
      members.closeAll();
      throw e;
    }
    try (topology;
        var _ = new Turn(topology.worker())) {
      if (!closed) {
        end(topology.worker());
      }
    }
  }

  /**
   * Closes the index. After a failure it stays open, unless all that could not be written or given
   * back is at lost memory servers.
   */
  private void end(Worker worker) {
    Losses losses = new Losses();
    try (Quiesced all = new Quiesced(members.locals(), worker)) {
      losses.defer(all::empty);
      all.servers.forEach(server -> losses.defer(server::trim));
      closed = true;
      members.closeAll();
    }
    losses.rethrow();
  }

  // Changes.

  /** Loads entries into an empty index; returns their number. */
  long load(EntrySource entries, double fill) {
    return change(topology -> {
      try (Quiesced all = new Quiesced(members.locals(), topology.worker())) {
        all.empty();
        return load(topology, all.servers, entries, fill);
      }
    });
  }

  /**
   * Runs an action of this thread while no other thread operates on compute servers of this
   * process, and none of their ranges changes.
   */
  void alone(Runnable action) {
    checkOpen();
    try (Topology topology = topology();
        var _ = new Turn(topology.worker())) {
      checkOpen();
      try (var _ = new Quiesced(members.locals(), gate -> gate.shutToOthers(topology.worker()))) {
        action.run();
      }
    }
  }

  PoolSpace space() {
    return change(topology -> {
      try (Quiesced all = new Quiesced(members.locals(), topology.worker())) {
        all.writeBack();
        PoolSpace space = options.space(fabric);
        for (ComputeServer server : all.servers) {
          space = space.withUnused(KeptNodes.of(server.allocator));
        }
        return space;
      }
    });
  }

  private long load(
      Topology topology, List<ComputeServer> servers, EntrySource entries, double fill) {
    long before = topology.catalogue().root();
    List<Long> emptied = topology.nodesOfEmptyTree(before);
    ComputeServer builder = servers.getFirst();
    BulkLoad.Built built = topology.replace(before, builder, entries, fill, current);
    current = built.partitioning();
    servers.forEach(server -> server.setRoot(built.root()));
    for (long address : emptied) {
      builder.allocator.free(topology.worker(), topology.message(), address);
    }
    return built.entries();
  }

  long moveBoundary(int server, long low) {
    return change(topology -> {
      Repartitioning change = begin(topology);
      int range = change.rangeOfServer(server);
      SequencedSet<ComputeServer> concerned = concerned(change.giver(range, low));
      addIfLocal(concerned, change.before().ownerOfRange(range - 1));
      addIfLocal(concerned, server);
      try (Quiesced quiesced = new Quiesced(List.copyOf(concerned), topology.worker())) {
        quiesced.empty();
        publish(topology, change.moved(range, low));
      }
      return current.lowOfRange(range);
    });
  }

  int split(int server, long key) {
    return change(topology -> {
      Repartitioning change = begin(topology);
      ComputeServer giver = members.local(server);
      int range = change.rangeOfServer(server);
      change.checkSplit(range, key);
      return addHere(topology, change, giver, number -> change.split(range, key, number));
    });
  }

  boolean split(int server, long key, int receiver) {
    return change(topology -> {
      Repartitioning change = begin(topology);
      ComputeServer giver = members.local(server);
      int range = change.rangeOfServer(server);
      change.checkSplit(range, key);
      change.checkFree(receiver);
      return give(topology, giver, receiver, () -> change.split(range, key, receiver));
    });
  }

  int add(int from) {
    return change(topology -> {
      Repartitioning change = begin(topology);
      ComputeServer giver = members.local(from);
      int range = change.rangeOfServer(from);
      return addHere(topology, change, giver, number -> change.halved(range, number));
    });
  }

  boolean add(int from, int receiver) {
    return change(topology -> {
      Repartitioning change = begin(topology);
      ComputeServer giver = members.local(from);
      int range = change.rangeOfServer(from);
      change.checkFree(receiver);
      return give(topology, giver, receiver, () -> change.halved(range, receiver));
    });
  }

  /**
   * Adds a compute server here that gets a part of another's range; returns its number, -1 if there
   * is no fence to split at.
   */
  private int addHere(
      Topology topology,
      Repartitioning change,
      ComputeServer giver,
      IntFunction<Partitioning> division) {
    int number = change.freeNumber(members);
    ComputeServer added = addLocal(number);
    try {
      added.setRoot(topology.catalogue().root());
      give(topology, giver, number, () -> division.apply(number));
    } finally {
      if (!current.hasServer(number)) {
        members.retire(added);
      }
    }
    return current.hasServer(number) ? number : -1;
  }

  /**
   * Gives a part of a range to a compute server without one, here or elsewhere; returns whether
   * there was a fence to split at.
   *
   * @param division the partitions afterwards; bounds are found once the giver is quiet
   */
  private boolean give(
      Topology topology, ComputeServer giver, int receiver, Supplier<Partitioning> division) {
    SequencedSet<ComputeServer> concerned = new LinkedHashSet<>(List.of(giver));
    addIfLocal(concerned, receiver);
    try (Quiesced quiesced = new Quiesced(List.copyOf(concerned), topology.worker())) {
      quiesced.empty();
      publish(topology, division.get());
    }
    return current.hasServer(receiver);
  }

  void takeOver(int lost, int heir) {
    change(topology -> {
      Repartitioning change = begin(topology);
      if (members.find(lost) != null) {
        throw new IllegalArgumentException("compute server lives here: lost=" + lost);
      }
      ComputeServer taking = members.local(heir);
      if (change.before().hasServer(lost)) {
        Partitioning after =
            change.before().withRangeGiven(change.rangeOfServer(lost), taking.number);
        try (Quiesced quiesced = new Quiesced(List.of(taking), topology.worker())) {
          quiesced.empty();
          publish(topology, after);
        }
      }
      return true;
    });
  }

  /** Adopts the partitions that the pool has now. */
  void refresh() {
    change(this::begin);
  }

  void remove(int server) {
    change(topology -> {
      Repartitioning change = begin(topology);
      ComputeServer leaving = members.local(server);
      Partitioning after = change.withoutServer(server);
      SequencedSet<ComputeServer> concerned = concerned(server);
      addIfLocal(concerned, after.ownerOfRange(Math.max(0, change.rangeOfServer(server) - 1)));
      try (Quiesced quiesced = new Quiesced(List.copyOf(concerned), topology.worker())) {
        quiesced.empty();
        publish(topology, after);
      } finally {
        if (!current.hasServer(server)) {
          members.retire(leaving);
        }
      }
      return true;
    });
  }

  /** Starts a change of the partitions, after adopting the changes of other processes. */
  private Repartitioning begin(Topology topology) {
    Repartitioning change = new Repartitioning(topology);
    if (change.before().epoch() != current.epoch()) {
      adopt(topology, change.before());
    }
    return change;
  }

  private SequencedSet<ComputeServer> concerned(int server) {
    return new LinkedHashSet<>(List.of(members.local(server)));
  }

  private void addIfLocal(SequencedSet<ComputeServer> concerned, int number) {
    ComputeServer server = members.find(number);
    if (server != null) {
      concerned.add(server);
    }
  }

  /** Writes new partitions to the pool and adopts them here. */
  private void publish(Topology topology, Partitioning after) {
    if (after.epoch() == current.epoch()) {
      return;
    }
    try {
      topology.catalogue().writePartitioning(after);
    } catch (Throwable e) {
      followPool(topology.catalogue(), e);
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

  /**
   * Waits until a key has an owner in this process; throws if the key belongs to another process.
   */
  void awaitOwner(Partitioning seen, long key, int owner, boolean isLocal, int attempt) {
    checkOpen();
    if (isMine()) {
      // Ranges of this process do not change, and its compute servers own theirs.
      throw new NotServedHereException(key, owner);
    }
    if (current == seen) {
      change(topology -> {
        if (current == seen) {
          lookForOwner(topology, key, owner, isLocal, attempt);
        }
        return true;
      });
    }
  }

  private void lookForOwner(Topology topology, long key, int owner, boolean isLocal, int attempt) {
    Partitioning found = topology.catalogue().readPartitioning();
    if (found.epoch() != current.epoch()) {
      adopt(topology, found);
    } else if (members.find(owner) == null) {
      throw new NotServedHereException(key, owner);
    } else if (isLocal) {
      topology.worker().backoff().pause(Math.min(attempt, PAUSE_ATTEMPT));
    }
  }

  /** Adopts a change that another process made. */
  private void adopt(Topology topology, Partitioning found) {
    List<ComputeServer> concerned =
        members.locals().stream().filter(server -> !server.hasRange(found)).toList();
    try (Quiesced quiesced = new Quiesced(concerned, topology.worker())) {
      quiesced.empty();
      current = found;
    }
  }
}
