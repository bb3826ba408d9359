package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import pando.index.dex.node.NodeLayout;

/**
 * The frames of a {@link NodeCache} that hold no node, all of them locked: a few that each context
 * keeps to itself, a shared stack, and those never used.
 *
 * <p>Thread-safe; each thread passes its own {@link CacheContext}.
 */
final class FreeFrames {
  /** No frame. */
  static final int NONE = -1;

  /**
   * Share of the frames that all contexts together may keep to themselves: 1 / this. Those that
   * wait for others must not keep the frames that the others wait for.
   */
  private static final int KEPT_SHARE = 2;

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final int frames;
  private final int keptMax;
  private final AtomicInteger unused = new AtomicInteger(1);
  private final int[] spare;
  private volatile int spareCount;

  /**
   * Creates the free frames of a cache: all but frame 0.
   *
   * @param contextsMax contexts that can be open together
   */
  FreeFrames(MemorySegment memory, NodeLayout layout, int frames, int contextsMax) {
    this.memory = memory;
    this.layout = layout;
    this.frames = frames;
    this.keptMax = Math.min(frames / KEPT_SHARE / contextsMax, CacheContext.KEPT_MAX);
    this.spare = new int[frames];
  }

  /** Takes a free frame, or returns {@link #NONE}. */
  int take(CacheContext context) {
    if (context.keepsAny()) {
      return context.unkeep();
    }
    int frame = takeUnused();
    return frame == NONE ? takeSpare() : frame;
  }

  private int takeUnused() {
    if (unused.get() >= frames) {
      return NONE;
    }
    int frame = unused.getAndIncrement();
    if (frame >= frames) {
      return NONE;
    }
    boolean locked = Frames.tryLock(memory, layout.offset(frame));
    assert locked : frame;
    return frame;
  }

  private int takeSpare() {
    if (spareCount == 0) {
      return NONE;
    }
    synchronized (this) {
      return spareCount == 0 ? NONE : spare[--spareCount];
    }
  }

  /**
   * Keeps a free frame for its context, or puts it onto the shared stack if the context has enough.
   */
  void give(CacheContext context, int frame) {
    if (context.kept() < keptMax || (context.needsFrame && !context.keepsAny())) {
      context.keep(frame);
    } else {
      give(frame);
    }
  }

  /** Puts a free frame onto the shared stack. */
  synchronized void give(int frame) {
    spare[spareCount] = frame;
    spareCount++;
  }

  /** Puts all frames that a context kept to itself onto the shared stack. */
  void giveAll(CacheContext context) {
    while (context.keepsAny()) {
      give(context.unkeep());
    }
  }

  /** Returns the greatest number of a frame that was ever used, plus 1. */
  int end() {
    return Math.min(unused.get(), frames);
  }
}
