package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.load.FenceSample;
import pando.index.load.Loader;
import pando.index.pool.Catalogue;
import pando.index.pool.Workers;

/**
 * Builds a whole tree out of entries in ascending order of their keys. It keeps a stack of the
 * nodes on the way to the last key; a node is written when a key comes that is not below it.
 *
 * <pre>
 *   root  -  node  -  node            the open nodes, each the last child of the one before
 *     \        \        \
 *      slots    slots    leaf, leaf, last leaf      written already: what is left of the way
 * </pre>
 *
 * <p>The last leaf has no slot yet: the next key says at which depth the two part.
 */
final class SmartLoader implements Loader {
  private static final int LEAVES_TO_A_LIST = 32;

  private final SmartServer server;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final long message;
  private final FenceSample fences = new FenceSample();
  private final VerbList list = new VerbList();

  /** Slots of the open nodes, by level. */
  private final long[][] slots = new long[KeyPath.BYTES][256];

  private final int[] counts = new int[KeyPath.BYTES];
  private final int[] depths = new int[KeyPath.BYTES];
  private final long[] prefixes = new long[KeyPath.BYTES];

  /** Memory server of each open node. */
  private final int[] servers = new int[KeyPath.BYTES];

  private int open;
  private int nodes;

  /** The last child that has no slot yet: a leaf. */
  private long lastSlot;

  private long lastPath;
  private boolean hasLast;

  /** All places that were allocated, a leaf's with the lowest bit set, a node's with its type. */
  private long[] places = new long[1024];

  private int allocated;

  SmartLoader(SmartServer server, Fabric fabric) {
    this.server = server;
    long leaves = (long) LEAVES_TO_A_LIST * LeafLayout.REVERSED_BYTES;
    this.message = Reserve.LARGE_BYTES + leaves;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.memory = worker.memory();
    push(0, 0);
  }

  private void push(int depth, long prefix) {
    counts[open] = 0;
    depths[open] = depth;
    prefixes[open] = prefix;
    servers[open] = server.space.inTurn(nodes++);
    open++;
  }

  @Override
  public int perLeaf() {
    return 1;
  }

  /** {@inheritDoc} Does nothing: every key can be a bound. */
  @Override
  public void startLeaf(long low) {}

  @Override
  public void add(long key, long value) {
    fences.add(hasLast ? key : Long.MIN_VALUE);
    long path = KeyPath.of(key);
    if (hasLast) {
      settle(path);
    }
    lastSlot = leaf(key, value);
    lastPath = path;
    hasLast = true;
  }

  /** Gives the last child a slot, at the depth where the next path parts from it. */
  private void settle(long path) {
    int depth = KeyPath.common(path, lastPath);
    if (depth > depths[open - 1]) {
      push(depth, KeyPath.prefix(path, depth));
    }
    attach();
    while (depths[open - 1] > depth) {
      closeNode(depth);
    }
  }

  private void attach() {
    int level = open - 1;
    int firstByte = KeyPath.byteAt(lastPath, depths[level]);
    slots[level][counts[level]++] = Slot.withByte(lastSlot, firstByte);
    hasLast = false;
  }

  /**
   * Writes the last open node, and gives it a slot in the one above it, or in a new one.
   *
   * @param depth where the next path parts from the node's
   */
  private void closeNode(int depth) {
    int level = open - 1;
    long prefix = prefixes[level];
    long slot = node(level);
    open--;
    if (depths[open - 1] < depth) {
      push(depth, KeyPath.prefix(prefix, depth));
    }
    int above = open - 1;
    slots[above][counts[above]++] = Slot.withByte(slot, KeyPath.byteAt(prefix, depths[above]));
  }

  private long leaf(long key, long value) {
    long at = Reserve.LARGE_BYTES + (long) list.size() * LeafLayout.REVERSED_BYTES;
    long place = server.space.allocateLeaf(worker, message, servers[open - 1]);
    allocated(place | 1);
    long counter = worker.random().nextLong();
    LeafLayout.set(memory, at, key, value, LeafLayout.state(0, LeafLayout.LIVE, counter));
    list.write(place, at, server.leafBytes);
    if (list.size() == LEAVES_TO_A_LIST) {
      writeLeaves();
    }
    return Slot.leaf(0, place);
  }

  private void writeLeaves() {
    if (list.size() > 0) {
      worker.scatter(list);
      list.clear();
    }
  }

  private long node(int level) {
    int type = level == 0 ? NodeLayout.FULL : NodeLayout.typeFor(counts[level]);
    long place = server.space.allocateNode(type, worker, message, servers[level]);
    allocated(place | ((long) type << 1));
    memory.asSlice(0, NodeLayout.BYTES_MAX).fill((byte) 0);
    long header = NodeLayout.header(type, NodeLayout.LIVE, depths[level], prefixes[level]);
    NodeLayout.begin(memory, 0, server.nextId(), header);
    for (int i = 0; i < counts[level]; i++) {
      NodeLayout.setSlot(memory, 0, i, slots[level][i]);
    }
    int bytes = Math.min(server.reserve.placeBytes(type), NodeLayout.BYTES_MAX);
    worker.write(place, 0, bytes);
    return Slot.node(0, type, place);
  }

  private void allocated(long place) {
    if (allocated == places.length) {
      places = Arrays.copyOf(places, 2 * allocated);
    }
    places[allocated++] = place;
  }

  @Override
  public long finish() {
    if (hasLast) {
      attach();
    }
    while (open > 1) {
      closeNode(depths[open - 2]);
    }
    writeLeaves();
    return Slot.address(node(0)) | Catalogue.ROOT_LEVEL_MIN;
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  @Override
  public void abandon(Throwable failure) {
    Loader.giveBackAll(failure, () -> allocated > 0, () -> giveBack(places[--allocated]));
  }

  private void giveBack(long place) {
    long address = place & -LeafLayout.PLACE_BYTES;
    if ((place & 1) != 0) {
      server.space.freeLeaf(worker, message, address);
    } else {
      int type = (int) (place & (LeafLayout.PLACE_BYTES - 1)) >>> 1;
      server.space.freeNode(type, worker, message, address);
    }
  }

  @Override
  public VerbCounters verbs() {
    return worker.counters();
  }

  @Override
  public void close() {
    Closing.all(worker::close, registered::close);
  }
}
