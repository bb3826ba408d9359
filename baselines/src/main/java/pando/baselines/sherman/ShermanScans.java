package pando.baselines.sherman;

import pando.fabric.VerbList;
import pando.index.session.LeafScan;

/**
 * Reads the leaves of a scan; several together, if cached copies of level 1 have their addresses.
 */
final class ShermanScans extends LeafScan {
  /** Expected fill of a leaf. */
  private static final double FILL = 0.7;

  private final ShermanContext context;
  private final BLinkLayout layout;
  private final ShermanNodes nodes;
  private final ShermanDescent descent;
  private final ShermanLeaves leaves;
  private final VerbList list = new VerbList();
  private final long[] addresses = new long[ShermanContext.PARALLEL];

  ShermanScans(ShermanContext context, ShermanDescent descent, ShermanLeaves leaves) {
    super(context::abandon);
    this.context = context;
    this.layout = context.layout;
    this.nodes = context.nodes;
    this.descent = descent;
    this.leaves = leaves;
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    descent.findLeaf(from);
    int planned = plan(from, to, down, limit);
    int whole = planned > 1 ? fetch(planned, from, down) : 0;
    if (whole > 0) {
      return whole;
    }
    leaves.read(from, context.scanned(0));
    return 1;
  }

  /**
   * Collects the addresses of the leaves that the scan needs, as far as cached copies have them;
   * returns their number.
   */
  private int plan(long from, long to, boolean down, long limit) {
    addresses[0] = descent.node;
    long expected = (long) (limit / (layout.capacity() * FILL)) + 1;
    if (expected == 1 || !nodes.canReadTogether()) {
      return 1;
    }
    int more =
        context.server.lower.childrenBeside(from, to, down, addresses, context.worker.backoff());
    return (int) Math.min(Math.min(more + 1L, expected), ShermanContext.PARALLEL);
  }

  private int fetch(int count, long from, boolean down) {
    list.clear();
    for (int i = 0; i < count; i++) {
      nodes.addRead(
          list, addresses[i], context.scanned(i), context.wordBefore(i), context.wordAfter(i));
    }
    context.worker.scatter(list);
    long next = from;
    for (int i = 0; i < count; i++) {
      if (!nodes.isWhole(context.scanned(i), context.wordBefore(i), context.wordAfter(i))
          || nodes.check(addresses[i], 0, next, context.scanned(i)) != ShermanNodes.COVERS) {
        return i;
      }
      next = down ? fence(i, true) - 1 : fence(i, false) + 1;
    }
    return count;
  }

  @Override
  protected long fence(int leaf, boolean down) {
    long image = context.scanned(leaf);
    return down ? BLinkLayout.low(context.memory, image) : BLinkLayout.high(context.memory, image);
  }

  @Override
  protected int entriesMax(int leaf) {
    return layout.capacity();
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    return layout.copySorted(context.memory, context.scanned(leaf), least, greatest, keys, values);
  }
}
