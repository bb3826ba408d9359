package pando.index.dex;

import java.lang.foreign.MemorySegment;
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
import pando.index.pool.Findings;

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
  private final Findings findings;

  private TreeWalk(
      Fabric fabric, DexOptions options, NodeLayout layout, Worker worker, boolean entries) {
    this.findings = new Findings(entries);
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
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  public static Tree of(Fabric fabric, DexOptions options, boolean entries) {
    NodeLayout layout = new NodeLayout(options.nodeBytes());
    long nodes = (long) NodeLayout.LEVELS_MAX * layout.nodeBytes();
    try (RegisteredMemory memory = fabric.register(nodes + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      TreeWalk walk = new TreeWalk(fabric, options, layout, worker, entries);
      Catalogue catalogue = new Catalogue(worker, nodes, walk.guard.places(), DexIndex.SYSTEM);
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      walk.root(catalogue);
      return walk.findings.tree();
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
      findings.problem("the root cannot be read: " + e.getMessage());
    }
  }

  private void node(long address, int level, long low, long high, int parentServer) {
    if (!findings.reach(address)) {
      findings.problem(address, "is reached twice");
      return;
    }
    // A buffer for each level, as a node is needed until its children are done.
    long node = (long) level * layout.nodeBytes();
    worker.read(address, node, layout.nodeBytes());
    if (Words.get(memory, node + NodeLayout.LOCK) != 0) {
      findings.problem(address, "its remote lock is held");
    }
    String damage = guard.check(memory, node, address, level);
    if (damage == null) {
      damage = NodeCheck.fences(memory, node, low, high);
    }
    if (damage != null) {
      findings.problem(address, damage);
      return;
    }
    int server = GlobalAddress.server(address);
    if (level < subtreeLevel && server != parentServer) {
      findings.stray();
    }
    int count = NodeLayout.count(memory, node);
    findings.node(level, layout.nodeBytes(), count, layout.capacity());
    for (int i = 0; i < count; i++) {
      long key = NodeLayout.key(memory, node, i);
      long slot = layout.slot(memory, node, i);
      if (level == 0) {
        findings.entry(key, slot);
      } else {
        node(slot, level - 1, key, NodeLayout.highOfChild(memory, node, i), server);
      }
    }
  }
}
