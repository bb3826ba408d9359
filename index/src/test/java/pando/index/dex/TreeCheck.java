package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/** Walks the tree in the pool, after everything was written back, and checks its structure. */
final class TreeCheck {
  private final NodeLayout layout;
  private final Worker worker;
  private final MemorySegment memory;
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private int strays;

  private TreeCheck(NodeLayout layout, Worker worker) {
    this.layout = layout;
    this.worker = worker;
    this.memory = worker.memory();
  }

  /** What a walk found. */
  record Tree(TreeMap<Long, Long> entries, int nodes, int strays) {}

  /** Checks the tree and returns what it holds. */
  static Tree walk(Fabric fabric, DexOptions options) {
    NodeLayout layout = new NodeLayout(options.nodeBytes());
    long nodes = (long) NodeLayout.LEVELS_MAX * layout.nodeBytes();
    try (RegisteredMemory memory = fabric.register(nodes + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      TreeCheck check = new TreeCheck(layout, worker);
      long root = new Catalogue(worker, nodes, new NodeGuard(fabric, layout)).root();
      check.node(
          Catalogue.rootAddress(root),
          Catalogue.rootLevel(root),
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          GlobalAddress.server(Catalogue.rootAddress(root)),
          options.subtreeLevel());
      return new Tree(check.entries, check.addresses.size(), check.strays);
    }
  }

  private void node(long address, int level, long low, long high, int server, int subtreeLevel) {
    assertThat(addresses.add(address)).as("node is reached once: %d", address).isTrue();
    long node = (long) level * layout.nodeBytes();
    worker.read(address, node, layout.nodeBytes());
    String where = GlobalAddress.toString(address);
    assertThat(NodeCheck.image(layout, memory, node, address, level)).as(where).isNull();
    assertThat(NodeCheck.fences(memory, node, low, high)).as(where).isNull();
    assertThat(memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, node))
        .as("lock " + where)
        .isZero();
    if (level < subtreeLevel && GlobalAddress.server(address) != server) {
      strays++;
    }
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long key = NodeLayout.key(memory, node, i);
      assertThat(key).as(where).isBetween(low, high);
      if (level == 0) {
        entries.put(key, layout.slot(memory, node, i));
        continue;
      }
      long childHigh = i + 1 < count ? NodeLayout.key(memory, node, i + 1) - 1 : high;
      node(
          layout.slot(memory, node, i),
          level - 1,
          key,
          childHigh,
          GlobalAddress.server(address),
          subtreeLevel);
    }
  }
}
