package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import pando.fabric.MemoryServerLostException;
import pando.index.dex.node.NodeLayout;
import pando.index.session.Marks;
import pando.index.session.Retry;

/**
 * The nodes of a cache that differ from their images in the pool, and how they are written back.
 *
 * <p>Thread-safe; each thread passes its own {@link CacheContext}.
 */
public final class DirtyNodes {
  /*
   * These are leaves: a split or a merge writes inner nodes at once. Only where such a WRITE has
   * failed is an inner node dirty, and goes to the pool before its children, which may have given
   * entries to a sibling that it alone leads to. Where locks of operations stand in the way, a node
   * is left for later.
   *
   * Each image is written under the lock of its frame, from a copy.
   */

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final Swizzles swizzles;
  private final Marks marks;

  DirtyNodes(MemorySegment memory, NodeLayout layout, Swizzles swizzles, int frames) {
    this.memory = memory;
    this.layout = layout;
    this.swizzles = swizzles;
    this.marks = new Marks(frames);
  }

  /** Marks a locked node as changed. */
  public void add(long node) {
    Frames.setDirty(memory, node);
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
   * Writes the node of a frame back, behind its parent.
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

  /**
   * Writes the node of a frame back as {@link #write} does, also where locks stand in the way: no
   * operation is under way, so nobody holds them.
   */
  void writeAnyway(CacheContext context, int frame) {
    long node = layout.offset(frame);
    if (!write(context, frame)
        && Frames.isDirty(memory, node)
        && Frames.state(memory, node) == Frames.HOT) {
      writeImage(context, node);
    }
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
    if (!Frames.isDirty(memory, node) || Frames.state(memory, node) != Frames.HOT) {
      return true;
    }
    if (!writeParent(context, node)) {
      return false;
    }
    writeImage(context, node);
    return true;
  }

  /**
   * Returns {@code true} also if the parent is lost with its memory server: nobody waits for it.
   */
  private boolean writeParent(CacheContext context, long node) {
    long parent = Frames.parent(memory, node);
    try {
      return parent == Frames.NONE
          || !Frames.isDirty(memory, parent)
          || writeUnlocked(context, parent);
    } catch (MemoryServerLostException _) {
      return true;
    }
  }

  /**
   * Writes a changed node that the caller has locked; it stays dirty if that fails.
   *
   * @throws pando.fabric.PandoException as {@link Retry#untilDone} does
   */
  public void writeSurely(CacheContext context, long node) {
    add(node);
    Retry.untilDone(context.worker, () -> writeImage(context, node));
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
    Frames.setClean(memory, node);
    context.writeBacks++;
  }
}
