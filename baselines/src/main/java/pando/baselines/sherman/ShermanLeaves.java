package pando.baselines.sherman;

import pando.baselines.blink.BLinkDescent;

/** Reads or locks the leaf of a key. Restarts if a descent finds a wrong leaf. */
final class ShermanLeaves {
  private final ShermanContext context;
  private final ShermanNodes nodes;
  private final ShermanDescent descent;

  ShermanLeaves(ShermanContext context, ShermanDescent descent) {
    this.context = context;
    this.nodes = context.nodes;
    this.descent = descent;
  }

  /** Reads the leaf of a key; returns the index of the key's entry, -1 if there is none. */
  int read(long key) {
    return read(key, context.leaf);
  }

  /** As {@link #read(long)}, into a buffer at a local offset. */
  int read(long key, long buffer) {
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (readCovering(key, buffer, attempt)) {
        int index = context.layout.find(context.memory, buffer, key);
        if (index < 0 || nodes.isEntryWhole(buffer, index)) {
          return index;
        }
      }
    }
    throw descent.noLeaf(key);
  }

  /** Reads the leaf that was found or, if it was split, the sibling that covers the key. */
  private boolean readCovering(long key, long buffer, int attempt) {
    for (int hops = 0; hops < BLinkDescent.HOPS_MAX; hops++) {
      int outcome = nodes.read(context.locks, true, descent.node, 0, key, descent.owned(), buffer);
      if (outcome == ShermanNodes.COVERS) {
        return true;
      }
      if (outcome == ShermanNodes.STALE) {
        break;
      }
      descent.right(nodes.sibling(buffer));
    }
    descent.astray(attempt);
    return false;
  }

  /** Locks and reads the leaf of a key; returns its address. The leaf stays locked. */
  long lock(long key) {
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(key);
      if (descent.lockCovering(0, key, context.leaf, attempt)) {
        return descent.node;
      }
    }
    throw descent.noLeaf(key);
  }
}
