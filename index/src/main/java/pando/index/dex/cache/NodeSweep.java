package pando.index.dex.cache;

import pando.index.session.Gate;
import pando.index.session.Marks;
import pando.index.session.Sweep;
import pando.index.session.WriteBack;

/** Writes dirty nodes of a cache back. */
public final class NodeSweep extends Sweep {
  /** Nodes that a step writes at most, but for those that must be there before them. */
  private static final int NODES = 16;

  private final DirtyNodes dirty;
  private final CacheContext context;
  private long next;

  /** Creates a walk over the nodes of a cache, by a context that only sweeps use meanwhile. */
  public NodeSweep(NodeCache cache, WriteBack writeBack, CacheContext context, Gate.Pass pass) {
    super(writeBack, context.worker, pass);
    this.dirty = cache.dirty();
    this.context = context;
  }

  @Override
  protected void rewind() {
    next = 0;
  }

  @Override
  protected boolean write() {
    for (int i = 0; i < NODES; i++) {
      long frame = dirty.marks().next(next);
      if (frame == Marks.NONE) {
        return false;
      }
      next = frame + 1;
      write((int) frame);
    }
    return true;
  }

  private void write(int frame) {
    dirty.marks().clear(frame);
    boolean written = false;
    try {
      written = dirty.write(context, frame);
    } finally {
      if (!written) {
        dirty.marks().set(frame);
      }
    }
    if (!written) {
      leaveOut();
    }
  }
}
