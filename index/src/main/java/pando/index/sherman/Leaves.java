package pando.index.sherman;

import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;

/** Brings the leaf of a key into local memory, however often the way there turns out to be old. */
final class Leaves {
  private final ShermanContext context;
  private final Descent descent;

  Leaves(ShermanContext context, Descent descent) {
    this.context = context;
    this.descent = descent;
  }

  /** Reads the leaf of a key; returns the index of its entry, -1 where there is none. */
  int read(long key) {
    return read(key, context.leaf);
  }

  /** As {@link #read(long)}, into a buffer of local memory. */
  int read(long key, long leaf) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (descent.readCovering(key, leaf, attempt)) {
        int index = context.layout.find(context.memory, leaf, key);
        if (index < 0 || context.nodes.isEntryWhole(leaf, index)) {
          return index;
        }
      }
    }
    throw stalled(key);
  }

  /** Reads the leaf of a key and keeps it locked; returns its address. */
  long lock(long key) {
    for (int attempt = 0; attempt < Descent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (descent.lockCovering(0, key, context.leaf, attempt)) {
        return descent.node;
      }
    }
    throw stalled(key);
  }

  private StalledException stalled(long key) {
    return new StalledException(
        "no leaf that stays: key="
            + key
            + ", last="
            + GlobalAddress.toString(descent.node)
            + ", restarts="
            + Descent.RESTARTS_MAX);
  }
}
