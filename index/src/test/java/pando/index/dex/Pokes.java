package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.node.NodeLayout;
import pando.index.pool.Catalogue;

/** Reads and damages the nodes of an index that nobody has open. */
final class Pokes implements AutoCloseable {
  private final NodeLayout layout;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final int nodeBytes;
  private final NodeGuard guard;

  Pokes(Fabric fabric, int nodeBytes) {
    this.layout = new NodeLayout(nodeBytes);
    this.nodeBytes = nodeBytes;
    this.registered = fabric.register(nodeBytes + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
    this.guard = new NodeGuard(fabric, layout);
  }

  /** Returns the addresses of the nodes on the way to a key, the leaf's first. */
  long[] path(long key) {
    long root = new Catalogue(worker, nodeBytes, guard.places(), DexIndex.SYSTEM).root();
    int level = Catalogue.rootLevel(root);
    long[] path = new long[level + 1];
    path[level] = Catalogue.rootAddress(root);
    for (; level > 0; level--) {
      peek(path[level]);
      int index = layout.floor(memory, 0, NodeLayout.descriptor(memory, 0), key);
      path[level - 1] = layout.slot(memory, 0, index);
    }
    return path;
  }

  /** Returns the bytes of a node. */
  byte[] peek(long address) {
    worker.read(address, 0, nodeBytes);
    return memory.asSlice(0, nodeBytes).toArray(ValueLayout.JAVA_BYTE);
  }

  /** Replaces the image of a node. */
  void poke(long address, byte[] bytes, boolean sealed) {
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, nodeBytes);
    if (sealed) {
      layout.seal(memory, 0);
    }
    worker.write(address + NodeLayout.IMAGE, NodeLayout.IMAGE, layout.imageBytes());
  }

  long low(long address) {
    peek(address);
    return NodeLayout.low(memory, 0);
  }

  long high(long address) {
    peek(address);
    return NodeLayout.high(memory, 0);
  }

  /** Returns where in a node a slot starts. */
  int slotAt(int index) {
    return NodeLayout.KEYS + (layout.capacity() + index) * Long.BYTES;
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
  }
}
