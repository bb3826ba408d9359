package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.session.SizeEstimate;

/**
 * Estimates how many entries there are: by all nodes from the root down, as long as there are few,
 * and by ways down from those that are drawn at random. On such a way, a node's leaves count all,
 * and for its inner nodes one is drawn. Takes no lock.
 */
final class SmartSize {
  /** Nodes of a level that are READ all. */
  private static final int NODES_MAX = 2_048;

  /** Nodes that are READ together. */
  private static final int TOGETHER = Descent.LEVELS_MAX;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();
  private final SizeEstimate estimate = new SizeEstimate();

  /** The slot of a node that is READ alone. */
  private final long[] one = new long[1];

  /** Slots of the lowest inner nodes that are known all. */
  private long[] known = new long[256];

  private int knownCount;

  /** Slots of the inner nodes below the node that was READ, and the number of its leaves. */
  private final long[] below = new long[256];

  private int belowCount;
  private int leaves;

  // The range that counts.
  private long low;
  private long high;

  SmartSize(SmartContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
  }

  /** Returns about how many entries have a key from one to another, both inclusive. */
  double of(long least, long greatest) {
    low = least;
    high = greatest;
    known[0] = Slot.node(0, NodeLayout.FULL, context.server.root());
    knownCount = 1;
    double size = 0;
    while (knownCount > 0 && knownCount <= NODES_MAX) {
      size += readKnown();
    }
    if (knownCount > 0) {
      estimate.clear();
      while (!estimate.isEnough()) {
        estimate.add((double) knownCount * draw());
      }
      size += estimate.mean();
    }
    return size;
  }

  /** READs all known nodes; those below take their places. Returns the number of their leaves. */
  private long readKnown() {
    long[] nodes = Arrays.copyOf(known, knownCount);
    long found = 0;
    knownCount = 0;
    for (int first = 0; first < nodes.length; first += TOGETHER) {
      int count = Math.min(TOGETHER, nodes.length - first);
      read(nodes, first, count);
      for (int i = 0; i < count; i++) {
        take(nodes[first + i], context.image(i));
        found += leaves;
        addBelow();
      }
    }
    return found;
  }

  private void addBelow() {
    if (knownCount + belowCount > known.length) {
      known = Arrays.copyOf(known, 2 * (knownCount + belowCount));
    }
    System.arraycopy(below, 0, known, knownCount, belowCount);
    knownCount += belowCount;
  }

  /** Draws a known node and a way down from it; returns how many leaves the node so has. */
  private double draw() {
    one[0] = known[worker.random().nextInt(knownCount)];
    double size = 0;
    for (double share = 1; ; share *= belowCount) {
      read(one, 0, 1);
      take(one[0], context.image(0));
      size += share * leaves;
      if (belowCount == 0) {
        return size;
      }
      one[0] = below[worker.random().nextInt(belowCount)];
    }
  }

  /**
   * READs nodes to which slots led that were READ in this operation. Even if one has been replaced
   * meanwhile, its place is no other node's yet.
   */
  private void read(long[] nodes, int first, int count) {
    list.clear();
    for (int i = 0; i < count; i++) {
      long address = Slot.address(nodes[first + i]);
      int bytes = NodeLayout.bytes(Math.min(Slot.type(nodes[first + i]), NodeLayout.FULL));
      context.checkPlace(address, bytes);
      list.read(address, context.image(i), bytes);
    }
    context.counters.innerReads += count;
    worker.scatter(list);
  }

  /** Takes a node that was READ as far as its slot said; READs the rest if it has grown. */
  private void take(long node, long image) {
    long address = Slot.address(node);
    long header = NodeLayout.header(memory, image);
    if (!NodeLayout.isLegal(header)) {
      throw new CorruptNodeException(address, "no node: header=0x" + Long.toHexString(header));
    }
    int bytes = NodeLayout.bytes(Math.min(Slot.type(node), NodeLayout.FULL));
    int all = NodeLayout.bytes(NodeLayout.type(header));
    if (all > bytes) {
      context.checkPlace(address, all);
      context.counters.innerReads++;
      worker.read(address + bytes, image + bytes, all - bytes);
    }
    countSlots(header, image);
  }

  private void countSlots(long header, long image) {
    belowCount = 0;
    leaves = 0;
    int depth = NodeLayout.depth(header);
    for (int i = 0; i < NodeLayout.capacity(NodeLayout.type(header)); i++) {
      long slot = NodeLayout.slot(memory, image, i);
      long part = KeyPath.child(NodeLayout.prefix(header), depth, Slot.byteOf(slot));
      long first = KeyPath.key(part);
      long last = KeyPath.key(KeyPath.greatest(part, depth + 1));
      if (!Slot.hasChild(slot) || first > high || last < low) {
        continue;
      }
      if (Slot.kind(slot) == Slot.NODE) {
        below[belowCount++] = slot;
      } else if ((first >= low && last <= high) || isInRange(Slot.address(slot))) {
        leaves++;
      }
    }
  }

  /**
   * Returns whether the key of a leaf is in the range, where its part of the keys is only partly.
   */
  private boolean isInRange(long address) {
    context.checkPlace(address, LeafLayout.PLACE_BYTES);
    context.counters.leafMisses++;
    worker.read(address, context.leaf, LeafLayout.BYTES);
    long key = LeafLayout.key(memory, context.leaf);
    return key >= low && key <= high;
  }
}
