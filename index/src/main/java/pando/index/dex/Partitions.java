package pando.index.dex;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.EntrySource;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.host.PartitionChanges;
import pando.index.load.BulkLoad;
import pando.index.node.NodeLayout;
import pando.index.pool.KeptNodes;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * The partitions of a DEX index that this process knows, their changes, and the index's life: it is
 * made, joined, loaded and closed here. Compute servers that a change concerns write back their
 * caches and restart with empty ones. Thread-safe.
 */
final class Partitions extends PartitionChanges<DexServer, Topology> {
  private final Fabric fabric;
  private final DexOptions options;
  private final NodeLayout layout;
  private final DexMembers members;
  private volatile boolean closed;

  Partitions(Fabric fabric, DexOptions options, NodeLayout layout, DexMembers members) {
    super(Partitioning.undivided(0));
    this.fabric = fabric;
    this.options = options;
    this.layout = layout;
    this.members = members;
  }

  @Override
  public void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  @Override
  public long sizeEstimate(int server) {
    checkOpen();
    return members.sizeEstimate(server);
  }

  @Override
  protected Topology open() {
    return new Topology(fabric, options, layout, members);
  }

  @Override
  protected @Nullable DexServer find(int number) {
    return members.find(number);
  }

  @Override
  protected DexServer local(int number) {
    return members.local(number);
  }

  @Override
  protected List<DexServer> locals() {
    return members.locals();
  }

  @Override
  protected DexServer add(Topology topology, int number) {
    DexServer server = addLocal(number);
    try {
      server.setRoot(topology.catalogue().root());
    } catch (Throwable e) {
      members.retire(server);
      throw e;
    }
    return server;
  }

  @Override
  protected void retire(Topology topology, DexServer server) {
    Failures failures = new Failures();
    failures.collect(server::stopSweeping);
    failures.collect(() -> server.allocator.trim(topology.worker(), topology.message()));
    failures.collect(() -> members.retire(server));
    failures.rethrow();
  }

  @Override
  protected void writeBack(DexServer server) {
    server.writeBack();
  }

  @Override
  protected boolean hasRange(DexServer server, Partitioning table) {
    return server.hasRange(table);
  }

  /** {@inheritDoc} A thread that does so has the turn. */
  @Override
  protected boolean isAlone() {
    return false;
  }

  @Override
  protected Quiet quiet(Topology topology, List<DexServer> servers) {
    return new Quiesced(servers, topology.worker());
  }

  @Override
  protected Parting part(Topology topology, DexServer giver, long key, boolean upper) {
    return new Bound(() -> topology.fence(key));
  }

  @Override
  protected Parting partHalf(Topology topology, DexServer giver) {
    return new Bound(() -> topology.middleFence(giver.low(), giver.high()));
  }

  @Override
  protected Parting partWhole(Topology topology, DexServer giver) {
    return new Bound(giver::low);
  }

  @Override
  protected Parting partLost(Topology topology, DexServer heir, int lost) {
    return new Bound(() -> current().lowOfServer(lost));
  }

  /**
   * Compute servers whose gates are shut until this is closed, which resumes them with the current
   * ranges.
   */
  private final class Quiesced implements Quiet {
    private final List<DexServer> servers;
    private int shut;

    Quiesced(List<DexServer> servers, Worker worker) {
      this(servers, gate -> gate.shut(worker));
    }

    private Quiesced(List<DexServer> servers, Consumer<Gate> shutting) {
      this.servers = servers;
      boolean all = false;
      try {
        for (DexServer server : servers) {
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
    @Override
    public void empty() {
      writeBack();
      servers.forEach(DexServer::clear);
    }

    /** Writes the caches back. If a node cannot be written, all others are written. */
    void writeBack() {
      PandoException failure = null;
      for (DexServer server : servers) {
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
      servers.subList(0, shut).forEach(server -> server.resume(current()));
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
    setCurrent(partitioning);
    start(topology -> {
      topology.catalogue().checkUnclaimed();
      NodeAllocator.checkRoom(
          topology.worker(),
          topology.message(),
          fabric.memoryServers(),
          partitioning.servers(),
          new int[] {options.nodeBytes()});
      addAll(first, count);
      long root = topology.buildEmpty(members.local(first), leaves);
      topology.catalogue().begin(root, current());
      startAll(root);
      topology.catalogue().claim(options.nodeBytes());
    });
  }

  void join(int first, int count) {
    join(first, count, true);
  }

  /** Joins with one compute server, which may have no range yet. */
  void joinAt(int number) {
    join(number, 1, false);
  }

  private void join(int first, int count, boolean withRanges) {
    start(topology -> {
      topology.catalogue().checkClaimed(options.nodeBytes(), options.kind());
      setCurrent(topology.catalogue().readPartitioning());
      for (int number = first; withRanges && number < first + count; number++) {
        current().rangeOfServer(number);
      }
      addAll(first, count);
      startAll(topology.catalogue().root());
    });
  }

  /** Takes the steps of a start; releases what they made if one fails, or the unlocking. */
  private void start(Consumer<Topology> steps) {
    try (Topology topology = open()) {
      topology.lock();
      try {
        steps.accept(topology);
      } catch (Throwable e) {
        Closing.after(e, () -> members.locals().forEach(DexServer::trim));
        throw e;
      }
    } catch (Throwable e) {
      Closing.after(e, members::closeAll);
      throw e;
    }
  }

  private void addAll(int first, int count) {
    for (int number = first; number < first + count; number++) {
      addLocal(number);
    }
  }

  private DexServer addLocal(int number) {
    DexServer server = new DexServer(number, fabric, options, layout);
    members.add(server);
    return server;
  }

  private void startAll(long root) {
    for (DexServer server : members.locals()) {
      server.setRoot(root);
      server.resume(current());
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
      topology = open();
    } catch (IllegalStateException e) {
      // The fabric is closed, so nothing can be written back any more.
      closed = true;
      members.closeAll();
      throw e;
    }
    try (topology;
        var _ = turn(topology.worker())) {
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

  // Changes as a whole.

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
    try (Topology topology = open();
        var _ = turn(topology.worker())) {
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
        for (DexServer server : all.servers) {
          space = space.withUnused(KeptNodes.of(server.allocator));
        }
        return space;
      }
    });
  }

  private long load(Topology topology, List<DexServer> servers, EntrySource entries, double fill) {
    long before = topology.catalogue().root();
    List<Long> emptied = topology.nodesOfEmptyTree(before);
    DexServer builder = servers.getFirst();
    BulkLoad.Built built = topology.replace(before, builder, entries, fill, current());
    setCurrent(built.partitioning());
    servers.forEach(server -> server.setRoot(built.root()));
    for (long address : emptied) {
      builder.allocator.free(topology.worker(), topology.message(), address);
    }
    return built.entries();
  }
}
