package pando.index.cache;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import pando.index.node.NodeLayout;

/**
 * The frames of a {@link NodeCache} that hold no node, all of them locked: the few that each
 * context keeps to itself, those given back, and those never used.
 *
 * <p>Thread-safe; each thread comes with its {@link CacheContext}.
 */
final class FreeFrames {
  /** No frame. */
  static final int NONE = -1;

  /** A context keeps free frames to itself only where there are so many in all for each of them. */
  private static final int FRAMES_PER_KEPT = 64;

  private final MemorySegment memory;
  private final NodeLayout layout;
  private final int frames;
  private final int keptMax;
  private final AtomicInteger unused = new AtomicInteger(1);
  private final int[] spare;
  private volatile int spareCount;

  /** Creates the free frames of a cache: all but frame 0. */
  FreeFrames(MemorySegment memory, NodeLayout layout, int frames) {
    this.memory = memory;
    this.layout = layout;
    this.frames = frames;
    this.keptMax = Math.clamp((frames - 1) / FRAMES_PER_KEPT, 1, CacheContext.KEPT_MAX);
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

  /** Keeps a free frame for its context, or for everybody where the context has enough. */
  void give(CacheContext context, int frame) {
    if (context.kept() < keptMax) {
      context.keep(frame);
    } else {
      give(frame);
    }
  }

  /** Keeps a free frame for everybody. */
  synchronized void give(int frame) {
    spare[spareCount] = frame;
    spareCount++;
  }

  /** Keeps for everybody what a context kept to itself. */
  void giveAll(CacheContext context) {
    while (context.keepsAny()) {
      give(context.unkeep());
    }
  }

  /** Returns the number above those of all frames that have ever been used. */
  int end() {
    return Math.min(unused.get(), frames);
  }
}
