package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.CorruptNodeException;
import pando.index.EntrySource;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.load.BulkLoad;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/**
 * A B-link tree as Sherman, FG+ or P-Sherman: any number of compute servers in this process, joined
 * by a fabric to memory servers that may serve other processes as well.
 *
 * <p>Every compute server serves every key, and sessions are dealt to those of this process in
 * turn; with partitions, each key has one compute server, which must live in the process that asks.
 */
public final class ShermanIndex implements RangeIndex {
  private final Fabric fabric;
  private final ShermanOptions options;
  private final Validation validation;
  private final BLinkLayout layout;
  private final List<ShermanServer> servers = new ArrayList<>();
  private final List<ShermanWorker> workers = new ArrayList<>();
  private final Counts gone = new Counts();
  private volatile Partitioning partitioning;
  private volatile boolean closed;
  private int turn;

  private ShermanIndex(Fabric fabric, ShermanOptions options, int first, int count) {
    checkServers(options, first, count);
    this.fabric = fabric;
    this.options = options;
    this.layout = new BLinkLayout(options.nodeBytes());
    this.validation = resolve(fabric, options);
    this.partitioning = Partitioning.equalWidth(options.computeServers());
  }

  /** Returns how torn nodes are told, after checking that the fabric has what is needed. */
  static Validation resolve(Fabric fabric, ShermanOptions options) {
    Capabilities capabilities = fabric.capabilities();
    boolean landsByLine = capabilities.atomicityBytes() >= BLinkLayout.LINE_BYTES;
    Validation asked = options.validation();
    if (asked == Validation.LINES && !landsByLine) {
      throw new IllegalArgumentException(
          "validation=lines needs a fabric that lands 64 bytes as one: fabric="
              + fabric.name()
              + ", atomicityBytes="
              + capabilities.atomicityBytes());
    }
    if (asked == Validation.ORIGINAL && !fabric.name().equals("sim")) {
      throw new IllegalArgumentException(
          "validation=original loses keys, and runs in the simulator alone: fabric="
              + fabric.name());
    }
    if (!capabilities.maskedAtomics()) {
      throw new IllegalArgumentException(
          "locks need masked atomics: fabric=" + fabric.name() + ", maskedAtomics=false");
    }
    if (options.onChipLocks() && capabilities.onChipBytes() < Long.BYTES) {
      throw new IllegalArgumentException(
          "on-chip locks need an on-chip region: fabric="
              + fabric.name()
              + ", onChipBytes="
              + capabilities.onChipBytes());
    }
    if (asked != Validation.AUTO) {
      return asked;
    }
    return landsByLine ? Validation.LINES : Validation.CHECKSUM;
  }

  private static void checkServers(ShermanOptions options, int first, int count) {
    if (first < 0 || count < 1 || first > options.computeServers() - count) {
      throw new IllegalArgumentException(
          "no such compute servers: first="
              + first
              + ", count="
              + count
              + ", compute-servers="
              + options.computeServers());
    }
  }

  /**
   * Makes an empty index in a pool that has none, with every compute server in this process.
   *
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex create(Fabric fabric, ShermanOptions options) {
    return create(fabric, options, 0, options.computeServers());
  }

  /**
   * Makes an empty index in a pool that has none, with some of its compute servers in this process;
   * other processes {@link #join} with the rest.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds an index already
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex create(Fabric fabric, ShermanOptions options, int first, int count) {
    ShermanIndex index = new ShermanIndex(fabric, options, first, count);
    try (Change change = index.new Change()) {
      if (!change.catalogue.claim(options.nodeBytes())) {
        throw new IllegalStateException(
            "the pool holds an index already: join it, or use another pool");
      }
      try {
        index.start(change.worker, first, count);
        index.buildEmpty(change.catalogue);
      } catch (RuntimeException e) {
        index.closeServers(change);
        change.catalogue.unclaim(options.nodeBytes());
        throw e;
      }
    }
    return index;
  }

  private void buildEmpty(Catalogue catalogue) {
    try (ShermanLoader loader = new ShermanLoader(servers.getFirst(), fabric, validation, 1)) {
      try {
        for (int range = 0; range < partitioning.servers(); range++) {
          loader.startLeaf(partitioning.lowOfRange(range));
        }
        catalogue.setFirstRoot(loader.finish());
      } catch (RuntimeException e) {
        loader.abandon();
        throw e;
      }
      gone.add(loader.verbs());
    }
    catalogue.writePartitioning(partitioning);
  }

  /**
   * Joins an index that another process made in the same pool with the same options. A compute
   * server may live in one process at a time; that is up to the caller.
   *
   * @param first number of the first compute server that lives here
   * @param count how many live here, at least 1
   * @throws IllegalStateException where the pool holds no index, or one of other options
   * @throws IllegalArgumentException where the fabric lacks what the options need
   */
  public static ShermanIndex join(Fabric fabric, ShermanOptions options, int first, int count) {
    ShermanIndex index = new ShermanIndex(fabric, options, first, count);
    try (Change change = index.new Change()) {
      int nodeBytes = change.catalogue.nodeBytes();
      if (nodeBytes != options.nodeBytes()) {
        throw new IllegalStateException(
            "the pool holds no "
                + index.name()
                + " of this node size and validation: nodeBytes="
                + options.nodeBytes()
                + ", validation="
                + index.validation
                + ", found="
                + nodeBytes);
      }
      index.partitioning = change.catalogue.readPartitioning();
      index.start(change.worker, first, count);
    }
    return index;
  }

  private void start(Worker worker, int first, int count) {
    for (int number = first; number < first + count; number++) {
      ShermanServer server =
          new ShermanServer(number, fabric, options, layout, validation, worker.random());
      server.own(partitioning);
      servers.add(server);
    }
  }

  @Override
  public String name() {
    return options.system();
  }

  /** Returns how torn nodes are told, with {@link Validation#AUTO} resolved. */
  public Validation validation() {
    return validation;
  }

  @Override
  public Partitioning partitioning() {
    return partitioning;
  }

  @Override
  public boolean serves(long key) {
    return !options.isPartitioned() || local(partitioning.ownerOfKey(key)) != null;
  }

  private @Nullable ShermanServer local(int number) {
    int place = number - servers.getFirst().number;
    return place < 0 || place >= servers.size() ? null : servers.get(place);
  }

  @Override
  public synchronized Session session() {
    checkOpen();
    return options.isPartitioned()
        ? ShermanSession.partitioned(this)
        : ShermanSession.at(this, servers.get(turn++ % servers.size()).number);
  }

  /** Opens a worker of a compute server, or returns {@code null} where it does not live here. */
  synchronized @Nullable ShermanWorker worker(int number) {
    checkOpen();
    ShermanServer server = local(number);
    if (server == null) {
      return null;
    }
    ShermanWorker worker = new ShermanWorker(server, fabric, validation);
    workers.add(worker);
    return worker;
  }

  /** Ends a worker. Does nothing for one that has ended. */
  synchronized void retire(ShermanWorker worker) {
    if (workers.remove(worker)) {
      gone.add(worker);
      worker.close();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the index is closed");
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>To be called before other processes join, and while no session is used.
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    Objects.requireNonNull(entries, "entries");
    if (!(fill > 0 && fill <= 1)) {
      throw new IllegalArgumentException("fill must be above 0 and at most 1: fill=" + fill);
    }
    checkOpen();
    try (Change change = new Change()) {
      long before = change.catalogue.root();
      List<Long> emptied = new ArrayList<>();
      change.collectEmpty(before, emptied);
      BulkLoad.Built built = build(entries, fill);
      change.catalogue.swapRoot(before, built.root());
      change.catalogue.writePartitioning(built.partitioning());
      partitioning = built.partitioning();
      for (ShermanServer server : servers) {
        server.own(partitioning);
        server.setRoot(0, change.worker.backoff());
        server.lower.clear(change.worker.backoff());
      }
      emptied.forEach(change::free);
      return built.entries();
    }
  }

  private BulkLoad.Built build(EntrySource entries, double fill) {
    try (ShermanLoader loader = new ShermanLoader(servers.getFirst(), fabric, validation, fill)) {
      try {
        BulkLoad.Built built = BulkLoad.run(loader, entries, partitioning);
        gone.add(loader.verbs());
        return built;
      } catch (RuntimeException e) {
        loader.abandon();
        throw e;
      }
    }
  }

  @Override
  public VerbCounters verbs() {
    return counts().verbs;
  }

  @Override
  public CacheCounters cache() {
    return counts().cacheCounters();
  }

  private synchronized Counts counts() {
    Counts counts = new Counts();
    counts.add(gone);
    workers.forEach(counts::add);
    servers.forEach(server -> counts.evictions += server.lower.evictions());
    return counts;
  }

  @Override
  public long poolBytes() {
    return servers.stream().mapToLong(server -> server.allocator.nodesInUse()).sum()
        * layout.nodeBytes();
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    try (Change change = new Change()) {
      closeServers(change);
    }
  }

  private synchronized void closeServers(Change change) {
    closed = true;
    List.copyOf(workers).forEach(this::retire);
    RuntimeException failure = null;
    for (ShermanServer server : servers) {
      try {
        server.allocator.trim(change.worker, change.message);
      } catch (RuntimeException e) {
        failure = e;
      }
      server.close();
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** A change of the index as a whole, by one caller at a time in any process. */
  private final class Change implements AutoCloseable {
    private final RegisteredMemory registered;
    private final Worker worker;
    private final MemorySegment memory;
    private final long message;
    private final Catalogue catalogue;
    private final long owner;

    Change() {
      message = layout.nodeBytes();
      registered = fabric.register(message + Worker.CALL_BYTES_MAX);
      worker = fabric.worker(registered);
      memory = registered.segment();
      catalogue =
          new Catalogue(
              worker,
              message,
              new NodePlaces(fabric, layout.nodeBytes()),
              ShermanServer.system(options, validation));
      owner = worker.random().nextLong() | 1;
      catalogue.lockPartitions(owner);
    }

    /** Collects the nodes of a tree that has no entries, level by level. */
    void collectEmpty(long root, List<Long> addresses) {
      long first = Catalogue.rootAddress(root);
      for (int level = Catalogue.rootLevel(root); level >= 0; level--) {
        first = collectLevel(first, level, addresses);
      }
    }

    /** Collects a level along its siblings; returns the first node of the level below. */
    private long collectLevel(long first, int level, List<Long> addresses) {
      Nodes nodes = nodes();
      long address = first;
      long low = Long.MIN_VALUE;
      long below = GlobalAddress.NULL;
      while (address != GlobalAddress.NULL) {
        if (nodes.readHeld(address, level, low, 0) != Nodes.COVERS) {
          throw new CorruptNodeException(address, "is not the node that covers key=" + low);
        }
        if (level == 0 && layout.entries(memory, 0) > 0) {
          throw new IllegalStateException(
              "the index is not empty: leaf=" + GlobalAddress.toString(address));
        }
        if (level > 0 && address == first) {
          below = BLinkLayout.slot(memory, 0, 0);
        }
        addresses.add(address);
        low = BLinkLayout.high(memory, 0) + 1;
        address = BLinkLayout.sibling(memory, 0);
      }
      return below;
    }

    private Nodes nodes() {
      ShermanServer server = servers.getFirst();
      NodeLocks none = new NodeLocks(server, validation, 0, worker, message);
      return new Nodes(server, validation, none, worker, message);
    }

    /** Frees a node that nothing points to any more. */
    void free(long address) {
      ShermanServer server = servers.getFirst();
      Nodes nodes = nodes();
      worker.read(address + BLinkLayout.IMAGE, BLinkLayout.IMAGE, layout.imageBytes());
      BLinkLayout.free(memory, 0);
      VerbList list = new VerbList();
      nodes.addNode(list, 0);
      worker.post(list);
      server.allocator.free(worker, message, address);
    }

    @Override
    public void close() {
      try {
        catalogue.unlockPartitions(owner);
      } finally {
        gone.add(worker.counters());
        worker.close();
        registered.close();
      }
    }
  }

  /** Sums of what workers have counted. */
  private static final class Counts {
    private final VerbCounters verbs = new VerbCounters();
    private long leafHits;
    private long leafMisses;
    private long innerReads;
    private long restarts;
    private long evictions;

    void add(VerbCounters other) {
      verbs.add(other);
    }

    void add(ShermanWorker worker) {
      Descent descent = worker.descent();
      verbs.add(worker.worker().counters());
      leafHits += descent.leafHits;
      leafMisses += descent.leafMisses;
      innerReads += descent.innerReads;
      restarts += descent.restarts;
    }

    void add(Counts other) {
      verbs.add(other.verbs);
      leafHits += other.leafHits;
      leafMisses += other.leafMisses;
      innerReads += other.innerReads;
      restarts += other.restarts;
    }

    CacheCounters cacheCounters() {
      return new CacheCounters(
          leafHits, leafMisses, innerReads, innerReads, 0, 0, evictions, 0, 0, 0, restarts);
    }
  }
}
