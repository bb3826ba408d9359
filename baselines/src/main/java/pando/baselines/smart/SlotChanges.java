package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * Changes slots of the nodes of a worker's last descent, together with what is posted before and
 * after.
 */
final class SlotChanges {
  private final SmartContext context;
  private final Worker worker;
  private final MemorySegment memory;
  private final Descent descent;

  /** Local offset where the new content of a slot is made. */
  private final long word;

  private final VerbList nothing = new VerbList();

  private boolean mayHaveMadeLive;

  SlotChanges(SmartContext context, long word) {
    this.context = context;
    this.worker = context.worker;
    this.memory = context.memory;
    this.descent = context.descent;
    this.word = word;
  }

  /** Forgets what was changed before. */
  void reset() {
    mayHaveMadeLive = false;
  }

  /** Returns whether a leaf may have become live since the last {@link #reset}. */
  boolean mayHaveMadeLive() {
    return mayHaveMadeLive;
  }

  /** Returns whether two addresses are of one memory server, so that one list reaches both. */
  static boolean areTogether(long one, long other) {
    return GlobalAddress.server(one) == GlobalAddress.server(other);
  }

  /** Returns whether all verbs of a list go to the memory server of an address. */
  private static boolean areTogether(VerbList verbs, long address) {
    boolean together = true;
    for (int i = 0; i < verbs.size(); i++) {
      together &= areTogether(verbs.remote(i), address);
    }
    return together;
  }

  /**
   * As {@link #postAndSwap(VerbList, int, long, long, long, VerbList)}, with no verbs afterwards.
   */
  boolean postAndSwap(VerbList writes, int level, long slot, long expected, long desired) {
    return postAndSwap(writes, level, slot, expected, desired, nothing);
  }

  /**
   * Posts WRITEs, if there are any, and then changes a slot of a node: in one list if all of that
   * is at one memory server.
   *
   * <p>The slot is changed by a CAS, or, if this compute server alone changes the node, by a WRITE
   * under its local lock, which stays {@linkplain HeldPlaces held}. The WRITEs take place in any
   * case.
   *
   * @param level of the node
   * @param then verbs that are posted after the slot has changed, to one memory server
   * @return whether the slot was as expected, and is the new one now
   */
  boolean postAndSwap(
      VerbList writes, int level, long slot, long expected, long desired, VerbList then) {
    boolean owned = descent.isOwned(level);
    boolean swaps = !owned || context.held.tryLock(descent.address(level), descent.number(level));
    if (writes.size() > 0 && !(swaps && areTogether(writes, slot))) {
      worker.scatter(writes);
      writes.clear();
    }
    if (!swaps) {
      return false;
    }
    if (owned) {
      write(writes, level, slot, desired, then);
      return true;
    }
    worker.post(writes.cas(slot, expected, desired, context.results));
    if (Words.get(memory, context.results) != expected) {
      return false;
    }
    post(then);
    return true;
  }

  /** WRITEs a slot of a node that is locked locally, whose copy stays current. */
  private void write(VerbList writes, int level, long slot, long desired, VerbList then) {
    long node = descent.address(level);
    long image = context.image(level);
    context.copies.drop(image);
    Words.set(memory, word, desired);
    writes.write(slot, word, Long.BYTES);
    if (then.size() > 0 && areTogether(then, slot)) {
      post(writes.addAll(then));
    } else {
      worker.post(writes);
      post(then);
    }
    Words.set(memory, image + slot - node, desired);
    context.copies.admitHeld(image, node);
  }

  /** Posts what makes a leaf live, if there is any. */
  private void post(VerbList verbs) {
    if (verbs.size() > 0) {
      mayHaveMadeLive = true;
      worker.post(verbs);
    }
  }
}
