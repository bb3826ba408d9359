package pando.fabric.base;

import java.lang.foreign.MemorySegment;
import pando.fabric.RegisteredMemory;
import pando.fabric.memory.NativeMemory;

/** Local memory for verbs that are plain copies: registered by being known to its fabric. */
record NativeRegisteredMemory(FabricBase fabric, NativeMemory memory) implements RegisteredMemory {
  @Override
  public MemorySegment segment() {
    return memory.segment();
  }

  @Override
  public void close() {
    memory.close();
  }
}
