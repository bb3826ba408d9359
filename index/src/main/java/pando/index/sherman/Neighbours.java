package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.index.lock.NodeLocks;

/**
 * Looks for the entry next to a key, leaf by leaf: in one leaf without a lock, or in several that
 * stay locked, so that all are as they are found at one moment.
 *
 * <p>Whoever holds a lock waits for no other: he finds somebody in the way, lets go of all he
 * holds, {@linkplain #awaitBusy waits} for that lock alone, and starts anew with it.
 */
final class Neighbours {
  /** What a look at one leaf comes to. */
  enum Outcome {
    /** The entry was found. */
    FOUND,
    /** Nothing in this leaf: the answer lies beyond the {@link #bound}. */
    FURTHER,
    /** There is no such entry. */
    NONE,
    /** Somebody is in the way: start anew. */
    BUSY
  }

  private final BLinkLayout layout;
  private final MemorySegment memory;
  private final NodeLocks locks;
  private final Nodes nodes;
  private final Descent descent;
  private final Leaves leaves;
  private final long leaf;

  private long[] chain = new long[8];
  private int chained;

  /** The node whose lock was not to be had, {@code NULL} where none was in the way. */
  private long busy;

  private boolean busyIsLeaf;

  private boolean busyOwned;

  private long key;
  private long value;
  private long bound;

  Neighbours(ShermanContext context, Descent descent, Leaves leaves) {
    this.layout = context.layout;
    this.memory = context.memory;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.descent = descent;
    this.leaves = leaves;
  }

  /** Returns the key that was found. */
  long key() {
    return key;
  }

  /** Returns the value that was found. */
  long value() {
    return value;
  }

  /** Returns the key to go on from. */
  long bound() {
    return bound;
  }

  /**
   * Looks in one leaf, downwards or upwards. Goes further at once where a leaf cannot be read as it
   * is at one moment.
   */
  Outcome look(long wanted, boolean down) {
    if (!nodes.readsSnapshots()) {
      return Outcome.FURTHER;
    }
    try {
      leaves.read(wanted);
      return lookInLeaf(wanted, down);
    } catch (RuntimeException e) {
      locks.abandon(e);
      throw e;
    }
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    int index =
        down
            ? layout.floorOfLeaf(memory, leaf, wanted)
            : layout.ceilingOfLeaf(memory, leaf, wanted);
    if (index >= 0) {
      key = BLinkLayout.key(memory, leaf, index);
      value = BLinkLayout.slot(memory, leaf, index);
      return Outcome.FOUND;
    }
    long fence = down ? BLinkLayout.low(memory, leaf) : BLinkLayout.high(memory, leaf);
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return Outcome.NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return Outcome.FURTHER;
  }

  /** As {@link #look}, and keeps the leaf locked. Does not wait for a lock. */
  Outcome lookAndLock(long wanted, boolean down) {
    busy = GlobalAddress.NULL;
    try {
      if (!descent.findLeafAtOnce(wanted)) {
        return busy(false);
      }
      while (locks.tryLock(descent.node, descent.owned)) {
        chain(descent.node);
        int outcome = nodes.readHeld(descent.node, 0, wanted, leaf);
        if (outcome == Nodes.COVERS) {
          return lookInLeaf(wanted, down);
        }
        if (outcome == Nodes.STALE) {
          descent.astray(0);
          return Outcome.BUSY;
        }
        descent.right(leaf);
      }
      return busy(true);
    } catch (RuntimeException e) {
      throw abandoned(e);
    }
  }

  private Outcome busy(boolean isLeaf) {
    busy = descent.node;
    busyIsLeaf = isLeaf;
    busyOwned = descent.owned;
    return Outcome.BUSY;
  }

  /**
   * Waits for the lock that {@link #lookAndLock} could not have, if there was one, while nothing is
   * held. Keeps that of a leaf for the next attempt; one further up may be in the session's own way
   * at another compute server.
   */
  void awaitBusy() {
    if (busy == GlobalAddress.NULL) {
      return;
    }
    long node = busy;
    busy = GlobalAddress.NULL;
    try {
      locks.lock(node, busyOwned);
      if (busyIsLeaf) {
        chain(node);
      } else {
        locks.unlock(node);
      }
    } catch (RuntimeException e) {
      throw abandoned(e);
    }
  }

  private void chain(long node) {
    if (chained == chain.length) {
      chain = Arrays.copyOf(chain, 2 * chained);
    }
    chain[chained++] = node;
  }

  /** Lets go of everything that is locked. */
  void unlock() {
    try {
      while (chained > 0) {
        locks.unlock(chain[--chained]);
      }
    } catch (RuntimeException e) {
      throw abandoned(e);
    }
  }

  private RuntimeException abandoned(RuntimeException failure) {
    locks.abandon(failure);
    chained = 0;
    return failure;
  }
}
