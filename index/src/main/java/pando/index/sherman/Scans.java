package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import pando.fabric.VerbList;
import pando.index.EntryVisitor;

/** Scans leaves, several of which are READ together where a cached node tells them. */
final class Scans {
  /** Share of a leaf that is expected to be filled. */
  private static final double FILL = 0.7;

  private final ShermanContext context;
  private final BLinkLayout layout;
  private final MemorySegment memory;
  private final Nodes nodes;
  private final Descent descent;
  private final Leaves leaves;
  private final VerbList list = new VerbList();
  private final long[] addresses = new long[ShermanContext.PARALLEL];
  private final long[] keys;
  private final long[] values;
  private boolean ended;

  Scans(ShermanContext context, Descent descent, Leaves leaves) {
    this.context = context;
    this.layout = context.layout;
    this.memory = context.memory;
    this.nodes = context.nodes;
    this.descent = descent;
    this.leaves = leaves;
    this.keys = new long[layout.capacity()];
    this.values = new long[layout.capacity()];
  }

  /** Tells whether the visitor ended the last scan. */
  boolean wasEnded() {
    return ended;
  }

  /** Visits entries in order; returns their number. */
  long scan(long from, long to, long limit, EntryVisitor visitor) {
    ended = false;
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int count = readLeaves(next, to, limit - visited);
      for (int i = 0; i < count && visited < limit; i++) {
        long high = BLinkLayout.high(memory, buffer(i));
        visited += visit(buffer(i), next, to, limit - visited, visitor);
        if (ended || high >= to) {
          return visited;
        }
        next = high + 1;
      }
    }
    return visited;
  }

  private int visit(long leaf, long from, long to, long limit, EntryVisitor visitor) {
    int count = layout.copySorted(memory, leaf, from, to, keys, values);
    int wanted = (int) Math.min(count, limit);
    for (int i = 0; i < wanted; i++) {
      if (!visitor.visit(keys[i], values[i])) {
        ended = true;
        return i + 1;
      }
    }
    return wanted;
  }

  /**
   * Reads leaves side by side, the first of which covers a key; returns how many of them are what
   * they were taken for, at least 1.
   */
  private int readLeaves(long from, long to, long limit) {
    try {
      descent.findLeaf(from);
      int planned = plan(from, to, limit);
      int whole = planned > 1 ? fetch(planned, from) : 0;
      if (whole > 0) {
        return whole;
      }
      leaves.read(from);
      MemorySegment.copy(memory, context.leaf, memory, buffer(0), layout.nodeBytes());
      return 1;
    } catch (RuntimeException e) {
      context.locks.abandon(e);
      throw e;
    }
  }

  /** Collects the leaves that the limit will take, as far as a cached node tells. */
  private int plan(long from, long to, long limit) {
    addresses[0] = descent.node;
    long expected = (long) (limit / (layout.capacity() * FILL)) + 1;
    if (expected == 1 || !nodes.canReadTogether()) {
      return 1;
    }
    int more = context.server.lower.childrenAfter(from, to, addresses, context.worker.backoff());
    return (int) Math.min(Math.min(more + 1L, expected), ShermanContext.PARALLEL);
  }

  private int fetch(int count, long from) {
    list.clear();
    for (int i = 0; i < count; i++) {
      nodes.addRead(list, addresses[i], buffer(i), wordBefore(i), wordAfter(i));
    }
    context.worker.scatter(list);
    long next = from;
    for (int i = 0; i < count; i++) {
      if (!nodes.isWhole(buffer(i), wordBefore(i), wordAfter(i))
          || nodes.check(addresses[i], 0, next, buffer(i)) != Nodes.COVERS) {
        return i;
      }
      next = BLinkLayout.high(memory, buffer(i)) + 1;
    }
    return count;
  }

  private long buffer(int number) {
    return context.scanned + layout.offset(number);
  }

  private long wordBefore(int number) {
    return context.scannedWords + 2L * number * Long.BYTES;
  }

  private long wordAfter(int number) {
    return wordBefore(number) + Long.BYTES;
  }
}
