package pando.index.blink;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.index.Tree;
import pando.index.pool.Catalogue;

/**
 * Walks a whole B-link tree in the pool and checks its structure: levels, fences, order, siblings,
 * and that each node is whole and reached once. To be used while no session changes the tree. A
 * system says what is in a node.
 *
 * <p>A node that is reached through its left neighbour alone is sound, and counts as a stray.
 */
public abstract class BLinkWalk {
  /** Where the node that was read starts in local memory. */
  protected static final long NODE = 0;

  private final BLinkNodes nodes;
  private final long[] keys;
  private final long[] values;
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();

  /** By level, the sibling that the node before has named. */
  private final long[] expected = new long[Catalogue.LEVELS_MAX];

  private int strays;

  /**
   * Creates what walks one tree once.
   *
   * @param entriesMax that a leaf has
   */
  protected BLinkWalk(BLinkNodes nodes, int entriesMax) {
    this.nodes = nodes;
    this.keys = new long[entriesMax];
    this.values = new long[entriesMax];
  }

  /** Copies the entries of the leaf that was read; returns their number. */
  protected abstract int copyEntries(long[] keys, long[] values);

  /**
   * Returns the children of the inner node that was read, and checks how they stand there.
   *
   * @param high greatest key that the node may cover
   */
  protected abstract Children children(long address, long low, long high);

  /** Returns the address of the node that a pointer leads to. */
  protected abstract long addressOf(long pointer);

  /** Checks that no lock is held on the places of nodes. Uses the place of the node. */
  protected void checkLock(long address) {}

  /** Notes what is wrong with a node. */
  protected final void problem(long address, String what) {
    problem("node " + GlobalAddress.toString(address) + ": " + what);
  }

  /** Notes what is wrong. */
  protected final void problem(String what) {
    problems.add(what);
  }

  /**
   * Walks the tree and returns what was found.
   *
   * @param nodeBytes of each node
   */
  protected final Tree walk(Catalogue catalogue, int nodeBytes) {
    try {
      long root = catalogue.root();
      int level = Catalogue.rootLevel(root);
      expected[level] = Catalogue.rootAddress(root);
      walk(Catalogue.rootAddress(root), level, Long.MIN_VALUE, Long.MAX_VALUE);
    } catch (PandoException e) {
      problem("the root cannot be read: " + e.getMessage());
    }
    long bytes = (long) addresses.size() * nodeBytes;
    return new Tree(entries, addresses.size(), bytes, strays, problems);
  }

  /** Walks through a child, and the siblings to its right that the node above does not know. */
  private void walk(long child, int level, long low, long high) {
    long end = node(child, level, low, high);
    while (end < high) {
      strays++;
      end = node(expected[level], level, end + 1, high);
    }
  }

  /**
   * Walks through a node and what is below it.
   *
   * @param high greatest key that it may cover
   * @return the greatest key that it covers
   */
  private long node(long address, int level, long low, long high) {
    if (!addresses.add(address)) {
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
      inner(children(address, low, end), level);
    }
    checkLock(address);
    return end;
  }

  private void checkFences(long address, long low, long high) {
    if (nodes.low(NODE) != low || nodes.high(NODE) > high) {
      problem(
          address,
          "fences are not the parent's: low="
              + nodes.low(NODE)
              + ", high="
              + nodes.high(NODE)
              + ", expectedLow="
              + low
              + ", expectedHigh="
              + high);
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
    for (int i = 0; i < count; i++) {
      if (entries.put(keys[i], values[i]) != null) {
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
