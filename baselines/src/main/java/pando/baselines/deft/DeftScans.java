package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.index.session.LeafScan;

/**
 * Reads the leaves of a scan; several together, if cached segments of level 1 have their addresses.
 */
final class DeftScans extends LeafScan {
  /** Expected fill of a leaf. */
  private static final double FILL = 0.6;

  private static final int READS_BEFORE_LOCK = 8;
  private static final int HOPS_MAX = 10_000;

  private final DeftContext context;
  private final DeftLeafLayout layout;
  private final MemorySegment memory;
  private final DeftNodes nodes;
  private final DeftDescent descent;
  private final VerbList list = new VerbList();
  private final long[] pointers = new long[DeftContext.PARALLEL];
  private final long[] addresses = new long[DeftContext.PARALLEL];

  /** Outcome of the READ of the first leaf: one of those of {@link DeftNodes#check}. */
  private int first;

  DeftScans(DeftContext context, DeftDescent descent) {
    super(context::abandon);
    this.context = context;
    this.layout = context.server.leaves;
    this.memory = context.memory;
    this.nodes = context.nodes;
    this.descent = descent;
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    for (int attempt = 0; attempt < DeftDescent.RESTARTS_MAX; attempt++) {
      descent.findLeaf(from);
      int whole = fetch(plan(from, to, down, limit), from, down);
      for (int hops = 0; first == DeftNodes.RIGHT && hops < HOPS_MAX; hops++) {
        descent.right(NodeHeader.sibling(memory, context.scanned(0)));
        addresses[0] = descent.node;
        whole = fetch(1, from, down);
      }
      if (first == DeftNodes.TORN && attempt >= READS_BEFORE_LOCK) {
        whole = fetchLocked(from);
      }
      if (whole > 0) {
        return whole;
      }
      descent.astray(attempt);
    }
    throw new StalledException(
        "no descent found the leaf that covers a key: key=%s, restarts=%s"
            .formatted(from, DeftDescent.RESTARTS_MAX));
  }

  /**
   * Collects the addresses of the leaves that the scan needs, as far as cached segments have them;
   * returns their number.
   */
  private int plan(long from, long to, boolean down, long limit) {
    addresses[0] = descent.node;
    long expected = (long) (limit / (layout.capacity() * FILL)) + 1;
    if (expected == 1) {
      return 1;
    }
    int more =
        context.server.lower.childrenBeside(from, to, down, pointers, context.worker.backoff());
    int count = (int) Math.min(Math.min(more + 1L, expected), DeftContext.PARALLEL);
    for (int i = 1; i < count; i++) {
      addresses[i] = ChildPointer.address(pointers[i]);
    }
    return count;
  }

  /** Reads leaves together; returns how many of them, from the first on, are whole and adjacent. */
  private int fetch(int count, long from, boolean down) {
    list.clear();
    for (int i = 0; i < count; i++) {
      nodes.addLeaf(
          list, addresses[i], context.scanned(i), context.wordBefore(i), context.wordAfter(i));
    }
    context.worker.scatter(list);
    first = check(0, from);
    int inRow = first == DeftNodes.COVERS ? 1 : 0;
    while (inRow > 0
        && inRow < count
        && check(inRow, behind(inRow - 1, down)) == DeftNodes.COVERS) {
      inRow++;
    }
    return inRow;
  }

  /** Returns the key that a leaf's neighbour covers, in the direction of the scan. */
  private long behind(int leaf, boolean down) {
    return down ? fence(leaf, true) - 1 : fence(leaf, false) + 1;
  }

  @Override
  protected long fence(int leaf, boolean down) {
    long image = context.scanned(leaf);
    return down ? NodeHeader.low(memory, image) : NodeHeader.high(memory, image);
  }

  @Override
  protected int entriesMax(int leaf) {
    return layout.capacity();
  }

  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    return layout.copySorted(memory, context.scanned(leaf), least, greatest, keys, values);
  }

  private int check(int number, long key) {
    long leaf = context.scanned(number);
    return nodes.isLeafWhole(leaf, context.wordBefore(number), context.wordAfter(number))
        ? nodes.check(addresses[number], 0, key, leaf)
        : DeftNodes.TORN;
  }

  /** Reads, under the lock, a leaf that all READs found torn or damaged. */
  private int fetchLocked(long key) {
    long node = descent.node;
    list.clear().read(node, context.scanned(0), context.server.inners.nodeBytes());
    if (!context.locks.lockExclusive(node, list)) {
      context.worker.post(list);
    }
    int outcome = nodes.checkHeld(node, 0, key, context.scanned(0));
    context.locks.unlock(node);
    return outcome == DeftNodes.COVERS ? 1 : 0;
  }
}
