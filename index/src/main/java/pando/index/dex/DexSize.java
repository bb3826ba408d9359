package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.index.cache.CacheContext;
import pando.index.cache.Frames;
import pando.index.node.NodeLayout;
import pando.index.session.TreeSize;

/** Estimates how many entries the range of one compute server has, through its cache. */
final class DexSize extends TreeSize {
  private final ComputeServer server;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Descent descent;

  DexSize(ComputeServer server, CacheContext context, Descent descent) {
    super(context.worker());
    this.server = server;
    this.layout = server.layout;
    this.memory = server.cache.memory();
    this.descent = descent;
  }

  @Override
  protected int addRoot(long low) {
    add(low, 0);
    return NodeLayout.level(memory, server.cache.anchor()) - 1;
  }

  /** {@inheritDoc} A pointer is not used: keys lead to nodes. */
  @Override
  protected boolean addChildren(int level, long key, long pointer, long low, long high) {
    descent.find(key, level, true, 0);
    long node = descent.node;
    long descriptor = NodeLayout.descriptor(memory, node);
    int first = Math.max(layout.floor(memory, node, descriptor, low), 0);
    int last = layout.floor(memory, node, descriptor, high);
    if (!Frames.isCurrent(memory, node, descent.version)) {
      return false;
    }
    for (int i = first; i <= last; i++) {
      add(Math.max(low, NodeLayout.key(memory, node, i)), 0);
    }
    return Frames.isCurrent(memory, node, descent.version);
  }

  @Override
  protected int entries(long key, long pointer) {
    int outcome = descent.find(key, false, 0);
    int count = NodeLayout.count(memory, descent.node);
    if (outcome == Descent.FETCHED) {
      descent.release();
      return count;
    }
    return Frames.isCurrent(memory, descent.node, descent.version) ? count : MOVED;
  }
}
