package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Pokes;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Reads and damages the nodes of the trees of EMT-D, which have no checksum. */
public final class EmtPokes implements Pokes {
  private final int nodeBytes;
  private final EmtNode layout;
  private final int memoryServers;
  private final NodePlaces places;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final Catalogue catalogue;

  /** Opens a pool. */
  public EmtPokes(Fabric fabric, EmtOptions options) {
    this.nodeBytes = options.nodeBytes();
    this.layout = new EmtNode(nodeBytes);
    this.memoryServers = fabric.memoryServers();
    this.places = new NodePlaces(fabric, nodeBytes);
    this.registered = fabric.register(nodeBytes + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
    this.catalogue = new Catalogue(worker, nodeBytes, places, EmtIndex.number());
  }

  /** Returns the addresses of the headers of all trees. */
  long[] trees() {
    Ranges ranges = ranges();
    long[] trees = new long[ranges.count()];
    Arrays.setAll(trees, ranges::tree);
    return trees;
  }

  private Ranges ranges() {
    long first = Catalogue.rootAddress(catalogue.root());
    return Ranges.read(first, places, memoryServers, worker, 0);
  }

  @Override
  public long[] path(long key) {
    Ranges ranges = ranges();
    worker.read(ranges.tree(ranges.find(key)), 0, EmtHeader.BYTES);
    long root = EmtHeader.get(memory, 0, EmtHeader.ROOT);
    long[] path = new long[EmtHeader.rootLevel(root) + 1];
    long address = EmtHeader.rootAddress(root);
    for (int level = path.length - 1; ; level--) {
      path[level] = address;
      if (level == 0) {
        return path;
      }
      worker.read(address, 0, nodeBytes);
      address = layout.value(memory, 0, EmtNode.floor(memory, 0, key));
    }
  }

  @Override
  public long low(long address) {
    worker.read(address, 0, nodeBytes);
    return EmtNode.low(memory, 0);
  }

  @Override
  public long high(long address) {
    worker.read(address, 0, nodeBytes);
    return EmtNode.high(memory, 0);
  }

  @Override
  public byte[] peek(long address) {
    worker.read(address, 0, nodeBytes);
    return memory.asSlice(0, nodeBytes).toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public void poke(long address, byte[] bytes, boolean sealed) {
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, nodeBytes);
    worker.write(address, 0, nodeBytes);
  }

  @Override
  public int image() {
    return 0;
  }

  @Override
  public int slotAt(int index) {
    return layout.valueAt(index);
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
  }
}
