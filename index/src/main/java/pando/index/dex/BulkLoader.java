package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;
import pando.index.load.Fences;
import pando.index.load.TreeBuilder;
import pando.index.node.NodeLayout;

/**
 * Builds a tree from the leaves upwards, out of entries in ascending order.
 *
 * <p>Nodes are filled to a share of their capacity and written once. A subtree rooted at level M,
 * and all nodes below, are placed on one memory server, the next one on the next (DEX section 3).
 * The root is an inner node even where one leaf would do, so that no leaf is ever shared.
 */
final class BulkLoader implements TreeBuilder, AutoCloseable {
  private final NodeLayout layout;
  private final NodeAllocator allocator;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final int memoryServers;
  private final int subtreeLevel;
  private final int perLeaf;
  private final int perInner;

  private final long[] opened = new long[NodeLayout.LEVELS_MAX];
  private final long[] first = new long[NodeLayout.LEVELS_MAX];
  private long[] addresses = new long[1024];
  private int nodes;
  private long turn;

  private final Fences fences = new Fences();

  BulkLoader(
      Fabric fabric, NodeLayout layout, NodeAllocator allocator, int subtreeLevel, double fill) {
    this.layout = layout;
    this.allocator = allocator;
    this.memoryServers = fabric.memoryServers();
    this.subtreeLevel = subtreeLevel;
    this.perLeaf = Math.max(1, (int) Math.round(layout.capacity() * fill));
    this.perInner = Math.max(2, (int) Math.round(layout.capacity() * fill));
    long buffers = layout.offset(NodeLayout.LEVELS_MAX);
    this.registered = fabric.register(buffers + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
  }

  Worker worker() {
    return worker;
  }

  @Override
  public int perLeaf() {
    return perLeaf;
  }

  @Override
  public void add(long key, long value) {
    if (opened[0] == 0) {
      open(0, Long.MIN_VALUE);
    } else if (NodeLayout.count(memory, buffer(0)) == perLeaf) {
      startLeaf(key);
    }
    layout.append(memory, buffer(0), key, value);
  }

  @Override
  public void startLeaf(long low) {
    if (opened[0] == 0) {
      open(0, Long.MIN_VALUE);
    } else {
      close(0, low - 1);
      open(0, low);
    }
  }

  @Override
  public long finish() {
    if (opened[0] == 0) {
      open(0, Long.MIN_VALUE);
    }
    if (opened[1] == 0) {
      open(1, Long.MIN_VALUE);
      layout.append(memory, buffer(1), Long.MIN_VALUE, first[0]);
    }
    int level = 0;
    while (opened[level] > 0) {
      close(level++, Long.MAX_VALUE);
    }
    return first[level - 1] | (level - 1);
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  /** Gives every node back. */
  void abandon() {
    for (int i = 0; i < nodes; i++) {
      allocator.free(worker, message(), addresses[i]);
    }
    nodes = 0;
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
  }

  private void open(int level, long low) {
    if (opened[level] > 0) {
      makeRoomAbove(level, low);
    }
    long address = allocator.allocate(worker, message(), home(level));
    remember(address);
    NodeLayout.format(memory, buffer(level), address, level, low, low);
    if (opened[level]++ == 0) {
      first[level] = address;
    } else {
      layout.append(memory, buffer(level + 1), low, address);
    }
    if (level == 0) {
      fences.add(low);
    }
  }

  /**
   * Sees to it that the node above has room for one more child, which will start at {@code low}.
   */
  private void makeRoomAbove(int level, long low) {
    int above = level + 1;
    if (opened[above] == 0) {
      open(above, Long.MIN_VALUE);
      layout.append(memory, buffer(above), Long.MIN_VALUE, first[level]);
    } else if (NodeLayout.count(memory, buffer(above)) == perInner) {
      close(above, low - 1);
      open(above, low);
    }
  }

  private void close(int level, long high) {
    long node = buffer(level);
    NodeLayout.setHigh(memory, node, high);
    layout.seal(memory, node);
    layout.writeImage(worker, node);
  }

  /** Returns the memory server for the next node of a level. */
  private int home(int level) {
    if (level > subtreeLevel) {
      return (int) (turn++ % memoryServers);
    }
    long subtree = level == subtreeLevel ? opened[level] : Math.max(opened[subtreeLevel] - 1, 0);
    return (int) (subtree % memoryServers);
  }

  private void remember(long address) {
    if (nodes == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * nodes);
    }
    addresses[nodes++] = address;
  }

  private long buffer(int level) {
    return layout.offset(level);
  }

  private long message() {
    return layout.offset(NodeLayout.LEVELS_MAX);
  }
}
