package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;

/** READs leaves, one at a time, to {@link SmartContext#leaf}. */
final class Leaves {
  /** READs of what is neither whole nor locked, after which it is taken for damaged. */
  private static final int READS_MAX = 1_000;

  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final long leaf;
  private int number;

  Leaves(SmartContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.leaf = context.leaf;
  }

  /**
   * READs once what was a leaf when a copy was made, and may be anything now.
   *
   * @return whether it is a whole leaf
   */
  boolean readOnce(long address) {
    if (!context.server.places.isNodeAddress(address)) {
      return false;
    }
    read(address);
    return LeafLayout.isWhole(memory, leaf);
  }

  /**
   * READs a leaf to which a slot leads that was READ in this operation; waits until it is whole.
   *
   * @throws CorruptNodeException if there is no leaf
   * @throws StalledException if its writer does not end
   */
  void readLinked(long address) {
    context.checkPlace(address, LeafLayout.PLACE_BYTES);
    read(address);
    long start = 0;
    for (int attempt = 0; !LeafLayout.isWhole(memory, leaf); attempt++) {
      long state = LeafLayout.state(memory, leaf);
      if (attempt == READS_MAX && LeafLayout.owner(state) == 0) {
        throw new CorruptNodeException(
            address, "no leaf: key=%s, state=0x%x".formatted(LeafLayout.key(memory, leaf), state));
      }
      start =
          WaitLimit.SHORT.pauseBriefly(
              worker.backoff(),
              attempt,
              start,
              "a leaf stays half written: address",
              GlobalAddress.offset(address));
      read(address);
    }
  }

  /** Returns what {@link HeldPlaces#number} was before the last leaf was READ. */
  int number() {
    return number;
  }

  private void read(long address) {
    number = context.held.number(address);
    context.counters.leafMisses++;
    worker.read(address, leaf, LeafLayout.BYTES);
  }
}
