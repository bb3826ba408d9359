package pando.index.deft;

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
import pando.index.blink.Children;
import pando.index.pool.Catalogue;

/**
 * Walks a whole tree of DEFT in the pool and checks its structure: levels, fences, siblings, that
 * each node is whole and reached once, that each part of an inner node holds what it should, and
 * that no lock is held. To be used while nobody changes the tree.
 *
 * <p>A node that is reached through its left neighbour alone is sound, and counts as a stray.
 */
public final class DeftWalk {
  private final DeftServer server;
  private final Nodes nodes;
  private final Worker worker;
  private final MemorySegment memory;
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();
  private final long[] keys;
  private final long[] values;

  /** By level, the sibling that the node before has named. */
  private final long[] expected = new long[InnerLayout.LEVELS_MAX];

  private int strays;

  private DeftWalk(DeftServer server, Worker worker, long scratch) {
    this.server = server;
    this.worker = worker;
    this.memory = worker.memory();
    this.nodes = new Nodes(server, worker, scratch);
    this.keys = new long[server.leaves.capacity()];
    this.values = new long[server.leaves.capacity()];
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options that the index was made with
   */
  public static Tree of(Fabric fabric, DeftOptions options) {
    Validation validation = DeftIndex.resolve(fabric, options);
    long message = options.nodeBytes();
    try (RegisteredMemory registered = fabric.register(message + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered);
        DeftServer server =
            new DeftServer(
                0,
                fabric,
                options.withCacheBytes(options.cacheBytesMin()),
                validation,
                worker.random())) {
      DeftWalk walk = new DeftWalk(server, worker, message);
      walk.root(new Catalogue(worker, message, server.places, server.system));
      walk.locks(fabric);
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
    try {
      if (nodes.readHeld(address, level, low, 0) != Nodes.COVERS) {
        problem(address, "is not the one that is expected there");
        return high;
      }
    } catch (PandoException e) {
      problems.add(String.valueOf(e.getMessage()));
      return high;
    }
    long end = NodeHeader.high(memory, 0);
    if (NodeHeader.low(memory, 0) != low || end > high) {
      problem(
          address,
          "fences are not the parent's: low="
              + NodeHeader.low(memory, 0)
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
    expected[level] = NodeHeader.sibling(memory, 0);
    if (level == 0) {
      leaf(address);
    } else {
      children(address, level, low, Math.min(end, high));
    }
    return Math.min(end, high);
  }

  private void leaf(long address) {
    int count = server.leaves.copySorted(memory, 0, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
    for (int i = 0; i < count; i++) {
      if (entries.put(keys[i], values[i]) != null) {
        problem(address, "has a key twice: key=" + keys[i]);
      }
    }
  }

  private void children(long address, int level, long low, long high) {
    Children children = copy(Shape.WHOLE, 0, low, high);
    checkParts(address, children, low, high);
    for (int i = 0; i < children.count; i++) {
      long end = i + 1 < children.count ? children.keys[i + 1] - 1 : high;
      nodes(ChildPointer.address(children.pointers[i]), level - 1, children.keys[i], end);
    }
  }

  /** Checks that each part, read by itself, knows the children that are in it. */
  private void checkParts(long address, Children all, long low, long high) {
    int shape = InnerLayout.shape(NodeHeader.first(memory, 0));
    for (int part = 0; part < Shape.parts(shape); part++) {
      Children own = copy(shape, part, low, high);
      for (int i = 0; i < all.count; i++) {
        long key = Math.max(all.keys[i], own.low);
        boolean asked = Shape.partOf(shape, low, key) == part && key <= high && key >= own.low;
        boolean next = i + 1 < all.count && all.keys[i + 1] <= key;
        if (asked && !next && own.pointers[own.childOf(key)] != all.pointers[i]) {
          problem(address, "part " + part + " does not know the child of key=" + key);
        }
      }
    }
  }

  private Children copy(int shape, int part, long low, long high) {
    Children children = new Children(server.inners.capacity());
    server.inners.copyChildren(memory, 0, shape, part, low, high, children);
    return children;
  }

  private void locks(Fabric fabric) {
    int words = fabric.capabilities().onChipBytes() / Long.BYTES;
    for (int memoryServer = 0; memoryServer < fabric.memoryServers(); memoryServer++) {
      for (int word = 0; word < words; word += Worker.CALL_BYTES_MAX / Long.BYTES) {
        int count = Math.min(words - word, Worker.CALL_BYTES_MAX / Long.BYTES);
        long local = server.inners.nodeBytes();
        long from = GlobalAddress.onChip(memoryServer, (long) word * Long.BYTES);
        worker.read(from, local, count * Long.BYTES);
        for (int i = 0; i < count; i++) {
          long found = Words.get(memory, local + (long) i * Long.BYTES);
          if (server.options.sxLocks() ? !SxWord.isIdle(found) : found != 0) {
            problems.add(
                "a lock is held: server="
                    + memoryServer
                    + ", word="
                    + (word + i)
                    + ", found=0x"
                    + Long.toHexString(found));
          }
        }
      }
    }
  }

  private void problem(long address, String what) {
    problems.add("node " + GlobalAddress.toString(address) + ": " + what);
  }
}
