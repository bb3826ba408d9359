package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.Worker;

/** Stores a value in a leaf that this worker has locked, and unlocks it. */
final class Updates {
  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();

  /** Bytes of a leaf; those of a reverse pointer are written as they were READ, as published. */
  private final int leafBytes;

  Updates(SmartContext context) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.leafBytes = context.server.leafBytes;
  }

  /**
   * Stores a value.
   *
   * @param address of the leaf, whose image is at {@link SmartContext#leaf}
   */
  void store(long address, long key, long value) {
    long leaf = context.leaf;
    long state = LeafLayout.state(memory, leaf);
    long next = LeafLayout.state(0, LeafLayout.LIVE, LeafLayout.counter(state) + 1);
    LeafLayout.set(memory, leaf, key, value, next);
    if (context.server.landsByLine) {
      worker.write(
          address + LeafLayout.VALUE, leaf + LeafLayout.VALUE, leafBytes - LeafLayout.VALUE);
    } else {
      int words = LeafLayout.STATE - LeafLayout.VALUE;
      list.clear().write(address + LeafLayout.VALUE, leaf + LeafLayout.VALUE, words);
      int rest = leafBytes - LeafLayout.STATE;
      list.write(address + LeafLayout.STATE, leaf + LeafLayout.STATE, rest);
      worker.post(list);
    }
    context.locks.forget();
  }
}
