package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.MemoryServerLostException;
import pando.index.dex.node.NodeLayout;
import pando.index.session.Marks;

/**
 * The nodes of a cache that differ from their images in the pool, and how they are written back.
 *
 * <p>Thread-safe; each thread passes its own {@link CacheContext}.
 */
public final class DirtyNodes {
  /*
   * A private split or merge changes three cached nodes. If the images go to the pool in any order,
   * a process that is lost between two of them leaves entries there that no node leads to. So in a
   * sweep a new sibling, or a neighbour that has taken entries, goes before the parent, and a node
   * that has given entries away goes behind it. Where locks of operations stand in the way, the
   * node is left for later.
   *
   * Each image is written under the lock of its frame, from a copy.
   */

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final Swizzles swizzles;
  private final Marks marks;

  /** How often entries have moved to another node. */
  private final AtomicLong moves = new AtomicLong();

  DirtyNodes(MemorySegment memory, NodeLayout layout, Swizzles swizzles, int frames) {
    this.memory = memory;
    this.layout = layout;
    this.swizzles = swizzles;
    this.marks = new Marks(frames);
  }

  /** Marks the entries of a locked node as changed. */
  public void add(long node) {
    if (!Frames.isDirty(memory, node)) {
      Frames.setDirty(memory, node, Frames.DIRTY);
    }
    marks.set(layout.number(node));
  }

  /** Marks a locked node as new, or as one that has taken entries of a neighbour. */
  public void addTaker(long node) {
    Frames.setDirty(memory, node, Frames.DIRTY_BEFORE_PARENT);
    marks.set(layout.number(node));
    moves.incrementAndGet();
  }

  /**
   * Returns how often entries have moved to another node. A sweep may already be past that node.
   */
  public long moves() {
    return moves.get();
  }

  /** Marks a locked node as one that has given entries to a new sibling. */
  public void addGiver(long node) {
    if (Frames.dirty(memory, node) != Frames.DIRTY_BEFORE_PARENT) {
      Frames.setDirty(memory, node, Frames.DIRTY_BEHIND_PARENT);
    }
    marks.set(layout.number(node));
  }

  /** Returns marks of the frames of dirty nodes, and perhaps of others. */
  public Marks marks() {
    return marks;
  }

  /** Returns the number of dirty nodes. */
  public long count() {
    long count = 0;
    for (long next = marks.next(0); next != Marks.NONE; next = marks.next(next + 1)) {
      long node = layout.offset((int) next);
      count += Frames.state(memory, node) != Frames.FREE && Frames.isDirty(memory, node) ? 1 : 0;
    }
    return count;
  }

  /**
   * Writes the node of a frame back, with those that must be there before it.
   *
   * @return whether it is not dirty; {@code false} where locks stand in the way
   */
  boolean write(CacheContext context, int frame) {
    long node = layout.offset(frame);
    if (Frames.state(memory, node) == Frames.FREE) {
      // The next node in this frame is marked again.
      return true;
    }
    return writeUnlocked(context, node);
  }

  private boolean writeUnlocked(CacheContext context, long node) {
    if (!Frames.tryLock(memory, node)) {
      return false;
    }
    try {
      return writeLocked(context, node);
    } finally {
      Frames.unlockUnchanged(memory, node);
    }
  }

  private boolean writeLocked(CacheContext context, long node) {
    int dirty = Frames.dirty(memory, node);
    if (dirty == Frames.CLEAN || Frames.state(memory, node) != Frames.HOT) {
      return true;
    }
    if (dirty == Frames.DIRTY_BEHIND_PARENT && !writeParent(context, node)) {
      return false;
    }
    if (!writeTakers(context, node)) {
      return false;
    }
    writeImage(context, node);
    return true;
  }

  private boolean writeParent(CacheContext context, long node) {
    long parent = Frames.parent(memory, node);
    return parent == Frames.NONE || !Frames.isDirty(memory, parent) || writeOther(context, parent);
  }

  /** Writes the cached children that must be in the pool before a pointer to them is. */
  private boolean writeTakers(CacheContext context, long node) {
    if (NodeLayout.level(memory, node) == 0) {
      return true;
    }
    boolean all = true;
    int count = NodeLayout.count(memory, node);
    for (int i = 0; i < count; i++) {
      long child = swizzles.cachedChild(node, i);
      if (child != Frames.NONE && Frames.dirty(memory, child) == Frames.DIRTY_BEFORE_PARENT) {
        all &= writeOther(context, child);
      }
    }
    return all;
  }

  /**
   * Writes a node that must be in the pool before another one. Returns {@code true} also if its
   * memory server is lost: the other one does not wait for it.
   */
  private boolean writeOther(CacheContext context, long node) {
    try {
      return writeUnlocked(context, node);
    } catch (MemoryServerLostException e) {
      return true;
    }
  }

  /**
   * Writes the image of a node that no other thread changes.
   *
   * @throws pando.fabric.MemoryServerLostException if its memory server is lost; it is dirty still
   * @throws pando.fabric.UnknownOutcomeException if that did not answer; it is dirty still
   */
  void writeImage(CacheContext context, long node) {
    long copy = context.scratchNode(0);
    swizzles.copyUnswizzled(node, copy);
    layout.seal(memory, copy);
    layout.writeImage(context.worker, copy);
    Frames.setDirty(memory, node, Frames.CLEAN);
    context.writeBacks++;
  }
}
