package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Worker;
import pando.index.pool.PoolChange;

/**
 * Finds a key that divides a range into about two halves, by READs from the root down. Every key
 * can be a bound, so what others change meanwhile does no harm.
 */
final class SmartBounds {
  /** Children of a node whose middle one divides a range well enough. */
  private static final int ENOUGH = 5;

  /** Local offset of the node that was READ. */
  private static final long NODE = 0;

  private final SmartServer server;
  private final Worker worker;
  private final MemorySegment memory;

  /** Where the children of the node begin that have keys of the range. */
  private final long[] keys = new long[256];

  private int count;

  SmartBounds(PoolChange change, SmartServer server) {
    this.server = server;
    this.worker = change.worker();
    this.memory = worker.memory();
  }

  /** Returns a key between two others, or the first one if there is none that divides them. */
  long middle(long low, long high) {
    long middle = low;
    int most = 1;
    long slot = Slot.node(0, NodeLayout.FULL, server.root());
    long part = 0;
    int known = 0;
    while (Slot.kind(slot) == Slot.NODE && most < ENOUGH && read(slot, part, known, low, high)) {
      if (count > most) {
        most = count;
        middle = Math.max(low, keys[count / 2]);
      }
      part = KeyPath.of(keys[(count - 1) / 2]);
      known = depth() + 1;
      int next = KeyPath.byteAt(part, depth());
      int index = NodeLayout.find(memory, NODE, NodeLayout.capacity(Slot.type(slot)), next);
      slot = NodeLayout.slot(memory, NODE, index);
    }
    return middle;
  }

  private int depth() {
    return NodeLayout.depth(NodeLayout.header(memory, NODE));
  }

  /**
   * READs a node, and notes its children in a range; returns whether there are any. There are none
   * if the place has become another node's, or is damaged.
   *
   * @param part the bytes that all paths below its slot begin with
   * @param known number of these bytes
   */
  private boolean read(long nodeSlot, long part, int known, long low, long high) {
    int capacity = NodeLayout.capacity(Slot.type(nodeSlot));
    int bytes = NodeLayout.SLOTS + capacity * Long.BYTES;
    if (!server.places.fits(Slot.address(nodeSlot), bytes)) {
      return false;
    }
    worker.read(Slot.address(nodeSlot), NODE, bytes);
    long header = NodeLayout.header(memory, NODE);
    if (!NodeLayout.isBelow(header, part, known)) {
      return false;
    }
    count = 0;
    for (int i = 0; i < capacity; i++) {
      long slot = NodeLayout.slot(memory, NODE, i);
      long child = KeyPath.child(NodeLayout.prefix(header), depth(), Slot.byteOf(slot));
      long first = KeyPath.key(child);
      long last = KeyPath.key(KeyPath.greatest(child, depth() + 1));
      if (Slot.hasChild(slot) && first <= high && last >= low) {
        keys[count++] = first;
      }
    }
    Arrays.sort(keys, 0, count);
    return count > 0;
  }
}
