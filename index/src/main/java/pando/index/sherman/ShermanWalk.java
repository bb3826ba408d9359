package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Tree;
import pando.index.lock.LockTables;
import pando.index.pool.Catalogue;

/**
 * Walks a whole B-link tree in the pool and checks its structure: levels, fences, order, siblings,
 * that each node is whole and reached once, and that no lock is held. To be used while nobody
 * changes the tree.
 *
 * <p>A node that is reached through its left neighbour alone is sound, and counts as a stray.
 */
public final class ShermanWalk {
  private final BLinkLayout layout;
  private final LockTables locks;
  private final Nodes nodes;
  private final Worker worker;
  private final MemorySegment memory;
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();

  /** By level, the sibling that the node before has named. */
  private final long[] expected = new long[BLinkLayout.LEVELS_MAX];

  private int strays;

  private ShermanWalk(ShermanServer server, Worker worker, long scratch) {
    this.layout = server.layout;
    this.locks = server.locks;
    this.worker = worker;
    this.memory = worker.memory();
    this.nodes = new Nodes(server, worker, scratch);
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options that the index was made with
   */
  public static Tree of(Fabric fabric, ShermanOptions options) {
    BLinkLayout layout = new BLinkLayout(options.nodeBytes());
    Validation validation = ShermanIndex.resolve(fabric, options);
    long message = layout.offset(BLinkLayout.LEVELS_MAX);
    try (RegisteredMemory registered = fabric.register(message + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered);
        ShermanServer server =
            new ShermanServer(
                0,
                fabric,
                options.withCacheBytes((long) ShermanOptions.FRAMES_MIN * layout.nodeBytes()),
                layout,
                validation,
                worker.random())) {
      ShermanWalk walk = new ShermanWalk(server, worker, message);
      walk.root(new Catalogue(worker, message, server.places, server.system));
      walk.locks.forEachHeld(fabric, worker, message, walk.problems::add);
      long bytes = (long) walk.addresses.size() * options.nodeBytes();
      return new Tree(walk.entries, walk.addresses.size(), bytes, walk.strays, walk.problems);
    }
  }

  private void root(Catalogue catalogue) {
    try {
      long root = catalogue.root();
      int level = Catalogue.rootLevel(root);
      expected[level] = Catalogue.rootAddress(root);
      nodes(Catalogue.rootAddress(root), level, Long.MIN_VALUE, Long.MAX_VALUE);
    } catch (PandoException e) {
      problems.add("the root cannot be read: " + e.getMessage());
    }
  }

  /** Walks through a child, and the siblings to its right that the node above does not know. */
  private void nodes(long child, int level, long low, long high) {
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
    // A place for each level: a node is needed until its children are done.
    long node = layout.offset(level);
    try {
      if (nodes.readHeld(address, level, low, node) != Nodes.COVERS) {
        problem(address, "is not the one that is expected there");
        return high;
      }
    } catch (PandoException e) {
      problems.add(String.valueOf(e.getMessage()));
      return high;
    }
    long end = BLinkLayout.high(memory, node);
    if (BLinkLayout.low(memory, node) != low || end > high) {
      problem(
          address,
          "fences are not the parent's: low="
              + BLinkLayout.low(memory, node)
              + ", high="
              + end
              + ", expectedLow="
              + low
              + ", expectedHigh="
              + high);
    }
    if (expected[level] != 0 && expected[level] != address) {
      problem(
          address,
          "is not the sibling that the node before names: "
              + GlobalAddress.toString(expected[level]));
    }
    expected[level] = BLinkLayout.sibling(memory, node);
    if (level == 0) {
      leaf(node);
    } else {
      for (int i = 0; i < BLinkLayout.count(memory, node); i++) {
        nodes(
            BLinkLayout.slot(memory, node, i),
            level - 1,
            BLinkLayout.key(memory, node, i),
            BLinkLayout.highOfChild(memory, node, i));
      }
    }
    worker.read(address + BLinkLayout.LOCK, node, Long.BYTES);
    if ((Words.get(memory, node) & LockTables.LOCK_MASK) != 0) {
      problem(address, "its lock is held");
    }
    return Math.min(end, high);
  }

  private void leaf(long node) {
    for (int i = 0; i < layout.capacity(); i++) {
      if (BLinkLayout.isPresent(memory, node, i)
          && entries.put(BLinkLayout.key(memory, node, i), BLinkLayout.slot(memory, node, i))
              != null) {
        problem(
            BLinkLayout.address(memory, node),
            "has a key twice: key=" + BLinkLayout.key(memory, node, i));
      }
    }
  }

  private void problem(long address, String what) {
    problems.add("node " + GlobalAddress.toString(address) + ": " + what);
  }
}
