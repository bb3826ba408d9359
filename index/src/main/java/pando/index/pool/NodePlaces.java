package pando.index.pool;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;

/** Knows where in a pool a node can be. */
public final class NodePlaces {
  private final int nodeBytes;
  private final long[] dramBytes;

  /** Looks at a pool. */
  public NodePlaces(Fabric fabric, int nodeBytes) {
    this.nodeBytes = nodeBytes;
    this.dramBytes = new long[fabric.memoryServers()];
    Arrays.setAll(dramBytes, fabric::dramBytes);
  }

  /** Returns the size of a memory server's DRAM. */
  public long dramBytes(int memoryServer) {
    return dramBytes[memoryServer];
  }

  /** Tells whether a pointer can be that of a node. */
  public boolean isNodeAddress(long pointer) {
    return fits(pointer, nodeBytes);
  }

  /** Tells whether a pointer can be that of so many bytes. */
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
