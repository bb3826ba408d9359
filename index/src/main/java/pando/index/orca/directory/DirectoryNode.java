package pando.index.orca.directory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import pando.fabric.memory.Fields;

/**
 * The owner's copy of a directory page. What it says is immutable: a change of separators makes a
 * new page and a new node. Only references to child nodes are replaced in place.
 *
 * <p>A node of level 0 has leaves as children, by the numbers of their {@linkplain LeafEntries
 * entries}.
 */
public final class DirectoryNode {
  private static final VarHandle LATCHED =
      Fields.handle(MethodHandles.lookup(), "latched", boolean.class);

  /** Keys of a line of the processor's cache. */
  private static final int LINE_KEYS = 8;

  private final int level;
  private final long address;
  private final long high;
  private final long[] lows;
  private final int[] leaves;
  private final DirectoryNode[] nodes;

  private volatile boolean replaced;

  @SuppressWarnings("unused") // Used through LATCHED.
  private boolean latched;

  private DirectoryNode(
      int level, long address, long high, long[] lows, int[] leaves, DirectoryNode[] nodes) {
    this.level = level;
    this.address = address;
    this.high = high;
    this.lows = lows;
    this.leaves = leaves;
    this.nodes = nodes;
  }

  /**
   * Makes a node above leaves.
   *
   * @param address of its page
   * @param lows least key of each child; the first is that of the node
   * @param high greatest key of the node
   * @param leaves entry of each leaf
   */
  public static DirectoryNode ofLeaves(long address, long[] lows, long high, int[] leaves) {
    return new DirectoryNode(0, address, high, lows, leaves, new DirectoryNode[0]);
  }

  /**
   * Makes a node above nodes.
   *
   * @param level above the children's
   * @param address of its page
   * @param lows least key of each child; the first is that of the node
   * @param high greatest key of the node
   * @param nodes the children
   */
  public static DirectoryNode ofNodes(
      int level, long address, long[] lows, long high, DirectoryNode[] nodes) {
    return new DirectoryNode(level, address, high, lows, new int[0], nodes);
  }

  /** Returns the levels between it and the leaves. */
  public int level() {
    return level;
  }

  /** Returns the global address of its page. */
  public long address() {
    return address;
  }

  /** Returns the number of children. */
  public int size() {
    return lows.length;
  }

  /** Returns the least key that it covers. */
  public long low() {
    return lows[0];
  }

  /** Returns the greatest key that it covers. */
  public long high() {
    return high;
  }

  /** Returns the least key of a child. */
  public long low(int child) {
    return lows[child];
  }

  /** Returns the greatest key of a child. */
  public long high(int child) {
    return child + 1 < lows.length ? lows[child + 1] - 1 : high;
  }

  /** Returns the entry of a leaf. */
  public int leaf(int child) {
    return leaves[child];
  }

  /** Returns a child node. */
  public DirectoryNode node(int child) {
    return nodes[child];
  }

  /** Replaces a child node by one that covers the same keys. */
  void setNode(int child, DirectoryNode node) {
    nodes[child] = node;
  }

  /**
   * Returns the child that covers a key of this node. Looks at the first key of each line, and then
   * into one line: so the processor waits for the lines of a cold node at once.
   */
  public int childOf(long key) {
    int line = 0;
    for (int first = LINE_KEYS; first < lows.length; first += LINE_KEYS) {
      line += lows[first] <= key ? LINE_KEYS : 0;
    }
    int end = Math.min(line + LINE_KEYS, lows.length);
    int child = line;
    for (int i = line + 1; i < end; i++) {
      child += lows[i] <= key ? 1 : 0;
    }
    return child;
  }

  /** Returns whether a newer node covers its keys now. */
  public boolean isReplaced() {
    return replaced;
  }

  /** Marks it, so that readers see that a newer node covers its keys now. */
  void markReplaced() {
    replaced = true;
  }

  /** Latches the node, unless it is latched; returns whether it is latched by the caller now. */
  public boolean tryLatch() {
    return LATCHED.compareAndSet(this, false, true);
  }

  /** Unlatches the node. */
  public void unlatch() {
    LATCHED.setRelease(this, false);
  }

  /** Returns about how many bytes it takes in local memory. */
  long bytes() {
    return bytes(level, lows.length);
  }

  /** Returns about how many bytes the nodes of a level take that have so many children in all. */
  public static long bytes(int level, int children) {
    return (long) children * (Long.BYTES + (level == 0 ? Integer.BYTES : Long.BYTES));
  }
}
