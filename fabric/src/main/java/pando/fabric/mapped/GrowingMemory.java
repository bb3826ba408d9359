package pando.fabric.mapped;

import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.SystemMemory;
import pando.fabric.server.PoolMemory;

/**
 * Memory of a memory server that is committed when it is used, and given back to the system.
 *
 * @param memory all of the memory server's
 */
public record GrowingMemory(NativeMemory memory) implements PoolMemory {
  @Override
  public long availableBytes() {
    return SystemMemory.own().availableBytes();
  }

  @Override
  public void discard(long offset, long bytes) {
    memory.discard(offset, bytes);
  }

  @Override
  public void reuse(long offset, long bytes) {
    memory.askForHugePages(offset, bytes, true);
  }
}
