package pando.baselines.sherman;

import java.util.function.LongSupplier;
import pando.baselines.blink.BLinkDescent;
import pando.baselines.blink.BLinkNodes;
import pando.baselines.blink.Children;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/**
 * Finds fences between leaves, where ranges may begin, by READs from the root down. Nobody may
 * change the leaves; inner nodes that other compute servers change meanwhile are READ again.
 */
final class ShermanFences {
  /** Local offset of the node that was READ. */
  private static final long NODE = 0;

  /** Number of separators whose middle one divides a range well enough. */
  private static final int ENOUGH = 4;

  /** A walk that meets a changing node begins anew. */
  private static final long AGAIN = Long.MIN_VALUE;

  private final PoolChange change;
  private final Worker worker;
  private final ShermanNodes nodes;
  private final Children children;

  /** Whether the last walk has to begin anew. */
  private boolean again;

  ShermanFences(PoolChange change, ShermanServer server) {
    this.change = change;
    this.worker = change.worker();
    this.nodes = new ShermanNodes(server, worker, change.message());
    this.children = new Children(server.layout.capacity());
  }

  /** Returns the least key of the leaf of a key. */
  long fence(long key) {
    return walk(() -> leafLow(key));
  }

  /**
   * Returns a fence about half-way between two keys, or one at or below the lower key if there is
   * none.
   */
  long middleFence(long low, long high) {
    return fence(walk(() -> middle(low, high)));
  }

  private long walk(LongSupplier walk) {
    for (int attempt = 0; attempt < BLinkDescent.RESTARTS_MAX; attempt++) {
      again = false;
      long found = walk.getAsLong();
      if (!again) {
        return found;
      }
      worker.backoff().pause(attempt);
    }
    throw new StalledException(
        "nodes of the tree kept changing: restarts=" + BLinkDescent.RESTARTS_MAX);
  }

  private long leafLow(long key) {
    long root = change.catalogue().root();
    long address = Catalogue.rootAddress(root);
    for (int level = Catalogue.rootLevel(root); level > 0; level--) {
      if (!read(address, level, key)) {
        return AGAIN;
      }
      nodes.copyChildren(NODE, children);
      address = children.pointers[children.childOf(key)];
    }
    return read(address, 0, key) ? nodes.low(NODE) : AGAIN;
  }

  private long middle(long from, long to) {
    long root = change.catalogue().root();
    long address = Catalogue.rootAddress(root);
    long middle = from;
    int separators = 0;
    for (int level = Catalogue.rootLevel(root); level > 0 && separators < ENOUGH; level--) {
      if (!read(address, level, from)) {
        return AGAIN;
      }
      nodes.copyChildren(NODE, children);
      int first = children.childOf(from);
      int last = children.childOf(to);
      if (last - first > separators) {
        separators = last - first;
        middle = children.keys[first + (separators + 1) / 2];
      }
      address = children.pointers[first];
    }
    return middle;
  }

  /** READs the node of a level that covers a key, from one at or left of it on. */
  private boolean read(long from, int level, long key) {
    long address = from;
    for (int hops = 0; hops < BLinkDescent.HOPS_MAX && address != GlobalAddress.NULL; hops++) {
      int outcome = nodes.readOnce(address, level, key, NODE);
      if (outcome != BLinkNodes.RIGHT) {
        again = outcome != BLinkNodes.COVERS;
        return !again;
      }
      address = nodes.sibling(NODE);
    }
    again = true;
    return false;
  }
}
