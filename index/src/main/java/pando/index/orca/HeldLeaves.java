package pando.index.orca;

import java.util.Arrays;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;

/**
 * Leaves that a part of one session holds: latched, marked as merging, and without a pin. Their
 * deltas and their extents do not change; only cached values do.
 *
 * <p>A session that holds a leaf only tries to hold another, and never waits for a claimed key, as
 * the claim's session may wait for a leaf that is held.
 */
final class HeldLeaves {
  private final LeafEntries entries;
  private final OrcaContext context;
  private int[] held = new int[4];
  private int count;

  HeldLeaves(OrcaContext context) {
    this.entries = context.directory.entries();
    this.context = context;
    context.ends.add(this::releaseAll);
  }

  /** Holds the leaf of a view, unless another session has it latched; returns whether it did. */
  boolean tryHold(LeafView view) {
    int entry = view.entry;
    if (count == held.length) {
      held = Arrays.copyOf(held, 2 * count);
    }
    if (!entries.tryLatch(entry)) {
      return false;
    }
    held[count++] = entry;
    if (view.node.isReplaced()) {
      release(entry);
      return false;
    }
    entries.startMerge(entry, false);
    awaitUnpinned(view);
    view.copyHeld();
    return true;
  }

  /** Waits until no WRITE to a latched leaf that is marked as merging is under way. */
  void awaitUnpinned(LeafView view) {
    for (int attempt = 0; LeafEntries.pins(entries.control(view.entry)) > 0; attempt++) {
      context.pause(attempt, "a leaf stays pinned", view.low);
    }
  }

  /** Waits until a leaf is not latched. */
  void await(int entry, long key) {
    for (int attempt = 0; LeafEntries.isLatched(entries.version(entry)); attempt++) {
      context.pause(attempt, "a leaf stays latched", key);
    }
  }

  /** Ends holding a leaf. */
  void release(int entry) {
    for (int i = count - 1; i >= 0; i--) {
      if (held[i] == entry) {
        held[i] = held[--count];
        unlatch(entry);
        return;
      }
    }
  }

  /** Unlatches a leaf that is not changed. */
  void unlatch(int entry) {
    entries.cancelMerge(entry);
    entries.unlatch(entry, LeafEntries.delta(entries.version(entry)));
  }

  /** Ends holding all leaves. */
  void releaseAll() {
    while (count > 0) {
      unlatch(held[--count]);
    }
  }
}
