package pando.index.pool;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;

/** The addresses that a node of a pool can have. */
public final class NodePlaces {
  private final int nodeBytes;
  private final long[] dramBytes;

  /** Reads the sizes of a pool's memory servers. */
  public NodePlaces(Fabric fabric, int nodeBytes) {
    this.nodeBytes = nodeBytes;
    this.dramBytes = new long[fabric.memoryServers()];
    Arrays.setAll(dramBytes, fabric::dramBytes);
  }

  /** Returns the bytes of a memory server's DRAM. */
  public long dramBytes(int memoryServer) {
    return dramBytes[memoryServer];
  }

  /** Returns whether a pointer can be the address of a node. */
  public boolean isNodeAddress(long pointer) {
    return fits(pointer, nodeBytes);
  }

  /** Returns whether so many bytes at a pointer lie within the pool. */
  public boolean fits(long pointer, int bytes) {
    int memoryServer = GlobalAddress.server(pointer);
    long offset = GlobalAddress.offset(pointer);
    return !GlobalAddress.isSwizzled(pointer)
        && !GlobalAddress.isOnChip(pointer)
        && memoryServer < dramBytes.length
        && offset >= Fabric.CATALOGUE_BYTES
        && offset % Long.BYTES == 0
        && offset <= dramBytes[memoryServer] - bytes;
  }
}
