package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.Tree;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;
import pando.index.pool.NodePlaces;

/**
 * Walks a whole tree in the pool and checks it: that each node and leaf is reached once, by its own
 * path, is whole, not locked and not being replaced. A dead leaf in a slot is no problem: the
 * session that removed it did not get to empty the slot.
 */
final class SmartWalk {
  private static final int LEAVES_TO_A_LIST = 64;

  private final Reserve reserve;
  private final Worker worker;
  private final MemorySegment memory;
  private final NodePlaces places;
  private final Findings findings;
  private final VerbList list = new VerbList();
  private final long leaves;

  /** Paths of the leaves of the list as far as their slots say them, and how many bytes. */
  private final long[] prefixes = new long[LEAVES_TO_A_LIST];

  private final int[] depths = new int[LEAVES_TO_A_LIST];

  private SmartWalk(Reserve reserve, Worker worker, NodePlaces places, boolean entries) {
    this.reserve = reserve;
    this.worker = worker;
    this.memory = worker.memory();
    this.places = places;
    this.findings = new Findings(entries);
    this.leaves = image(Descent.LEVELS_MAX);
  }

  private static long image(int level) {
    return (long) level * NodeLayout.BYTES_MAX;
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options the options with which the index was created
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, SmartOptions options, boolean entries) {
    long message = image(Descent.LEVELS_MAX) + (long) LEAVES_TO_A_LIST * LeafLayout.BYTES;
    NodePlaces places = new NodePlaces(fabric, NodeLayout.BYTES_MAX);
    try (RegisteredMemory registered = fabric.register(message + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered)) {
      Catalogue catalogue = new Catalogue(worker, message, places, SmartServer.system(options));
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      return new SmartWalk(options.reserve(), worker, places, entries).walk(catalogue);
    }
  }

  private Tree walk(Catalogue catalogue) {
    try {
      node(Catalogue.rootAddress(catalogue.root()), 0, 0, 0);
      readLeaves();
    } catch (PandoException e) {
      findings.problem("the tree cannot be read: " + e.getMessage());
    }
    return findings.tree();
  }

  /**
   * Walks through a node and all below.
   *
   * @param level number of nodes above it
   * @param prefix first bytes of its path, as its slot says them
   * @param known number of those bytes
   */
  private void node(long address, int level, long prefix, int known) {
    if (!places.fits(address, LeafLayout.PLACE_BYTES) || !findings.reach(address)) {
      findings.problem(address, "is out of the pool, or reached twice");
      return;
    }
    long image = image(level);
    worker.read(address, image, NodeLayout.SLOTS);
    long header = NodeLayout.header(memory, image);
    int depth = NodeLayout.depth(header);
    if (!NodeLayout.isBelow(header, prefix, known) || (level > 0) != (depth > 0)) {
      findings.problem(address, "is no node of its place: header=0x" + Long.toHexString(header));
      return;
    }
    if (NodeLayout.life(header) != NodeLayout.LIVE) {
      findings.problem(address, "is not live: life=" + NodeLayout.life(header));
    }
    int capacity = NodeLayout.capacity(NodeLayout.type(header));
    worker.read(address, image, NodeLayout.bytes(NodeLayout.type(header)));
    slots(address, level, header, capacity);
  }

  private void slots(long address, int level, long header, int capacity) {
    long image = image(level);
    int depth = NodeLayout.depth(header);
    long prefix = NodeLayout.prefix(header);
    int placeBytes = reserve.placeBytes(NodeLayout.type(header));
    findings.node(
        "inner nodes", placeBytes, NodeLayout.children(memory, image, capacity), capacity);
    boolean[] seen = new boolean[256];
    for (int i = 0; i < capacity; i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.isFrozen(slot)) {
        findings.problem(address, "has a frozen slot: slot=" + i);
      }
      if (Slot.kind(slot) == Slot.UNUSED) {
        continue;
      }
      int next = Slot.byteOf(slot);
      if (seen[next]) {
        findings.problem(address, "has a byte twice: byte=" + next);
      }
      seen[next] = true;
      long childPrefix = KeyPath.child(prefix, depth, next);
      if (Slot.kind(slot) == Slot.NODE) {
        node(Slot.address(slot), level + 1, childPrefix, depth + 1);
      } else if (Slot.kind(slot) == Slot.LEAF) {
        leaf(Slot.address(slot), childPrefix, depth + 1);
      }
    }
  }

  /** Has a leaf be READ together with others. */
  private void leaf(long address, long prefix, int depth) {
    if (!places.fits(address, LeafLayout.PLACE_BYTES) || !findings.reach(address)) {
      findings.problem(address, "is out of the pool, or reached twice");
      return;
    }
    prefixes[list.size()] = prefix;
    depths[list.size()] = depth;
    list.read(address, leaves + (long) list.size() * LeafLayout.BYTES, LeafLayout.BYTES);
    if (list.size() == LEAVES_TO_A_LIST) {
      readLeaves();
    }
  }

  private void readLeaves() {
    if (list.size() > 0) {
      worker.scatter(list);
      for (int i = 0; i < list.size(); i++) {
        checkLeaf(i);
      }
      list.clear();
    }
  }

  private void checkLeaf(int number) {
    long address = list.remote(number);
    long leaf = list.local(number);
    long state = LeafLayout.state(memory, leaf);
    long key = LeafLayout.key(memory, leaf);
    boolean isLive = LeafLayout.life(state) == LeafLayout.LIVE;
    findings.node(0, LeafLayout.PLACE_BYTES, isLive ? 1 : 0, 1);
    if (!LeafLayout.isWhole(memory, leaf)) {
      findings.problem(address, "is no leaf: state=0x" + Long.toHexString(state));
    } else if (!KeyPath.startsWith(KeyPath.of(key), prefixes[number], depths[number])) {
      findings.problem(address, "is not on its path: key=" + key);
    } else if (LeafLayout.owner(state) != 0) {
      findings.problem(
          address, "is locked: owner=0x" + Integer.toHexString(LeafLayout.owner(state)));
    } else if (isLive && !findings.entry(key, LeafLayout.value(memory, leaf))) {
      findings.problem(address, "has a key that another one has, too: key=" + key);
    }
  }
}
