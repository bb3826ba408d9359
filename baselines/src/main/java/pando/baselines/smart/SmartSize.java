package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.session.SizeEstimate;

/**
 * Estimates how many entries there are. From the root down it READs whole levels of nodes, and
 * counts their leaves, as long as a level has few nodes. Then it draws nodes of the next level at
 * random, and from each a way down: it counts all leaves of a node on the way, and goes on to one
 * of the node's inner nodes, drawn at random, which stands for all of them. Takes no lock.
 */
final class SmartSize {
  /** Greatest number of nodes of a level that is READ as a whole. */
  private static final int NODES_MAX = 2_048;

  /** Nodes that are READ together. */
  private static final int TOGETHER = Descent.LEVELS_MAX;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();
  private final SizeEstimate estimate = new SizeEstimate();

  /** Slots with inner nodes. */
  private static final class Slots {
    long[] slots = new long[256];

    /** By slot, the bytes that all paths below begin with. */
    long[] prefixes = new long[256];

    /** By slot, the number of these bytes. */
    int[] depths = new int[256];

    int count;

    void add(long slot, long prefix, int depth) {
      if (count == slots.length) {
        slots = Arrays.copyOf(slots, 2 * count);
        prefixes = Arrays.copyOf(prefixes, 2 * count);
        depths = Arrays.copyOf(depths, 2 * count);
      }
      slots[count] = slot;
      prefixes[count] = prefix;
      depths[count++] = depth;
    }

    void add(Slots others, int number) {
      add(others.slots[number], others.prefixes[number], others.depths[number]);
    }
  }

  /** All nodes of the lowest level that was reached. */
  private Slots lowest = new Slots();

  /** The level before. */
  private Slots before = new Slots();

  /** The node on a way down. */
  private final Slots drawn = new Slots();

  /** The inner nodes below the node that was READ last. */
  private final Slots below = new Slots();

  /** How many leaves of that node are in the range. */
  private int leaves;

  // The range that is counted, both inclusive.
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
    lowest.count = 0;
    lowest.add(Slot.node(0, NodeLayout.FULL, context.server.root()), 0, 0);
    double size = 0;
    while (lowest.count > 0 && lowest.count <= NODES_MAX) {
      size += readLowest();
    }
    if (lowest.count > 0) {
      estimate.clear();
      while (!estimate.isEnough()) {
        estimate.add((double) lowest.count * draw());
      }
      size += estimate.mean();
    }
    return size;
  }

  /** READs the lowest level, and goes one level down; returns how many leaves are in the range. */
  private long readLowest() {
    Slots nodes = lowest;
    lowest = before;
    before = nodes;
    lowest.count = 0;
    long found = 0;
    for (int first = 0; first < nodes.count; first += TOGETHER) {
      int count = Math.min(TOGETHER, nodes.count - first);
      read(nodes, first, count);
      for (int i = 0; i < count; i++) {
        take(nodes, first + i, context.image(i));
        found += leaves;
        for (int child = 0; child < below.count; child++) {
          lowest.add(below, child);
        }
      }
    }
    return found;
  }

  /**
   * Draws a node of the lowest level, and a way down from it; returns an estimate of the leaves
   * below it.
   */
  private double draw() {
    Slots from = lowest;
    double size = 0;
    for (double share = 1; ; share *= below.count) {
      drawn.count = 0;
      drawn.add(from, worker.random().nextInt(from.count));
      read(drawn, 0, 1);
      take(drawn, 0, context.image(0));
      size += share * leaves;
      if (below.count == 0) {
        return size;
      }
      from = below;
    }
  }

  /**
   * READs the nodes of slots that were READ in this operation. A node may have been replaced since,
   * but before the operation ends its place is not used again.
   */
  private void read(Slots nodes, int first, int count) {
    list.clear();
    for (int i = 0; i < count; i++) {
      long slot = nodes.slots[first + i];
      long address = Slot.address(slot);
      int bytes = Slot.nodeBytes(slot);
      context.checkPlace(address, bytes);
      list.read(address, context.image(i), bytes);
    }
    context.counters.innerReads += count;
    worker.scatter(list);
  }

  /** Looks at a node that was READ in the size that its slot says, and READs the rest. */
  private void take(Slots nodes, int number, long image) {
    long slot = nodes.slots[number];
    long address = Slot.address(slot);
    long header = NodeLayout.header(memory, image);
    if (!NodeLayout.isBelow(header, nodes.prefixes[number], nodes.depths[number])) {
      throw new CorruptNodeException(address, "no node: header=0x" + Long.toHexString(header));
    }
    context.readRest(address, image, Slot.nodeBytes(slot));
    countSlots(header, image);
  }

  private void countSlots(long header, long image) {
    below.count = 0;
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
        below.add(slot, part, depth + 1);
      } else if ((first >= low && last <= high) || isInRange(Slot.address(slot))) {
        leaves++;
      }
    }
  }

  /**
   * READs a leaf whose byte allows keys inside and outside the range; returns whether it is inside.
   */
  private boolean isInRange(long address) {
    context.checkPlace(address, LeafLayout.PLACE_BYTES);
    context.counters.leafMisses++;
    worker.read(address, context.leaf, LeafLayout.BYTES);
    long key = LeafLayout.key(memory, context.leaf);
    return key >= low && key <= high;
  }
}
