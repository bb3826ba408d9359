package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.LocalMemory;

/**
 * Collects the entries that follow a path, in the order of paths or against it, by nodes and leaves
 * that are READ now.
 *
 * <p><b>From the deepest node outwards.</b> A descent READs the nodes around the first path. Their
 * slots beyond that path, the deepest node's first, are a list of <i>items</i> in the order of the
 * search: each has all entries of its own part of the keys. Then, round by round, one scatter READs
 * the first items: leaves, which become entries or vanish, and inner nodes, which are replaced by
 * their own slots. The list is cut behind as many items as the caller needs entries, and before an
 * inner node that is being replaced or is not live yet: the next descent to it completes that, or
 * goes on through it.
 *
 * <p><b>What the answer means.</b> Slots were in the tree when they were READ: their node was not
 * frozen, or the slot that led to it is the same since. A key that no slot had room for was absent
 * at that moment. A leaf that was dead when it was READ died before that, and no other leaf could
 * be below its byte while its slot led to it. So each key was as the answer has it at some moment
 * between the beginning and the end of the call.
 */
final class LeafCollector {
  /** Greatest number of leaves that are READ together. */
  static final int LEAVES = 64;

  /** Greatest number of inner nodes that are READ together. */
  private static final int NODES = 8;

  /** Sees all that is collected from. */
  interface Observer {
    /** Nobody looks. */
    Observer NONE =
        new Observer() {
          @Override
          public void node(long address, long image) {}

          @Override
          public boolean leaf(long address, long image) {
            return true;
          }
        };

    /** Called for each inner node whose slots are used. */
    void node(long address, long image);

    /**
     * Called for each leaf that was READ, before it is known to be whole; returns whether its entry
     * is of use.
     */
    boolean leaf(long address, long image);
  }

  /** A part of the keys in the order of the search: a slot, or an entry that was found. */
  private static final class Items {
    /** Slots with a child; {@link Slot#NEVER} for an entry. */
    long[] slots = new long[256];

    /** The path of an entry; the least path of a slot's part. */
    long[] paths = new long[256];

    /**
     * The value of an entry; the number of bytes that the paths of a slot's part have in common.
     */
    long[] values = new long[256];

    int count;

    void add(long slot, long path, long value) {
      if (count == slots.length) {
        slots = Arrays.copyOf(slots, 2 * count);
        paths = Arrays.copyOf(paths, 2 * count);
        values = Arrays.copyOf(values, 2 * count);
      }
      slots[count] = slot;
      paths[count] = path;
      values[count++] = value;
    }
  }

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final long nodes;
  private final long leaves;
  private final VerbList list = new VerbList();

  /** What {@link HeldPlaces#number} was before each node was READ. */
  private final int[] numbers = new int[NODES];

  /** By byte, the slot with a child; all are {@link Slot#NEVER} between two uses. */
  private final long[] byByte = new long[256];

  private Items items = new Items();
  private Items before = new Items();

  // The search.
  private Observer observer = Observer.NONE;
  private long from;
  private long to;
  private boolean down;
  private int wanted;

  /** How many entries the items have at the least, as far as is known. */
  private int expected;

  /** Whether the list was cut, so that no more items follow. */
  private boolean cut;

  private long end;
  private int topDepth;

  LeafCollector(SmartContext context, long region) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.nodes = region;
    this.leaves = region + (long) NODES * Reserve.LARGE_BYTES;
  }

  /** Adds the region of local memory that it needs; returns its offset. */
  static long region(LocalMemory local) {
    return local.region((long) NODES * Reserve.LARGE_BYTES + (long) LEAVES * LeafLayout.BYTES);
  }

  /**
   * Collects entries.
   *
   * @param first the first path that counts
   * @param last the last path that counts
   * @param against whether to go against the order of paths, so that {@code last <= first}
   * @param most about how many entries are needed, 1 at least
   * @param below the uppermost node that is looked at has a path of fewer bytes; {@link
   *     KeyPath#BYTES} for the deepest of which there is a copy
   * @param seer sees what is READ
   */
  void collect(long first, long last, boolean against, int most, int below, Observer seer) {
    from = first;
    to = last;
    down = against;
    wanted = most;
    observer = seer;
    items.count = 0;
    expected = 0;
    cut = false;
    begin(below);
    while (readItems() > 0) {
      takeItems();
    }
  }

  /** READs the nodes around the first path, and makes items of their slots. */
  private void begin(int below) {
    Descent descent = context.descent;
    descent.findNodes(from, below);
    int top = 0;
    topDepth = descent.depth(top);
    long prefix = NodeLayout.prefix(NodeLayout.header(memory, context.image(top)));
    end = down ? prefix : KeyPath.greatest(prefix, topDepth);
    int deepest = descent.levels() - 1;
    int level = deepest;
    for (; level >= 0 && !cut; level--) {
      int first = KeyPath.byteAt(from, descent.depth(level));
      // The slot that leads to the node below is done.
      int past = level == deepest ? 0 : down ? -1 : 1;
      addSlots(descent.address(level), context.image(level), first + past);
    }
    // A frozen node is in the tree as long as the one above leads to it.
    for (; level >= 0 && descent.isFrozen(level + 1); level--) {
      observer.node(descent.address(level), context.image(level));
    }
  }

  /** Adds the children of a node from a byte on. */
  private void addSlots(long address, long image, int first) {
    observer.node(address, image);
    long header = NodeLayout.header(memory, image);
    long prefix = NodeLayout.prefix(header);
    int depth = NodeLayout.depth(header);
    sort(image, NodeLayout.capacity(NodeLayout.type(header)));
    int step = down ? -1 : 1;
    for (int b = first; b >= 0 && b < 256 && !cut; b += step) {
      if (byByte[b] != Slot.NEVER) {
        add(byByte[b], KeyPath.child(prefix, depth, b), depth + 1);
      }
    }
    Arrays.fill(byByte, Slot.NEVER);
  }

  private void sort(long image, int capacity) {
    for (int i = 0; i < capacity; i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.hasChild(slot)) {
        byByte[Slot.byteOf(slot)] = slot;
      }
    }
  }

  private static boolean isLess(long one, long other) {
    return Long.compareUnsigned(one, other) < 0;
  }

  /** Adds a slot, or cuts the list before it: it is beyond the last path, or not needed. */
  private void add(long slot, long path, int depth) {
    long greatest = KeyPath.greatest(path, depth);
    if (expected >= wanted || (down ? isLess(greatest, to) : isLess(to, path))) {
      cutBefore(path, greatest);
      return;
    }
    items.add(slot, path, depth);
    boolean leaf = Slot.kind(slot) == Slot.LEAF;
    expected += leaf ? 1 : Math.max(2, NodeLayout.capacity(Slot.type(slot)) / 2);
  }

  private void cutBefore(long least, long greatest) {
    cut = true;
    end = down ? greatest + 1 : least - 1;
  }

  /** READs the first items that were not READ yet; returns their number. */
  private int readItems() {
    list.clear();
    int leavesRead = 0;
    int nodesRead = 0;
    for (int i = 0; i < items.count; i++) {
      long slot = items.slots[i];
      if (slot == Slot.NEVER) {
        continue;
      }
      boolean leaf = Slot.kind(slot) == Slot.LEAF;
      if (leaf ? leavesRead == LEAVES : nodesRead == NODES) {
        break;
      }
      long address = Slot.address(slot);
      int bytes = leaf ? LeafLayout.BYTES : Slot.nodeBytes(slot);
      context.checkPlace(address, bytes);
      if (!leaf) {
        numbers[nodesRead] = context.held.number(address);
      }
      list.read(address, leaf ? leafImage(leavesRead++) : nodeImage(nodesRead++), bytes);
    }
    if (list.size() > 0) {
      worker.scatter(list);
      context.counters.leafMisses += leavesRead;
      context.counters.innerReads += nodesRead;
    }
    return list.size();
  }

  private long leafImage(int number) {
    return leaves + (long) number * LeafLayout.BYTES;
  }

  private long nodeImage(int number) {
    return nodes + (long) number * Reserve.LARGE_BYTES;
  }

  /** Replaces the items that were READ by what is in them. */
  private void takeItems() {
    Items old = items;
    items = before;
    before = old;
    items.count = 0;
    expected = 0;
    boolean wasCut = cut;
    long endBefore = end;
    cut = false;
    int read = 0;
    for (int i = 0; i < old.count && !cut; i++) {
      long slot = old.slots[i];
      long path = old.paths[i];
      long value = old.values[i];
      if (slot == Slot.NEVER) {
        items.add(slot, path, value);
        expected++;
      } else if (read == list.size()) {
        add(slot, path, (int) value);
      } else if (Slot.kind(slot) == Slot.LEAF) {
        takeLeaf(list.remote(read), list.local(read), path, (int) value);
        read++;
      } else {
        takeNode(list.remote(read), list.local(read), list.length(read), path, (int) value);
        read++;
      }
    }
    if (!cut) {
      cut = wasCut;
      end = endBefore;
    }
  }

  private void takeLeaf(long address, long image, long prefix, int depth) {
    if (!observer.leaf(address, image)) {
      return;
    }
    long leaf = image;
    if (!LeafLayout.isWhole(memory, leaf)) {
      context.leaves.readLinked(address);
      leaf = context.leaf;
    }
    long path = KeyPath.of(LeafLayout.key(memory, leaf));
    if (!KeyPath.startsWith(path, prefix, depth)) {
      throw new CorruptNodeException(
          address,
          "a leaf of another node: key=%s, least=%s, depth=%s"
              .formatted(KeyPath.key(path), KeyPath.key(prefix), depth));
    }
    boolean inside = !isLess(path, down ? to : from) && !isLess(down ? from : to, path);
    if (inside && LeafLayout.isLive(memory, leaf)) {
      items.add(Slot.NEVER, path, LeafLayout.value(memory, leaf));
      expected++;
    }
  }

  private void takeNode(long address, long image, int bytes, long parentPrefix, int parentDepth) {
    long header = NodeLayout.header(memory, image);
    long prefix = NodeLayout.prefix(header);
    int depth = NodeLayout.depth(header);
    if (!NodeLayout.isBelow(header, parentPrefix, parentDepth)
        || KeyPath.startsWith(from, prefix, depth)) {
      throw new CorruptNodeException(
          address, "not the child at depth=%s: header=0x%x".formatted(parentDepth - 1, header));
    }
    context.readRest(address, image, bytes);
    long greatest = KeyPath.greatest(prefix, depth);
    if (down ? isLess(from, prefix) : isLess(greatest, from)) {
      return;
    }
    if (NodeLayout.life(header) != NodeLayout.LIVE || NodeLayout.isFrozen(memory, image)) {
      cutBefore(prefix, greatest);
      return;
    }
    context.copies.admit(image, address, numbers[(int) ((image - nodes) / Reserve.LARGE_BYTES)]);
    addSlots(address, image, down ? 255 : 0);
  }

  // What was found.

  /** Returns the number of entries, in the order of the search. */
  int count() {
    return items.count;
  }

  /** Returns the path of an entry. */
  long path(int entry) {
    return items.paths[entry];
  }

  /** Returns the value of an entry. */
  long value(int entry) {
    return items.values[entry];
  }

  /**
   * Returns the last path up to which all entries were collected; it may be beyond the last one.
   */
  long end() {
    return end;
  }

  /**
   * Returns what {@code below} is in {@link #collect} for the search that goes on: any node does
   * where the list was cut, else one above the uppermost node, of which all is done.
   */
  int nextBelow() {
    return cut ? KeyPath.BYTES : Math.max(1, topDepth);
  }

  /** Returns whether the last search went against the order of paths. */
  boolean isDown() {
    return down;
  }
}
