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

  /** The lowest inner nodes that are known all, and those that were so before. */
  private Slots known = new Slots();

  private Slots before = new Slots();

  /** The one on a way down. */
  private final Slots drawn = new Slots();

  /** Those below the node that was READ, and the number of its leaves. */
  private final Slots below = new Slots();

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
    known.count = 0;
    known.add(Slot.node(0, NodeLayout.FULL, context.server.root()), 0, 0);
    double size = 0;
    while (known.count > 0 && known.count <= NODES_MAX) {
      size += readKnown();
    }
    if (known.count > 0) {
      estimate.clear();
      while (!estimate.isEnough()) {
        estimate.add((double) known.count * draw());
      }
      size += estimate.mean();
    }
    return size;
  }

  /** READs all known nodes; those below take their places. Returns the number of their leaves. */
  private long readKnown() {
    Slots nodes = known;
    known = before;
    before = nodes;
    known.count = 0;
    long found = 0;
    for (int first = 0; first < nodes.count; first += TOGETHER) {
      int count = Math.min(TOGETHER, nodes.count - first);
      read(nodes, first, count);
      for (int i = 0; i < count; i++) {
        take(nodes, first + i, context.image(i));
        found += leaves;
        for (int child = 0; child < below.count; child++) {
          known.add(below, child);
        }
      }
    }
    return found;
  }

  /** Draws a known node and a way down from it; returns how many leaves the node so has. */
  private double draw() {
    Slots from = known;
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
   * READs nodes to which slots led that were READ in this operation. Even if one has been replaced
   * meanwhile, its place is no other node's yet.
   */
  private void read(Slots nodes, int first, int count) {
    list.clear();
    for (int i = 0; i < count; i++) {
      long slot = nodes.slots[first + i];
      long address = Slot.address(slot);
      int bytes = NodeLayout.bytes(Math.min(Slot.type(slot), NodeLayout.FULL));
      context.checkPlace(address, bytes);
      list.read(address, context.image(i), bytes);
    }
    context.counters.innerReads += count;
    worker.scatter(list);
  }

  /** Takes a node that was READ as far as its slot said; READs the rest if it has grown. */
  private void take(Slots nodes, int number, long image) {
    long slot = nodes.slots[number];
    long address = Slot.address(slot);
    long header = NodeLayout.header(memory, image);
    if (!NodeLayout.isBelow(header, nodes.prefixes[number], nodes.depths[number])) {
      throw new CorruptNodeException(address, "no node: header=0x" + Long.toHexString(header));
    }
    int bytes = NodeLayout.bytes(Math.min(Slot.type(slot), NodeLayout.FULL));
    int all = NodeLayout.bytes(NodeLayout.type(header));
    if (all > bytes) {
      context.checkPlace(address, all);
      context.counters.innerReads++;
      worker.read(address + bytes, image + bytes, all - bytes);
    }
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
