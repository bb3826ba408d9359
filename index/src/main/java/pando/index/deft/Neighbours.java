package pando.index.deft;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;

/**
 * Looks for the entry next to a key, leaf by leaf: in one leaf that is read as it is at one moment,
 * or in several that stay locked.
 *
 * <p>Whoever holds a lock waits for no other: he finds somebody in the way, lets go of all he
 * holds, waits for that lock alone, and starts anew with it.
 */
final class Neighbours {
  private static final int SNAPSHOTS_MAX = 8;
  private static final int ATTEMPTS_MAX = 1_000;

  /** What a look at one leaf comes to. */
  private enum Outcome {
    FOUND,
    /** Nothing in this leaf: the answer lies beyond the {@link #bound}. */
    FURTHER,
    NONE,
    /** Somebody is in the way, or the way was wrong: start anew. */
    BUSY
  }

  private final LeafLayout layout;
  private final MemorySegment memory;
  private final Worker worker;
  private final NodeLocks locks;
  private final Nodes nodes;
  private final Descent descent;
  private final long leaf;
  private final VerbList nothing = new VerbList();

  private long[] chain = new long[8];
  private int chained;

  /** The leaf whose lock was not to be had, {@code NULL} where none was in the way. */
  private long busy;

  private long key;
  private long value;
  private long bound;

  Neighbours(DeftContext context, Descent descent) {
    this.layout = context.server.leaves;
    this.memory = context.memory;
    this.worker = context.worker;
    this.locks = context.locks;
    this.nodes = context.nodes;
    this.leaf = context.leaf;
    this.descent = descent;
  }

  /** Returns the key that was found. */
  long key() {
    return key;
  }

  /** Returns the value that was found. */
  long value() {
    return value;
  }

  /**
   * Finds the entry next to a key, or of the key itself.
   *
   * @param down whether to look for the greatest at or below, else for the least at or above
   */
  boolean find(long wanted, boolean down) {
    try {
      Outcome outcome = look(wanted, down);
      return outcome == Outcome.FURTHER ? findUnderLocks(wanted, down) : outcome == Outcome.FOUND;
    } catch (RuntimeException e) {
      locks.abandon(e);
      chained = 0;
      throw e;
    }
  }

  /** Looks in one leaf; goes further at once where others change it all the time. */
  private Outcome look(long wanted, boolean down) {
    for (int attempt = 0; nodes.readsSnapshots() && attempt < SNAPSHOTS_MAX; attempt++) {
      descent.findLeaf(wanted);
      long node = descent.node;
      if (nodes.readSnapshot(node, leaf)) {
        if (nodes.check(node, 0, wanted, leaf) == Nodes.COVERS) {
          return lookInLeaf(wanted, down);
        }
        descent.astray(attempt);
      } else {
        worker.backoff().pause(attempt);
      }
    }
    return Outcome.FURTHER;
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    int index = down ? layout.floor(memory, leaf, wanted) : layout.ceiling(memory, leaf, wanted);
    if (index >= 0) {
      key = LeafLayout.key(memory, leaf, index);
      value = LeafLayout.value(memory, leaf, index);
      return Outcome.FOUND;
    }
    long fence = down ? NodeHeader.low(memory, leaf) : NodeHeader.high(memory, leaf);
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return Outcome.NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return Outcome.FURTHER;
  }

  private boolean findUnderLocks(long wanted, boolean down) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Outcome outcome = walk(wanted, down);
      if (outcome != Outcome.BUSY) {
        unlock();
        return outcome == Outcome.FOUND;
      }
      unlock();
      worker.backoff().pauseBriefly(attempt);
      awaitBusy();
    }
    unlock();
    throw new StalledException(
        "leaves between a key and its neighbour stayed locked: key="
            + wanted
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  private Outcome walk(long wanted, boolean down) {
    long probe = wanted;
    while (true) {
      Outcome outcome = lookAndLock(probe, down);
      if (outcome != Outcome.FURTHER) {
        return outcome;
      }
      probe = bound;
    }
  }

  /** Looks in one leaf and keeps it locked. Does not wait for a lock. */
  private Outcome lookAndLock(long wanted, boolean down) {
    busy = GlobalAddress.NULL;
    descent.findLeaf(wanted);
    while (locks.tryExclusive(descent.node)) {
      chain(descent.node);
      int outcome = nodes.readHeld(descent.node, 0, wanted, leaf);
      if (outcome == Nodes.COVERS) {
        return lookInLeaf(wanted, down);
      }
      if (outcome == Nodes.STALE) {
        descent.astray(0);
        return Outcome.BUSY;
      }
      descent.right(NodeHeader.sibling(memory, leaf));
    }
    busy = descent.node;
    return Outcome.BUSY;
  }

  /** Waits, while nothing is held, for the lock that was not to be had, and keeps it. */
  private void awaitBusy() {
    if (busy != GlobalAddress.NULL) {
      long node = busy;
      busy = GlobalAddress.NULL;
      locks.lockExclusive(node, nothing);
      chain(node);
    }
  }

  private void chain(long node) {
    if (chained == chain.length) {
      chain = Arrays.copyOf(chain, 2 * chained);
    }
    chain[chained++] = node;
  }

  private void unlock() {
    while (chained > 0) {
      locks.unlock(chain[--chained]);
    }
  }
}
