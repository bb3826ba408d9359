package pando.baselines.blink;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.GlobalAddress;
import pando.fabric.pool.NodeAllocator;
import pando.index.CorruptNodeException;
import pando.index.host.Replaced;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/**
 * A tree without entries that a bulk load replaces. Its levels are read along the siblings, one
 * node at a time, into the local memory of the change.
 */
public abstract class EmptyTree implements Replaced {
  /** Local offset of the node that was read. */
  protected static final long NODE = 0;

  private final PoolChange change;
  private final NodeAllocator allocator;
  private final BLinkNodes nodes;
  private final List<Long> addresses = new ArrayList<>();

  /** Creates an empty tree. */
  protected EmptyTree(PoolChange change, BLinkServer server, BLinkNodes nodes) {
    this.change = change;
    this.nodes = nodes;
    this.allocator = server.allocator;
  }

  /** Returns the number of entries in the leaf that was read. */
  protected abstract int entries();

  /** Returns the address of the first child of the inner node that was read. */
  protected abstract long firstChild();

  /** Marks a node as freed, so that sessions with an old pointer to it detect that. */
  protected abstract void markFreed(long address);

  @Override
  public final void check(long root) {
    long first = Catalogue.rootAddress(root);
    for (int level = Catalogue.rootLevel(root); level >= 0; level--) {
      first = collectLevel(first, level);
    }
  }

  /** Records the nodes of a level; returns the address of the first node of the level below. */
  private long collectLevel(long first, int level) {
    long address = first;
    long low = Long.MIN_VALUE;
    long below = GlobalAddress.NULL;
    while (address != GlobalAddress.NULL) {
      if (nodes.readHeld(address, level, low, NODE) != BLinkNodes.COVERS) {
        throw new CorruptNodeException(address, "is not the node that covers key=" + low);
      }
      if (level == 0 && entries() > 0) {
        throw new IllegalStateException(
            "the index is not empty: leaf=" + GlobalAddress.toString(address));
      }
      if (level > 0 && address == first) {
        below = firstChild();
      }
      addresses.add(address);
      low = nodes.high(NODE) + 1;
      address = nodes.sibling(NODE);
    }
    return below;
  }

  @Override
  public final void free() {
    for (long address : addresses) {
      markFreed(address);
      allocator.free(change.worker(), change.message(), address);
    }
  }
}
