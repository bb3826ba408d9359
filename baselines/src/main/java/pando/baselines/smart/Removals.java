package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.baselines.smart.Descent.End;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * Removes a leaf that this worker has locked: it becomes dead, which is the moment of the removal,
 * and then its slot is emptied. Any other session that finds a dead leaf in a slot can empty it,
 * too.
 */
final class Removals {
  private static final int ATTEMPTS_MAX = 50;

  private final SmartContext context;
  private final SmartServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final Descent descent;
  private final VerbList list = new VerbList();

  Removals(SmartContext context) {
    this.context = context;
    this.server = context.server;
    this.worker = context.worker;
    this.memory = context.memory;
    this.descent = context.descent;
  }

  /** Removes the leaf to which the last descent led by nodes that were READ now. */
  void remove(long path) {
    long address = descent.leafAddress();
    long state = LeafLayout.state(memory, context.leaf);
    Words.set(memory, context.words, LeafLayout.with(state, 0, LeafLayout.DEAD));
    list.clear().write(address + LeafLayout.STATE, context.words, Long.BYTES);
    int level = descent.levels() - 1;
    long slot = descent.slot(level);
    boolean unlinked = false;
    if (descent.hasFrozen()) {
      worker.post(list);
    } else {
      unlinked =
          context.slotChanges.postAndSwap(
              list, level, descent.slotAddress(level), slot, emptied(slot));
    }
    context.locks.forget();
    if (unlinked || unlink(path, address)) {
      server.space.restLeaf(worker, context.message, address);
      shrink(path);
    }
  }

  private long emptied(long slot) {
    return Slot.empty(Slot.byteOf(slot), worker.random().nextLong());
  }

  /**
   * Empties the slot of a dead leaf; returns {@code false} if another session has done so, or the
   * leaf stays, as its node is frozen and the pool is full: what puts the key again takes its
   * place.
   */
  private boolean unlink(long path, long address) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      End end = descent.findNow(path, KeyPath.BYTES);
      if (end != End.LEAF || descent.leafAddress() != address || descent.hasFrozen()) {
        return false;
      }
      int level = descent.levels() - 1;
      long slot = descent.slot(level);
      boolean emptied =
          context.slotChanges.postAndSwap(
              list.clear(), level, descent.slotAddress(level), slot, emptied(slot));
      context.held.unlock();
      if (emptied) {
        return true;
      }
    }
    return false;
  }

  /** Replaces the node of a removed leaf if it has few children left, and the pool has room. */
  private void shrink(long path) {
    int level = descent.levels() - 1;
    int gone = 1;
    if (!isSparse(level, gone)) {
      return;
    }
    if (level == 0 || descent.isOwned(level)) {
      // The parent must be READ, too; and an owned node again, as it was locked since it was READ.
      descent.findNow(path, descent.depth(level));
      level = descent.levels() - 1;
      gone = 0;
      if (level <= 0 || descent.hasFrozen() || !isSparse(level, gone)) {
        return;
      }
    }
    try {
      if (!context.replacing.replace(descent, level, -gone)) {
        // Nobody else may come to a node that is left frozen.
        descent.findNodes(path, KeyPath.BYTES);
      }
    } catch (PoolFullException _) {
      // The removal has taken place. The node stays, or is replaced by the next that meets it.
    }
  }

  /**
   * Returns whether a node has one child at the most, or so few that a smaller place has room.
   *
   * @param gone how many children of its image were removed since
   */
  private boolean isSparse(int level, int gone) {
    if (descent.depth(level) == 0) {
      return false;
    }
    long image = context.image(level);
    int type = NodeLayout.type(NodeLayout.header(memory, image));
    int capacity = NodeLayout.capacity(type);
    int left = NodeLayout.children(memory, image, capacity) - gone;
    if (left <= 1) {
      return true;
    }
    int smaller = NodeLayout.typeFor(left);
    return left < capacity * server.options.mergeShare()
        && server.reserve.placeBytes(smaller) < server.reserve.placeBytes(type);
  }
}
