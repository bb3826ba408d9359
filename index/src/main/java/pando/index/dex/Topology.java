package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.EntrySource;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/**
 * A change of the tree or its partitions as a whole: made by one caller at a time, in any process,
 * under the lock of the partition table.
 */
final class Topology implements AutoCloseable {
  private final Fabric fabric;
  private final DexOptions options;
  private final NodeLayout layout;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final VerbCounters verbs = new VerbCounters();
  private long lockOwner;

  Topology(Fabric fabric, DexOptions options, NodeLayout layout) {
    this.fabric = fabric;
    this.options = options;
    this.layout = layout;
    long nodes = (long) NodeLayout.LEVELS_MAX * layout.nodeBytes();
    this.registered = fabric.register(nodes + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
    this.catalogue = new Catalogue(worker, nodes);
  }

  Catalogue catalogue() {
    return catalogue;
  }

  Worker worker() {
    return worker;
  }

  /** Returns the local offset of room for the message of a CALL. */
  long message() {
    return (long) NodeLayout.LEVELS_MAX * layout.nodeBytes();
  }

  /** Returns the verbs that the change has taken. */
  VerbCounters verbs() {
    VerbCounters sum = verbs.copy();
    sum.add(worker.counters());
    return sum;
  }

  void lock() {
    long owner = worker.random().nextLong() | 1;
    catalogue.lockPartitions(owner);
    lockOwner = owner;
  }

  /**
   * Builds a tree without entries whose leaves start where partitions do; returns the root pointer.
   */
  long buildEmpty(ComputeServer server, Partitioning partitioning) {
    try (BulkLoader loader = loader(server, 1)) {
      for (int range = 0; range < partitioning.servers(); range++) {
        loader.startLeaf(partitioning.lowOfRange(range));
      }
      long root = loader.finish();
      verbs.add(loader.worker().counters());
      return root;
    }
  }

  /** A tree that was built, and the partitions that its leaves allow. */
  record Built(long root, Partitioning partitioning, long entries) {}

  /** Builds a tree from entries, and partitions of about equal numbers of leaves. */
  Built build(ComputeServer server, EntrySource entries, double fill, Partitioning before) {
    try (BulkLoader loader = loader(server, fill)) {
      try {
        Built built = new LoadRun(loader, entries, before).run();
        verbs.add(loader.worker().counters());
        return built;
      } catch (RuntimeException e) {
        loader.abandon();
        throw e;
      }
    }
  }

  private BulkLoader loader(ComputeServer server, double fill) {
    return new BulkLoader(fabric, layout, server.allocator, options.subtreeLevel(), fill);
  }

  /**
   * Returns the addresses of all nodes of a tree without entries.
   *
   * @throws IllegalStateException where it has entries
   */
  List<Long> nodesOfEmptyTree(long root) {
    List<Long> addresses = new ArrayList<>();
    collect(Catalogue.rootAddress(root), Catalogue.rootLevel(root), addresses);
    return addresses;
  }

  private void collect(long address, int level, List<Long> addresses) {
    long node = (long) level * layout.nodeBytes();
    worker.read(address + NodeLayout.IMAGE, node + NodeLayout.IMAGE, layout.imageBytes());
    String problem = NodeCheck.image(layout, memory, node, address, level);
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    int count = NodeLayout.count(memory, node);
    if (level == 0 && count > 0) {
      throw new IllegalStateException(
          "the index is not empty: leaf=" + GlobalAddress.toString(address) + ", entries=" + count);
    }
    addresses.add(address);
    for (int i = 0; i < count && level > 0; i++) {
      collect(layout.slot(memory, node, i), level - 1, addresses);
    }
  }

  @Override
  public void close() {
    try {
      if (lockOwner != 0) {
        catalogue.unlockPartitions(lockOwner);
      }
    } finally {
      worker.close();
      registered.close();
    }
  }

  /** One pass over the entries of a bulk load. */
  private static final class LoadRun {
    private final BulkLoader loader;
    private final EntrySource entries;
    private final Partitioning before;
    private long loaded;
    private long lastKey;

    LoadRun(BulkLoader loader, EntrySource entries, Partitioning before) {
      this.loader = loader;
      this.entries = entries;
      this.before = before;
    }

    Built run() {
      int head = before.servers() * loader.perLeaf();
      long[] keys = new long[head];
      long[] values = new long[head];
      int held = 0;
      while (held < head && next()) {
        keys[held] = entries.key();
        values[held++] = entries.value();
      }
      return held < head ? loadFew(keys, values, held) : loadMany(keys, values);
    }

    /** Too few entries for a leaf in each partition: those stay as they are. */
    private Built loadFew(long[] keys, long[] values, int count) {
      int added = 0;
      for (int range = 0; range < before.servers(); range++) {
        loader.startLeaf(before.lowOfRange(range));
        while (added < count && keys[added] <= before.highOfRange(range)) {
          loader.add(keys[added], values[added++]);
        }
      }
      return new Built(loader.finish(), before.withLows(before.lows()), loaded);
    }

    private Built loadMany(long[] keys, long[] values) {
      for (int i = 0; i < keys.length; i++) {
        loader.add(keys[i], values[i]);
      }
      while (next()) {
        loader.add(entries.key(), entries.value());
      }
      long root = loader.finish();
      long[] lows = new long[before.servers()];
      for (int range = 0; range < lows.length; range++) {
        lows[range] = loader.fence((double) range / lows.length);
      }
      return new Built(root, before.withLows(lows), loaded);
    }

    private boolean next() {
      if (!entries.next()) {
        return false;
      }
      long key = entries.key();
      if (loaded > 0 && key <= lastKey) {
        throw new IllegalArgumentException(
            "keys must ascend: entry=" + loaded + ", key=" + key + ", before=" + lastKey);
      }
      lastKey = key;
      loaded++;
      return true;
    }
  }
}
