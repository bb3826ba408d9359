package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.Worker;
import pando.index.session.TreeSize;

/**
 * Estimates how many entries there are. The levels of {@link TreeSize} are depths: a node with
 * paths of {@code d} bytes is at level {@code 8 - d}. A slot is the pointer of what it leads to;
 * where that is deeper than the level, it is handed down as it is, with the depth in a node's spare
 * bits once that is known.
 */
final class SmartSize extends TreeSize {
  private static final int DEPTH_SHIFT = 44;
  private static final long DEPTH_MASK = 0xFL << DEPTH_SHIFT;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final long image;

  // The range of the last node that was looked at.
  private long least;
  private long greatest;

  SmartSize(SmartContext context) {
    super(context.worker);
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.image = context.image(0);
  }

  @Override
  protected int addRoot(long low) {
    add(low, Slot.node(0, NodeLayout.FULL, context.server.root()));
    return KeyPath.BYTES;
  }

  @Override
  protected boolean addChildren(int level, long key, long pointer, long low, long high) {
    least = low;
    greatest = high;
    int depth = KeyPath.BYTES - level;
    int known = (int) ((pointer & DEPTH_MASK) >>> DEPTH_SHIFT);
    if (Slot.kind(pointer) == Slot.LEAF || known > depth) {
      add(key, pointer);
      return true;
    }
    long header = read(pointer);
    if (NodeLayout.state(header) == NodeLayout.DEAD || !NodeLayout.isLegal(header)) {
      return false;
    }
    int found = NodeLayout.depth(header);
    if (found > depth) {
      add(key, (pointer & ~DEPTH_MASK) | ((long) found << DEPTH_SHIFT));
    } else if (found == depth) {
      addSlots(header);
    }
    return found >= depth;
  }

  private long read(long pointer) {
    long address = Slot.address(pointer);
    int bytes = NodeLayout.bytes(Math.min(Slot.type(pointer), NodeLayout.FULL));
    context.checkPlace(address, bytes);
    context.counters.innerReads++;
    worker.read(address, image, bytes);
    long header = NodeLayout.header(memory, image);
    int all = NodeLayout.bytes(NodeLayout.type(header));
    if (all > bytes) {
      context.checkPlace(address, all);
      context.counters.innerReads++;
      worker.read(address + bytes, image + bytes, all - bytes);
    }
    return header;
  }

  private void addSlots(long header) {
    long prefix = NodeLayout.prefix(header);
    int depth = NodeLayout.depth(header);
    for (int i = 0; i < NodeLayout.capacity(NodeLayout.type(header)); i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.hasChild(slot)) {
        long from = KeyPath.child(prefix, depth, Slot.byteOf(slot));
        long low = KeyPath.key(from);
        long high = KeyPath.key(KeyPath.greatest(from, depth + 1));
        if (low <= greatest && high >= least) {
          add(Math.max(low, least), Slot.thawed(slot) & ~DEPTH_MASK);
        }
      }
    }
  }

  @Override
  protected int entries(long key, long pointer) {
    long address = Slot.address(pointer);
    if (Slot.kind(pointer) != Slot.LEAF || !context.server.places.isNodeAddress(address)) {
      return MOVED;
    }
    context.counters.leafMisses++;
    worker.read(address, context.leaf, LeafLayout.BYTES);
    long found = LeafLayout.key(memory, context.leaf);
    boolean counts = LeafLayout.isLive(memory, context.leaf) && found >= least && found <= greatest;
    return counts ? 1 : 0;
  }
}
