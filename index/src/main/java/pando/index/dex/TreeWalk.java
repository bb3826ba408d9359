package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Tree;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;

/**
 * Walks a whole tree in the pool and checks its structure: levels, fences, order, counts,
 * checksums, that each node is reached once, and that no remote lock is held. Reads the pool alone:
 * to be used after caches were written back, while no session changes the tree.
 */
public final class TreeWalk {
  /** Places for keys: the high fence of a child at each level, and those of the root. */
  private static final int LEAST = NodeLayout.LEVELS_MAX;

  private static final int GREATEST = LEAST + 1;
  private static final int KEYS = LEAST + 2;

  private final NodeLayout layout;
  private final NodeGuard guard;
  private final Worker worker;
  private final MemorySegment memory;
  private final int subtreeLevel;
  private final Findings findings;
  private final boolean keepsEntries;

  private TreeWalk(
      Fabric fabric, DexOptions options, NodeLayout layout, Worker worker, boolean entries) {
    this.findings = new Findings(entries);
    this.keepsEntries = entries;
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
   * @throws IllegalStateException if the pool holds no such index, or a key that is to be kept is
   *     not that of a number
   */
  public static Tree of(Fabric fabric, DexOptions options, boolean entries) {
    NodeLayout layout = options.layout();
    long nodes = layout.offset(NodeLayout.LEVELS_MAX) + (long) KEYS * layout.keyBytes();
    try (RegisteredMemory memory = fabric.register(nodes + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      TreeWalk walk = new TreeWalk(fabric, options, layout, worker, entries);
      Catalogue catalogue =
          new Catalogue(worker, nodes, walk.guard.places(), options.systemNumber());
      catalogue.checkClaimed(options.nodeBytes(), options.kind());
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
          layout.least(memory, Long.MIN_VALUE, key(LEAST)),
          layout.greatest(memory, Long.MAX_VALUE, key(GREATEST)),
          GlobalAddress.server(address));
    } catch (PandoException e) {
      findings.problem("the root cannot be read: " + e.getMessage());
    }
  }

  private long key(int place) {
    return layout.offset(NodeLayout.LEVELS_MAX) + (long) place * layout.keyBytes();
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
    String damage = guard.fit(memory, node, address, level, low, high);
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
      long key = layout.key(memory, node, i);
      long slot = layout.slot(memory, node, i);
      if (level == 0) {
        entry(key, slot);
      } else {
        node(slot, level - 1, key, layout.highOfChild(memory, node, i, key(level)), server);
      }
    }
  }

  private void entry(long key, long value) {
    long number = layout.first(memory, key);
    if (keepsEntries && !layout.endsWith(memory, key, number)) {
      throw new IllegalStateException(
          "a key is not that of a number: walk without entries: key=" + layout.text(memory, key));
    }
    findings.entry(number, value);
  }
}
