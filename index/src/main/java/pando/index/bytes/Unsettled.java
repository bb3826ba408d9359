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
  /** Labels of blocks that are gone. */
  private final Queue<Long> left;

  /** Blocks whose label may have the word of a block that was not made known. */
  private final Queue<BlockEntry> entries = new ConcurrentLinkedQueue<>();

  Unsettled(Collection<Long> left) {
    this.left = new ConcurrentLinkedQueue<>(left);
  }

  /** Adds the label of a block that is gone, or was never made known. */
  void addLeft(long label) {
    left.add(label);
  }

  /** Adds a block whose label may have another word. */
  void add(BlockEntry entry) {
    entries.add(entry);
  }

  /** Takes the steps that can be taken now. */
  void settle(Session labels) {
    if (left.isEmpty() && entries.isEmpty()) {
      return;
    }
    try {
      settleAll(labels);
    } catch (PandoException e) {
      // What is left is settled later.
    }
  }

  /** Takes all steps, but those of blocks that are latched, whose change takes them. */
  void settleAll(Session labels) {
    for (Long label = left.peek(); label != null; label = left.peek()) {
      labels.discard(label);
      left.remove(label);
    }
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
  }

  private void settle(Session labels, BlockEntry entry) {
    BlockEntry.State state = entry.state();
    if (!state.isGone()) {
      labels.store(entry.label, state.word());
    }
    entries.remove(entry);
  }
}
