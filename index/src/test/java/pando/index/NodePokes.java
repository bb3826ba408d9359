package pando.index;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** Reads and damages nodes of one size, which it has at the beginning of its local memory. */
public abstract class NodePokes implements Pokes {
  private final RegisteredMemory registered;
  protected final int nodeBytes;
  protected final Worker worker;
  protected final MemorySegment memory;

  /**
   * Opens a pool.
   *
   * @param more bytes of local memory behind those of a node and of a CALL
   */
  protected NodePokes(Fabric fabric, int nodeBytes, int more) {
    this.nodeBytes = nodeBytes;
    this.registered = fabric.register((long) nodeBytes + Worker.CALL_BYTES_MAX + more);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
  }

  /** Makes the checksum of the node right, if it has one. */
  protected abstract void seal();

  @Override
  public final byte[] peek(long address) {
    worker.read(address, 0, nodeBytes);
    return memory.asSlice(0, nodeBytes).toArray(ValueLayout.JAVA_BYTE);
  }

  @Override
  public final void poke(long address, byte[] bytes, boolean sealed) {
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, nodeBytes);
    if (sealed) {
      seal();
    }
    worker.write(address + image(), image(), nodeBytes - image());
  }

  /** {@inheritDoc} At its beginning, unless a subclass says otherwise. */
  @Override
  public int image() {
    return 0;
  }

  @Override
  public final void close() {
    worker.close();
    registered.close();
  }
}
