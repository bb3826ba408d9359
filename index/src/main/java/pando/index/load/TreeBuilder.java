package pando.index.load;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.pool.NodeAllocator;
import pando.index.pool.Catalogue;
import pando.index.pool.Workers;

/**
 * Builds a tree from the leaves upwards, out of entries in ascending order. Nodes are filled to a
 * share of their capacity and written once; the root is an inner node even where one leaf would do.
 *
 * <p>A system implements the abstract methods: the layout of its nodes and how one is written.
 */
public abstract class TreeBuilder implements Loader {
  /*
   * Each level has one open node, in a buffer of its own. A new leaf starts a new node on every level
   * whose parent is full, up to the first that has room. All are allocated together, so that a node
   * that is closed can be given its sibling. They are closed from the leaf up, so that a node is still
   * open when its last child is written, and opened from the highest down, so that each finds room in
   * the open node above it.
   */

  private final NodeAllocator allocator;
  private final int nodeBytes;
  private final int perLeaf;
  private final int perInner;
  private final RegisteredMemory registered;
  private final Worker worker;

  private final long[] first = new long[Catalogue.LEVELS_MAX];
  private final long[] next = new long[Catalogue.LEVELS_MAX];
  private final int[] counts = new int[Catalogue.LEVELS_MAX];
  private final int memoryServers;
  private long turn;
  private int levels;

  private long[] addresses = new long[1024];
  private int nodes;

  private final FenceSample fences = new FenceSample();

  /**
   * Begins a tree.
   *
   * @param allocator of nodes of {@code nodeBytes}
   * @param capacity entries of a full leaf, and children of a full inner node
   * @param fill share of the capacity to use
   */
  protected TreeBuilder(
      Fabric fabric, NodeAllocator allocator, int nodeBytes, int capacity, double fill) {
    this.allocator = allocator;
    this.memoryServers = fabric.memoryServers();
    this.nodeBytes = nodeBytes;
    this.perLeaf = Math.max(1, (int) Math.round(capacity * fill));
    this.perInner = Math.max(2, (int) Math.round(capacity * fill));
    this.registered = fabric.register(buffer(Catalogue.LEVELS_MAX) + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
  }

  /**
   * Allocates a node for each level from {@code lowest} to {@code highest}, by {@link
   * #allocate(int, int)}, in any order. Nodes go to the memory servers in turn, unless a system
   * overrides this.
   */
  protected void place(int lowest, int highest) {
    for (int level = lowest; level <= highest; level++) {
      allocate(level, nextServer());
    }
  }

  /** Returns the memory server that is next in turn. */
  protected final int nextServer() {
    return (int) (turn++ % memoryServers);
  }

  /** Formats an empty node that covers the keys from {@code low} on. */
  protected abstract void format(long node, long address, int level, long low);

  /**
   * Adds an entry or a child, whose key is above all others in the node.
   *
   * @return {@code false} if a leaf has no room for this key, although it has fewer entries than
   *     its capacity
   */
  protected abstract boolean append(long node, long key, long slot);

  /**
   * Writes a node to the pool.
   *
   * @param high the greatest key that it covers
   * @param sibling address of the next node of the level, {@code NULL} if there is none
   */
  protected abstract void write(long node, long high, long sibling);

  /** Allocates the next node of a level on a memory server. */
  protected final void allocate(int level, int memoryServer) {
    if (nodes == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * nodes);
    }
    long address = allocator.allocate(worker, message(), memoryServer);
    addresses[nodes++] = address;
    next[level] = address;
  }

  /** Returns the worker that writes. */
  protected final Worker worker() {
    return worker;
  }

  /** Returns the local memory in which nodes are built. */
  protected final MemorySegment memory() {
    return registered.segment();
  }

  @Override
  public final int perLeaf() {
    return perLeaf;
  }

  @Override
  public final void add(long key, long value) {
    if (levels == 0 || counts[0] == perLeaf) {
      startLeaf(key);
    }
    if (!append(buffer(0), key, value)) {
      startLeaf(key);
      append(buffer(0), key, value);
    }
    counts[0]++;
  }

  @Override
  public final void startLeaf(long low) {
    if (levels == 0) {
      fences.add(Long.MIN_VALUE);
      grow();
      return;
    }
    fences.add(low);
    int highest = 0;
    while (highest + 1 < levels && counts[highest + 1] == perInner) {
      highest++;
    }
    boolean grows = highest + 1 == levels;
    place(0, grows ? levels : highest);
    if (grows) {
      openTop();
    }
    for (int level = 0; level <= highest; level++) {
      write(buffer(level), low - 1, next[level]);
    }
    for (int level = highest; level >= 0; level--) {
      open(level, low);
      insert(level + 1, low, next[level]);
    }
  }

  @Override
  public final long finish() {
    while (levels < 2) {
      grow();
    }
    for (int level = 0; level < levels; level++) {
      write(buffer(level), Long.MAX_VALUE, GlobalAddress.NULL);
    }
    return first[levels - 1] | (levels - 1);
  }

  @Override
  public final long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  @Override
  public final void abandon(Throwable failure) {
    Loader.giveBackAll(
        failure, () -> nodes > 0, () -> allocator.free(worker, message(), addresses[--nodes]));
  }

  @Override
  public final VerbCounters verbs() {
    return worker.counters();
  }

  @Override
  public final void close() {
    Closing.all(worker::close, registered::close);
  }

  /** Adds a level above the highest. */
  private void grow() {
    place(levels, levels);
    openTop();
  }

  private void openTop() {
    int level = levels++;
    first[level] = next[level];
    open(level, Long.MIN_VALUE);
    if (level > 0) {
      insert(level, Long.MIN_VALUE, first[level - 1]);
    }
  }

  private void open(int level, long low) {
    format(buffer(level), next[level], level, low);
    counts[level] = 0;
  }

  private void insert(int level, long key, long slot) {
    append(buffer(level), key, slot);
    counts[level]++;
  }

  private long buffer(int level) {
    return (long) level * nodeBytes;
  }

  /** Returns the local offset of the buffer for the message of a CALL. */
  protected final long message() {
    return buffer(Catalogue.LEVELS_MAX);
  }
}
