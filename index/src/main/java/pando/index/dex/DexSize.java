package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.Frames;
import pando.index.dex.node.NodeLayout;
import pando.index.session.TreeSize;

/** Estimates how many entries the range of one compute server has, through its cache. */
final class DexSize extends TreeSize {
  private final DexServer server;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final DexDescent descent;
  private final long place;
  private final long bound;

  DexSize(DexServer server, CacheContext context, DexDescent descent) {
    super(context.worker());
    this.server = server;
    this.layout = server.layout;
    this.memory = server.cache.memory();
    this.descent = descent;
    this.place = context.key(KeyPlaces.COUNTED);
    this.bound = context.key(KeyPlaces.COUNTED_BOUND);
  }

  /** Nodes are known by first words; this key of a node's first word leads to it, or behind it. */
  private long highest(long first) {
    return layout.greatest(memory, first, place);
  }

  @Override
  protected int addRoot(long low) {
    add(low, 0);
    return NodeLayout.level(memory, server.cache.anchor()) - 1;
  }

  /** {@inheritDoc} A pointer is not used: keys lead to nodes. */
  @Override
  protected boolean addChildren(int level, long key, long pointer, long low, long high) {
    descent.find(highest(key), level, true, 0);
    long node = descent.node;
    long descriptor = NodeLayout.descriptor(memory, node);
    long least = layout.least(memory, low, bound);
    int first = Math.max(layout.floor(memory, node, descriptor, least), 0);
    long greatest = layout.greatest(memory, high, bound);
    int last = layout.floor(memory, node, descriptor, greatest);
    if (!Frames.isCurrent(memory, node, descent.version)) {
      return false;
    }
    for (int i = first; i <= last; i++) {
      add(Math.max(low, layout.first(memory, layout.key(memory, node, i))), 0);
    }
    return Frames.isCurrent(memory, node, descent.version);
  }

  @Override
  protected int entries(long key, long pointer) {
    int outcome = descent.find(highest(key), false, 0);
    int count = NodeLayout.count(memory, descent.node);
    if (outcome == DexDescent.FETCHED) {
      descent.release();
      return count;
    }
    return Frames.isCurrent(memory, descent.node, descent.version) ? count : MOVED;
  }
}
