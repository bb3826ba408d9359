package pando.index.bytes;

import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import pando.fabric.PandoException;
import pando.index.Session;

/**
 * Labels that may not have the word that they should: steps that failed, and are taken again by
 * later changes, and at the end. Thread-safe.
 */
final class Unsettled {
  /** Labels of blocks that are gone, or were never made known. */
  private final Queue<Long> strays;

  /** Blocks whose label may have the word of a block that was not made known. */
  private final Queue<BlockEntry> entries = new ConcurrentLinkedQueue<>();

  Unsettled(Collection<Long> strays) {
    this.strays = new ConcurrentLinkedQueue<>(strays);
  }

  /** Adds the label of a block that is gone, or was never made known. */
  void addStray(long label) {
    strays.add(label);
  }

  /** Adds a block whose label may have another word. */
  void add(BlockEntry entry) {
    entries.add(entry);
  }

  /** Removes a block whose label has its word now. */
  void remove(BlockEntry entry) {
    entries.remove(entry);
  }

  /** Takes the steps that can be taken now. */
  void settle(Session labels) {
    if (strays.isEmpty() && entries.isEmpty()) {
      return;
    }
    try {
      settleAll(labels);
    } catch (PandoException e) {
      // What is left is settled later.
    }
  }

  /**
   * Takes all steps, but none while a block among them is latched. Strays go last: while a label
   * may have the word of the left part of a block, that of the right part must stay.
   */
  void settleAll(Session labels) {
    int latched = 0;
    for (BlockEntry entry = entries.peek(); entry != null; entry = entries.peek()) {
      if (entry.tryLatch()) {
        try {
          settle(labels, entry);
        } finally {
          entry.unlatch();
        }
      } else if (++latched > entries.size()) {
        return;
      } else {
        entries.remove(entry);
        entries.add(entry);
      }
    }
    for (Long label = strays.peek(); label != null; label = strays.peek()) {
      if (!entries.isEmpty()) {
        return;
      }
      labels.discard(label);
      strays.remove(label);
    }
  }

  private void settle(Session labels, BlockEntry entry) {
    BlockEntry.State state = entry.state();
    if (!state.isGone()) {
      labels.store(entry.label, state.word());
    }
    entries.remove(entry);
  }
}
