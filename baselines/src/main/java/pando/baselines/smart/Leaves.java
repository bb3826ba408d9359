package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;

/** READs leaves, one at a time, to {@link SmartContext#leaf}. */
final class Leaves {
  /** READs of what is not whole, after which it is taken for damaged, unless it is locked. */
  private static final int READS_MAX = 200;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final long leaf;

  /** How long a leaf may stay half written. */
  private final WaitLimit limit;

  private int number;

  Leaves(SmartContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.leaf = context.leaf;
    this.limit = new WaitLimit(context.server.options.lockWaitNanos());
  }

  /**
   * READs once what was a leaf when a copy was made, and may be anything now.
   *
   * @return whether it is a whole, live leaf
   */
  boolean readOnce(long address) {
    if (!context.server.places.isNodeAddress(address)) {
      return false;
    }
    read(address);
    return isWholeAndLive();
  }

  /** Adds the READ of what was a leaf when a copy was made to a list. */
  VerbList addRead(VerbList list, long address) {
    number = context.held.number(address);
    return list.read(address, leaf, context.server.leafBytes);
  }

  /** Returns whether what was READ last is a whole, live leaf. */
  boolean isWholeAndLive() {
    return LeafLayout.isWhole(memory, leaf) && LeafLayout.isLive(memory, leaf);
  }

  /**
   * READs a leaf to which a slot leads that was READ in this operation; waits until it is whole.
   *
   * @throws CorruptNodeException if there is no leaf, or its writer has stopped in the middle
   */
  void readLinked(long address) {
    context.checkPlace(address, LeafLayout.PLACE_BYTES);
    context.counters.leafMisses++;
    read(address);
    long start = worker.nanoTime();
    int unlocked = 0;
    for (int attempt = 0; !LeafLayout.isWhole(memory, leaf); attempt++) {
      long state = LeafLayout.state(memory, leaf);
      boolean isLocked = LeafLayout.owner(state) != 0 || isLockedLocally();
      unlocked = isLocked ? 0 : unlocked + 1;
      boolean isOver = attempt >= READS_MAX && limit.isOver(worker.nanoTime() - start);
      if (unlocked >= READS_MAX || isOver) {
        throw new CorruptNodeException(
            address,
            "no leaf, or half of one: key=%s, computeServer=%s, session=%s, attempts=%s"
                .formatted(
                    LeafLayout.key(memory, leaf),
                    LeafLayout.serverOf(LeafLayout.owner(state)),
                    LeafLayout.sessionOf(LeafLayout.owner(state)),
                    attempt));
      }
      worker.backoff().pauseBriefly(attempt);
      read(address);
    }
  }

  /** Returns whether the leaf may be locked where that cannot be seen in it, in partitions. */
  private boolean isLockedLocally() {
    boolean isForeign = !context.server.owns(LeafLayout.key(memory, leaf));
    return number == PlaceLocks.HELD || (context.server.partitioned && isForeign);
  }

  /** Returns what {@link HeldPlaces#number} was before the last leaf was READ. */
  int number() {
    return number;
  }

  private void read(long address) {
    number = context.held.number(address);
    worker.read(address, leaf, context.server.leafBytes);
  }
}
