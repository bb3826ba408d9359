package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.load.Fences;
import pando.index.load.TreeBuilder;

/**
 * Builds a tree from the leaves upwards, out of entries in ascending order. Nodes are filled to a
 * share of their capacity, written once, and dealt to the memory servers in turn.
 */
final class ShermanLoader implements TreeBuilder, AutoCloseable {
  private final ShermanServer server;
  private final BLinkLayout layout;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final Nodes nodes;
  private final VerbList list = new VerbList();
  private final int memoryServers;
  private final int perLeaf;
  private final int perInner;
  private final long message;

  private final long[] opened = new long[BLinkLayout.LEVELS_MAX];
  private final long[] first = new long[BLinkLayout.LEVELS_MAX];
  private long[] addresses = new long[1024];
  private int count;

  private final Fences fences = new Fences();

  ShermanLoader(ShermanServer server, Fabric fabric, Validation validation, double fill) {
    this.server = server;
    this.layout = server.layout;
    this.memoryServers = fabric.memoryServers();
    this.perLeaf = Math.max(1, (int) Math.round(layout.capacity() * fill));
    this.perInner = Math.max(2, (int) Math.round(layout.capacity() * fill));
    this.message = layout.offset(BLinkLayout.LEVELS_MAX);
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = worker.memory();
    NodeLocks none = new NodeLocks(server, validation, 0, worker, message);
    this.nodes = new Nodes(server, validation, none, worker, message);
  }

  @Override
  public int perLeaf() {
    return perLeaf;
  }

  @Override
  public void add(long key, long value) {
    if (opened[0] == 0) {
      startLeaf(Long.MIN_VALUE);
    } else if (BLinkLayout.count(memory, buffer(0)) == perLeaf) {
      startLeaf(key);
    }
    BLinkLayout.append(memory, buffer(0), key, value);
  }

  @Override
  public void startLeaf(long low) {
    open(0, opened[0] == 0 ? Long.MIN_VALUE : low);
  }

  @Override
  public long finish() {
    if (opened[0] == 0) {
      startLeaf(Long.MIN_VALUE);
    }
    if (opened[1] == 0) {
      open(1, Long.MIN_VALUE);
      BLinkLayout.append(memory, buffer(1), Long.MIN_VALUE, first[0]);
    }
    int level = 0;
    while (opened[level] > 0) {
      close(level++, Long.MAX_VALUE, GlobalAddress.NULL);
    }
    return first[level - 1] | (level - 1);
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  /** Gives every node back. */
  void abandon() {
    for (int i = 0; i < count; i++) {
      server.allocator.free(worker, message, addresses[i]);
    }
    count = 0;
  }

  /** Returns the verbs issued so far. */
  VerbCounters verbs() {
    return worker.counters();
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
  }

  private void open(int level, long low) {
    long address = server.allocator.allocate(worker, message, count % memoryServers);
    remember(address);
    boolean isFirst = opened[level]++ == 0;
    if (isFirst) {
      first[level] = address;
    } else {
      // The node above is opened, if it has to be, before this level's buffer is used again.
      makeRoomAbove(level, low);
      close(level, low - 1, address);
    }
    layout.format(memory, buffer(level), address, level, low, low, GlobalAddress.NULL);
    if (!isFirst) {
      BLinkLayout.append(memory, buffer(level + 1), low, address);
    }
    if (level == 0) {
      fences.add(low);
    }
  }

  /** Sees to it that the node above has room for one more child, which starts at {@code low}. */
  private void makeRoomAbove(int level, long low) {
    int above = level + 1;
    if (opened[above] == 0) {
      open(above, Long.MIN_VALUE);
      BLinkLayout.append(memory, buffer(above), Long.MIN_VALUE, first[level]);
    } else if (BLinkLayout.count(memory, buffer(above)) == perInner) {
      open(above, low);
    }
  }

  private void close(int level, long high, long sibling) {
    long node = buffer(level);
    BLinkLayout.setHigh(memory, node, high);
    BLinkLayout.setSibling(memory, node, sibling);
    nodes.addNode(list.clear(), node);
    worker.post(list);
  }

  private void remember(long address) {
    if (count == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * count);
    }
    addresses[count++] = address;
  }

  private long buffer(int level) {
    return layout.offset(level);
  }
}
