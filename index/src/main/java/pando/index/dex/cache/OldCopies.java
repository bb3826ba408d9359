package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.WaitLimit;
import pando.index.dex.node.NodeLayout;

/**
 * Removes outdated copies from the cache: of nodes that a memory server changed, and of nodes that
 * were freed and whose addresses other nodes have or will get.
 *
 * <p>Thread-safe; each thread passes its own {@link CacheContext}.
 */
public final class OldCopies {

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final int frames;
  private final MappingTable mapping;
  private final Swizzles swizzles;
  private final Cooler cooler;

  OldCopies(
      MemorySegment memory,
      NodeLayout layout,
      int frames,
      MappingTable mapping,
      Swizzles swizzles,
      Cooler cooler) {
    this.memory = memory;
    this.layout = layout;
    this.frames = frames;
    this.mapping = mapping;
    this.swizzles = swizzles;
    this.cooler = cooler;
  }

  /**
   * Drops a cooling copy of a node that a memory server changed. The caller has claimed a node
   * above it, so no other thread reaches the copy, except to evict it.
   */
  public void invalidate(CacheContext context, long address) {
    long node = lockCached(context, address);
    if (node == Frames.NONE) {
      return;
    }
    if (Frames.state(memory, node) != Frames.COOLING) {
      Frames.unlockUnchanged(memory, node);
      throw new AssertionError(
          "a memory server changed a node in use: " + GlobalAddress.toString(address));
    }
    cooler.forget(context, node);
    cooler.drop(context, node);
  }

  /**
   * Makes sure that no copy of a freed node is cached, before its address is used again.
   *
   * @return whether no copy is cached any more; {@code false} if the old copy is in use
   */
  public boolean forget(CacheContext context, long address) {
    if (mapping.find(context.backoff, address) == MappingTable.ABSENT) {
      return true;
    }
    long node = lockCached(context, address);
    if (node == Frames.NONE) {
      return mapping.find(context.backoff, address) == MappingTable.ABSENT;
    }
    boolean cool = Frames.state(memory, node) == Frames.COOLING;
    boolean unused =
        cool
            || (Frames.parent(memory, node) == Frames.NONE
                && Frames.pins(memory, node) == 0
                && swizzles.child(context.random, node) == Frames.NONE);
    if (!unused) {
      Frames.unlockUnchanged(memory, node);
      return false;
    }
    if (cool) {
      cooler.forget(context, node);
    }
    cooler.drop(context, node);
    return true;
  }

  /**
   * Detaches the locked copy of a node whose address another node has, so that the caller can make
   * its children orphans and drop it.
   *
   * @return {@code false} if it is in use or dirty; then it stays as it is
   */
  public boolean tryDetach(long node) {
    long parent = Frames.parent(memory, node);
    boolean unused =
        Frames.state(memory, node) == Frames.HOT
            && Frames.pins(memory, node) == 0
            && !Frames.isDirty(memory, node)
            && (parent == Frames.NONE || swizzles.unswizzle(parent, node));
    if (unused) {
      Frames.setParent(memory, node, Frames.NONE);
    }
    return unused;
  }

  /**
   * Locks the frame that holds the node of an address; returns {@link Frames#NONE} if none does.
   */
  public long lockCached(CacheContext context, long address) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int frame = mapping.find(context.backoff, address);
      if (frame == MappingTable.ABSENT || frame >= frames) {
        return Frames.NONE;
      }
      long node = layout.offset(frame);
      if (Frames.tryLock(memory, node)) {
        if (NodeLayout.address(memory, node) == address
            && Frames.state(memory, node) != Frames.FREE) {
          return node;
        }
        Frames.unlockUnchanged(memory, node);
      }
      start =
          WaitLimit.SHORT.pause(
              context.backoff,
              attempt,
              start,
              "a cached node stayed locked: node",
              address,
              GlobalAddress::toString);
    }
  }
}
