package pando.fabric.pool;

/**
 * The unused nodes of one memory server that a compute server holds. Its methods lock it and return
 * at once; no worker holds the lock during a verb.
 */
final class Shelf {
  /** No node. */
  static final long NONE = -1;

  /** Allocations that skip a full memory server before one asks it again. */
  private static final int PASSES = 256;

  private final int nodeBytes;

  /** Freed nodes. */
  private final LongStack nodes = new LongStack();

  /** Runs of nodes never used: for each the end, and on top of it the next node. */
  private final LongStack runs = new LongStack();

  private long nodesInUse;
  private int passesLeft;
  private boolean refilling;

  Shelf(int nodeBytes) {
    this.nodeBytes = nodeBytes;
  }

  /** Takes a node; returns its offset, or {@link #NONE}. The node freed last comes first. */
  synchronized long take() {
    if (nodes.size() > 0) {
      nodesInUse++;
      return nodes.pop();
    }
    if (runs.size() == 0) {
      return NONE;
    }
    nodesInUse++;
    long node = runs.pop();
    long end = runs.pop();
    addRun(node + nodeBytes, end);
    return node;
  }

  /** Puts a freed node onto the shelf; returns the number of freed nodes there. */
  synchronized int put(long node) {
    nodesInUse--;
    nodes.push(node);
    return nodes.size();
  }

  /** Puts nodes onto the shelf. */
  synchronized void addNodes(long[] offsets) {
    for (long offset : offsets) {
      nodes.push(offset);
    }
  }

  /** Puts all whole nodes between two offsets onto the shelf. */
  synchronized void addRun(long start, long end) {
    if (end - start >= nodeBytes) {
      runs.push(end);
      runs.push(start);
    }
  }

  /** Takes up to {@code limit} freed nodes: those that were put back first. */
  synchronized long[] takeNodes(int limit) {
    return nodes.takeOldest(limit);
  }

  /** Takes a run of nodes: its start and its end. Empty if there is none. */
  synchronized long[] takeRun() {
    return runs.size() == 0 ? new long[0] : new long[] {runs.pop(), runs.pop()};
  }

  /**
   * Returns whether the caller must ask the memory server for more nodes; {@code false} if another
   * worker does already.
   */
  synchronized boolean startRefill() {
    boolean first = !refilling;
    refilling = true;
    return first;
  }

  /** Ends what {@link #startRefill} began. */
  synchronized void endRefill() {
    refilling = false;
  }

  /** Notes that the memory server has nothing left. */
  synchronized void noteFull() {
    passesLeft = PASSES;
  }

  /** Returns whether to skip the memory server, as it was full a short while ago. */
  synchronized boolean passBy() {
    if (passesLeft == 0 || nodes.size() > 0 || runs.size() > 0) {
      return false;
    }
    passesLeft--;
    return true;
  }

  /** Returns the number of freed nodes. */
  synchronized int freedNodes() {
    return nodes.size();
  }

  /** Returns the number of nodes never used. */
  synchronized long newNodes() {
    long sum = 0;
    for (int i = 0; i < runs.size(); i += 2) {
      sum += (runs.get(i) - runs.get(i + 1)) / nodeBytes;
    }
    return sum;
  }

  /** Returns the number of nodes taken minus those put back. */
  synchronized long nodesInUse() {
    return nodesInUse;
  }
}
