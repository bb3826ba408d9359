package pando.baselines.blink;

import pando.index.pool.Catalogue;
import pando.index.session.TreeSize;

/** Estimates how many entries a B-link tree has. */
public final class BLinkSize extends TreeSize {
  private final BLinkContext context;
  private final BLinkNodes nodes;
  private final BLinkDescent descent;
  private final Children children;
  private int rootLevel;

  /** Creates what estimates for one worker. */
  public BLinkSize(BLinkContext context, BLinkDescent descent) {
    super(context.worker);
    this.context = context;
    this.nodes = context.nodes();
    this.descent = descent;
    this.children = descent.children;
  }

  @Override
  protected int addRoot(long low) {
    long root = descent.root();
    rootLevel = Catalogue.rootLevel(root);
    add(low, Catalogue.rootAddress(root));
    return rootLevel;
  }

  @Override
  protected boolean addChildren(int level, long key, long pointer, long low, long high) {
    context.counters.innerReads++;
    boolean covers = nodes.readOnce(pointer, level, key, context.inner) == BLinkNodes.COVERS;
    if (level == rootLevel && !(covers && nodes.high(context.inner) >= high)) {
      // It may be the root no more.
      context.tree().setRoot(0, context.worker.backoff());
      return false;
    }
    if (covers) {
      nodes.copyChildren(context.inner, children);
      for (int i = children.childOf(low); i <= children.childOf(high); i++) {
        add(Math.max(low, children.keys[i]), descent.addressOf(children.pointers[i]));
      }
    }
    return covers;
  }

  @Override
  protected int entries(long key, long pointer) {
    context.counters.leafMisses++;
    return nodes.readOnce(pointer, 0, key, context.leaf) == BLinkNodes.COVERS
        ? nodes.entries(context.leaf)
        : MOVED;
  }
}
