package pando.index.dex;

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
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;
import pando.index.pool.Catalogue;

/**
 * Walks a whole tree in the pool and checks its structure: levels, fences, order, counts,
 * checksums, that each node is reached once, and that no remote lock is held. Reads the pool alone:
 * to be used after caches were written back, while no session changes the tree.
 */
public final class TreeWalk {
  private final NodeLayout layout;
  private final NodeGuard guard;
  private final Worker worker;
  private final MemorySegment memory;
  private final int subtreeLevel;
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();
  private int strays;

  private TreeWalk(Fabric fabric, DexOptions options, NodeLayout layout, Worker worker) {
    this.layout = layout;
    this.guard = new NodeGuard(fabric, layout);
    this.worker = worker;
    this.memory = worker.memory();
    this.subtreeLevel = options.subtreeLevel();
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options that the index was made with
   */
  public static Tree of(Fabric fabric, DexOptions options) {
    NodeLayout layout = new NodeLayout(options.nodeBytes());
    long nodes = (long) NodeLayout.LEVELS_MAX * layout.nodeBytes();
    try (RegisteredMemory memory = fabric.register(nodes + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      TreeWalk walk = new TreeWalk(fabric, options, layout, worker);
      walk.root(new Catalogue(worker, nodes, walk.guard.places(), DexIndex.SYSTEM));
      long bytes = (long) walk.addresses.size() * options.nodeBytes();
      return new Tree(walk.entries, walk.addresses.size(), bytes, walk.strays, walk.problems);
    }
  }

  private void root(Catalogue catalogue) {
    try {
      long root = catalogue.root();
      long address = Catalogue.rootAddress(root);
      node(
          address,
          Catalogue.rootLevel(root),
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          GlobalAddress.server(address));
    } catch (PandoException e) {
      problems.add("the root cannot be read: " + e.getMessage());
    }
  }

  private void node(long address, int level, long low, long high, int parentServer) {
    if (!addresses.add(address)) {
      problem(address, "is reached twice");
      return;
    }
    // A buffer for each level, as a node is needed until its children are done.
    long node = (long) level * layout.nodeBytes();
    worker.read(address, node, layout.nodeBytes());
    if (Words.get(memory, node + NodeLayout.LOCK) != 0) {
      problem(address, "its remote lock is held");
    }
    String damage = guard.check(memory, node, address, level);
    if (damage == null) {
      damage = NodeCheck.fences(memory, node, low, high);
    }
    if (damage != null) {
      problem(address, damage);
      return;
    }
    int server = GlobalAddress.server(address);
    if (level < subtreeLevel && server != parentServer) {
      strays++;
    }
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long key = NodeLayout.key(memory, node, i);
      long slot = layout.slot(memory, node, i);
      if (level == 0) {
        entries.put(key, slot);
      } else {
        node(slot, level - 1, key, NodeLayout.highOfChild(memory, node, i), server);
      }
    }
  }

  private void problem(long address, String what) {
    problems.add("node " + GlobalAddress.toString(address) + ": " + what);
  }
}
