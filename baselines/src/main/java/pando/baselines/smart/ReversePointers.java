package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/**
 * The reverse pointers of leaves, as published, for {@link CopyCheck#REVERSE}: the address of the
 * slot that leads to a leaf, 0 for a leaf that is still where the load has put it. A copy counts as
 * right while the leaf to which it leads says the same.
 *
 * <p><b>How that loses keys.</b> An insert puts a new node between a slot and its leaf, and changes
 * the reverse pointer afterwards. In between, the new key is in the tree, and a reader with an old
 * copy still finds that the leaf confirms it, and answers that the new key is absent. An update
 * writes the leaf as it was READ, with the reverse pointer of that time. If the leaf has got
 * another slot meanwhile, old copies are believed again, until they are evicted.
 */
final class ReversePointers {
  private final boolean on;
  private final Worker worker;
  private final MemorySegment memory;

  /** Local offset of the leaf that was READ last. */
  private final long leaf;

  /** Local offset of the leaf that is made. */
  private final long newLeaf;

  /** Local offset of words that are WRITTEN, one for each slot of a node. */
  private final long words;

  private final VerbList list = new VerbList();

  ReversePointers(SmartContext context, long words) {
    this.on = context.server.copyCheck == CopyCheck.REVERSE;
    this.worker = context.worker;
    this.memory = context.memory;
    this.leaf = context.leaf;
    this.newLeaf = context.newLeaf;
    this.words = words;
  }

  /** Returns whether the leaf that was READ last says that a slot leads to it. */
  boolean confirm(long slotAddress) {
    long reverse = Words.get(memory, leaf + LeafLayout.REVERSE);
    return on && (reverse == 0 || reverse == slotAddress);
  }

  /** Sets the pointer of the leaf that is made. */
  void set(long slotAddress) {
    Words.set(memory, newLeaf + LeafLayout.REVERSE, slotAddress);
  }

  /**
   * Adds to a list the WRITE that points the leaf in a slot, if there is one, back to a slot's
   * address.
   */
  void addPointBack(VerbList to, long slot, long slotAddress) {
    addPointBack(to, slot, slotAddress, words);
  }

  private void addPointBack(VerbList to, long slot, long slotAddress, long word) {
    if (on && Slot.kind(slot) == Slot.LEAF) {
      Words.set(memory, word, slotAddress);
      to.write(Slot.address(slot) + LeafLayout.REVERSE, word, Long.BYTES);
    }
  }

  /** Points the leaf in a slot, if there is one, back to a slot's address. */
  void pointBack(long slot, long slotAddress) {
    addPointBack(list.clear(), slot, slotAddress, words);
    post();
  }

  /** Points all leaves of a node back to its slots. */
  void pointAllBack(long image, long node) {
    list.clear();
    for (int i = 0; on && i < NodeLayout.slots(memory, image); i++) {
      long at = NodeLayout.offset(i);
      addPointBack(
          list, NodeLayout.slot(memory, image, i), node + at, words + at - NodeLayout.SLOTS);
    }
    post();
  }

  private void post() {
    if (list.size() > 0) {
      worker.scatter(list);
    }
  }
}
