package pando.baselines.blink;

import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.index.Tree;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;

/**
 * Walks a whole B-link tree in the pool and checks its structure: levels, fences, order, siblings,
 * and that each node is whole and reached once. No session may change the tree meanwhile. A system
 * implements what is in a node.
 *
 * <p>A node that is only reached through its left neighbour is no problem; it counts as a stray.
 */
public abstract class BLinkWalk {
  /** Local offset of the node that was read. */
  protected static final long NODE = 0;

  private final BLinkNodes nodes;
  private final int nodeBytes;
  private final long[] keys;
  private final long[] values;
  private final int childrenMax;
  private final Findings findings;

  /** By level, the sibling's address in the node that was read last. */
  private final long[] expected = new long[Catalogue.LEVELS_MAX];

  /**
   * Creates a walk of one tree.
   *
   * @param nodeBytes size of a node
   * @param entriesMax maximum number of entries of a leaf
   * @param childrenMax maximum number of children of an inner node
   * @param entries whether to keep the entries
   */
  protected BLinkWalk(
      BLinkNodes nodes, int nodeBytes, int entriesMax, int childrenMax, boolean entries) {
    this.nodes = nodes;
    this.nodeBytes = nodeBytes;
    this.childrenMax = childrenMax;
    this.findings = new Findings(entries);
    this.keys = new long[entriesMax];
    this.values = new long[entriesMax];
  }

  /** Copies the entries of the leaf that was read; returns their number. */
  protected abstract int copyEntries(long[] keys, long[] values);

  /**
   * Returns the children of the inner node that was read, and checks them.
   *
   * @param high greatest key that the node may cover
   */
  protected abstract Children children(long address, long low, long high);

  /** Returns the address of the node that a pointer leads to. */
  protected abstract long addressOf(long pointer);

  /** Checks that the lock of a node is free. May overwrite the node's buffer. Default: no check. */
  protected void checkLock(long address) {}

  /** Records a problem of a node. */
  protected final void problem(long address, String what) {
    findings.problem(address, what);
  }

  /** Records a problem. */
  protected final void problem(String what) {
    findings.problem(what);
  }

  /** Walks the tree and returns its entries, counts and problems. */
  protected final Tree walk(Catalogue catalogue) {
    try {
      long root = catalogue.root();
      int level = Catalogue.rootLevel(root);
      expected[level] = Catalogue.rootAddress(root);
      walk(Catalogue.rootAddress(root), level, Long.MIN_VALUE, Long.MAX_VALUE);
    } catch (PandoException e) {
      problem("the root cannot be read: " + e.getMessage());
    }
    return findings.tree();
  }

  /** Walks through a child, and the siblings to its right that are not in the parent. */
  private void walk(long child, int level, long low, long high) {
    long end = node(child, level, low, high);
    while (end < high) {
      findings.stray();
      end = node(expected[level], level, end + 1, high);
    }
  }

  /**
   * Walks through a node and its subtree.
   *
   * @param high greatest key that the node may cover
   * @return the greatest key that the node covers
   */
  private long node(long address, int level, long low, long high) {
    if (!findings.reach(address)) {
      problem(address, "is reached twice");
      return high;
    }
    try {
      if (nodes.readHeld(address, level, low, NODE) != BLinkNodes.COVERS) {
        problem(address, "is not the one that is expected there");
        return high;
      }
    } catch (PandoException e) {
      problem(String.valueOf(e.getMessage()));
      return high;
    }
    checkFences(address, low, high);
    checkSibling(address, level);
    long end = Math.min(nodes.high(NODE), high);
    if (level == 0) {
      leaf(address);
    } else {
      Children children = children(address, low, end);
      findings.node(level, nodeBytes, children.count, childrenMax);
      inner(children, level);
    }
    checkLock(address);
    return end;
  }

  private void checkFences(long address, long low, long high) {
    if (nodes.low(NODE) != low || nodes.high(NODE) > high) {
      problem(
          address,
          "fences are not the parent's: low=%s, high=%s, expectedLow=%s, expectedHigh=%s"
              .formatted(nodes.low(NODE), nodes.high(NODE), low, high));
    }
  }

  private void checkSibling(long address, int level) {
    if (expected[level] != GlobalAddress.NULL && expected[level] != address) {
      problem(
          address,
          "is not the sibling that the node before names: "
              + GlobalAddress.toString(expected[level]));
    }
    expected[level] = nodes.sibling(NODE);
  }

  private void leaf(long address) {
    int count = copyEntries(keys, values);
    findings.node(0, nodeBytes, count, keys.length);
    for (int i = 0; i < count; i++) {
      if (!findings.entry(keys[i], values[i])) {
        problem(address, "has a key twice: key=" + keys[i]);
      }
    }
  }

  private void inner(Children children, int level) {
    for (int i = 0; i < children.count; i++) {
      walk(addressOf(children.pointers[i]), level - 1, children.keys[i], children.highOf(i));
    }
  }
}
