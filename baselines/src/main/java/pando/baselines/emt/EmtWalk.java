package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Tree;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;
import pando.index.pool.NodePlaces;

/**
 * Walks the trees of all memory servers by READs and checks them: that fences follow each other, that
 * keys are in order and within them, that each node is reached once and lies at its tree's memory
 * server, that only a root is an empty leaf, and that headers count right. No session may change the
 * index meanwhile.
 */
final class EmtWalk {
  private final Worker worker;
  private final MemorySegment memory;
  private final EmtNode layout;
  private final NodePlaces places;
  private final Findings findings;
  private final int nodeBytes;
  private long entries;

  private EmtWalk(Worker worker, NodePlaces places, int nodeBytes, Findings findings) {
    this.worker = worker;
    this.memory = worker.memory();
    this.layout = new EmtNode(nodeBytes);
    this.places = places;
    this.nodeBytes = nodeBytes;
    this.findings = findings;
  }

  /**
   * Walks the index of a pool.
   *
   * @param options that the index was made with
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, EmtOptions options, boolean entries) {
    int nodeBytes = options.nodeBytes();
    NodePlaces places = new NodePlaces(fabric, nodeBytes);
    Findings findings = new Findings(entries);
    // A node for each level, the header, and the buffer of the catalogue.
    long local = (Catalogue.LEVELS_MAX + 1L) * nodeBytes;
    try (RegisteredMemory registered = fabric.register(local + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered)) {
      Catalogue catalogue = new Catalogue(worker, local, places, EmtIndex.number());
      catalogue.checkClaimed(nodeBytes, options.system());
      EmtWalk walk = new EmtWalk(worker, places, nodeBytes, findings);
      walk.trees(catalogue, fabric.memoryServers());
      return findings.tree();
    }
  }

  private void trees(Catalogue catalogue, int memoryServers) {
    try {
      long first = Catalogue.rootAddress(catalogue.root());
      Ranges ranges = Ranges.read(first, places, memoryServers, worker, 0);
      for (int i = 0; i < ranges.count(); i++) {
        tree(ranges.tree(i), ranges.low(i), ranges.high(i));
      }
    } catch (PandoException e) {
      findings.problem("trees cannot be read: " + e.getMessage());
    }
  }

  private void tree(long header, long low, long high) {
    long at = (long) Catalogue.LEVELS_MAX * nodeBytes;
    worker.read(header, at, EmtHeader.BYTES);
    findings.reach(header);
    findings.node("headers of trees", nodeBytes, 1, 1);
    long root = EmtHeader.get(memory, at, EmtHeader.ROOT);
    entries = 0;
    node(EmtHeader.rootAddress(root), EmtHeader.rootLevel(root), low, high, true);
    check(header, "entries", EmtHeader.get(memory, at, EmtHeader.ENTRIES), entries);
    long free = free(header, EmtHeader.get(memory, at, EmtHeader.FREE));
    check(header, "free nodes", EmtHeader.get(memory, at, EmtHeader.FREE_NODES), free);
  }

  private void check(long header, String what, long counted, long found) {
    if (counted != found) {
      findings.problem(header, "counts wrong: " + what + "=" + counted + ", found=" + found);
    }
  }

  private void node(long address, int level, long low, long high, boolean isRoot) {
    long at = (long) Math.min(level, Catalogue.LEVELS_MAX - 1) * nodeBytes;
    if (!places.isNodeAddress(address) || !findings.reach(address)) {
      findings.problem(address, "is no node, or is reached twice: low=" + low);
      return;
    }
    worker.read(address, at, nodeBytes);
    int count = EmtNode.count(memory, at);
    if (!layout.isWhole(memory, at, address, level, low, high)
        || !EmtNode.isInOrder(memory, at)
        || (count == 0 && !isRoot)) {
      findings.problem(
          address, "is not the node of its keys: level=%s, low=%s".formatted(level, low));
      return;
    }
    findings.node(level, nodeBytes, count, layout.capacity());
    for (int rank = 0; rank < count; rank++) {
      long key = EmtNode.key(memory, at, rank);
      long value = layout.value(memory, at, rank);
      if (level == 0) {
        findings.entry(key, value);
        entries++;
      } else {
        node(value, level - 1, key, EmtNode.childHigh(memory, at, rank), false);
      }
    }
  }

  private long free(long header, long first) {
    long count = 0;
    for (long address = first; address != GlobalAddress.NULL; count++) {
      if (!places.isNodeAddress(address) || !findings.reach(address)) {
        findings.problem(header, "has no free node: " + GlobalAddress.toString(address));
        return count;
      }
      worker.read(address, 0, nodeBytes);
      if (!EmtNode.isFree(memory, 0, address)) {
        findings.problem(address, "is not a free node");
      }
      findings.node("free nodes of trees", nodeBytes, 0, 0);
      address = EmtHeader.get(memory, 0, EmtNode.LINK);
    }
    return count;
  }
}
