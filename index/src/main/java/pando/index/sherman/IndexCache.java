package pando.index.sherman;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.memory.NativeMemory;

/**
 * Copies of inner nodes of one level at one compute server, found by their fences (Sherman section
 * 4.2.3). A copy may be old: whoever is led astray by it takes it out. Where the cache is full, the
 * least recently used of two copies drawn at random goes.
 *
 * <p>Thread-safe. A reader takes no lock: it looks, and looks again where something changed
 * meanwhile. Whoever changes something takes about a microsecond and issues no verb.
 */
final class IndexCache implements AutoCloseable {
  /** Looks before it counts as a stall: a change takes a microsecond. */
  private static final int ATTEMPTS_MAX = 1_000_000;

  private final BLinkLayout layout;
  private final NativeMemory copies;
  private final MemorySegment memory;
  private final FenceIndex fences;
  private final long[] lows;
  private final boolean[] used;
  private final long[] admittedAt;
  private final long[] usedAt;
  private final int[] free;
  private int frees;

  /** Odd while somebody changes something. */
  private final AtomicLong version = new AtomicLong();

  /** Advances with every admission. */
  private volatile long clock;

  private volatile long evictions;

  /** Makes an empty cache of so many copies. */
  IndexCache(BLinkLayout layout, int frames) {
    this.layout = layout;
    this.copies = NativeMemory.allocate((long) frames * layout.nodeBytes());
    this.memory = copies.segment();
    this.fences = new FenceIndex(frames);
    this.lows = new long[frames];
    this.used = new boolean[frames];
    this.admittedAt = new long[frames];
    this.usedAt = new long[frames];
    this.free = new int[frames];
    for (int i = 0; i < frames; i++) {
      free[i] = frames - 1 - i;
    }
    this.frees = frames;
  }

  /** What a lookup found. One for each worker, used again and again. */
  static final class Hit {
    long child;
    long low;
    long high;
    private int frame;
    private long admittedAt;
  }

  /**
   * Looks for the child that covers a key.
   *
   * @param hit takes the child and the keys that it covers
   * @return whether there is a copy that knows
   */
  boolean find(long key, Hit hit, Backoff backoff) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        boolean found = look(key, hit);
        if (isUnchanged(before)) {
          return found;
        }
      }
      backoff.pause(attempt);
    }
    throw stalled();
  }

  private boolean isUnchanged(long before) {
    // What was read before must not be read after the version.
    VarHandle.acquireFence();
    return version.get() == before;
  }

  private boolean look(long key, Hit hit) {
    int frame = fences.floor(key);
    if (frame < 0 || frame >= lows.length) {
      return false;
    }
    long node = layout.offset(frame);
    if (key > BLinkLayout.high(memory, node)) {
      return false;
    }
    int index = layout.childOf(memory, node, key);
    if (index < 0 || index >= layout.capacity()) {
      return false;
    }
    hit.child = BLinkLayout.slot(memory, node, index);
    hit.low = BLinkLayout.key(memory, node, index);
    hit.high = BLinkLayout.highOfChild(memory, node, index);
    hit.frame = frame;
    hit.admittedAt = admittedAt[frame];
    long now = clock;
    if (usedAt[frame] != now) {
      usedAt[frame] = now;
    }
    return true;
  }

  /**
   * Copies the addresses of the children after the one that covers a key.
   *
   * @param children takes them from its second place on
   * @return their number
   */
  int childrenAfter(long key, long to, long[] children, Backoff backoff) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        int copied = lookAfter(key, to, children);
        if (isUnchanged(before)) {
          return copied;
        }
      }
      backoff.pause(attempt);
    }
    throw stalled();
  }

  private int lookAfter(long key, long to, long[] children) {
    int frame = fences.floor(key);
    if (frame < 0 || frame >= lows.length) {
      return 0;
    }
    long node = layout.offset(frame);
    int count = Math.min(BLinkLayout.count(memory, node), layout.capacity());
    int copied = 0;
    for (int i = layout.childOf(memory, node, key) + 1;
        i > 0 && i < count && copied < children.length - 1;
        i++) {
      if (BLinkLayout.key(memory, node, i) > to) {
        break;
      }
      children[++copied] = BLinkLayout.slot(memory, node, i);
    }
    return copied;
  }

  /** Takes a copy of a node in, in place of an older one or of one that is hardly used. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by one at a time.
  void admit(MemorySegment source, long node, RandomGenerator random, Backoff backoff) {
    long before = lock(backoff);
    try {
      long low = BLinkLayout.low(source, node);
      int frame = fences.floor(low);
      if (frame < 0 || lows[frame] != low) {
        frame = takeFrame(random);
        lows[frame] = low;
        used[frame] = true;
        fences.put(low, frame);
      }
      MemorySegment.copy(source, node, memory, layout.offset(frame), layout.nodeBytes());
      admittedAt[frame] = ++clock;
      usedAt[frame] = clock;
    } finally {
      version.set(before + 2);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by one at a time.
  private int takeFrame(RandomGenerator random) {
    if (frees > 0) {
      return free[--frees];
    }
    int one = random.nextInt(lows.length);
    int other = random.nextInt(lows.length);
    int frame = usedAt[one] <= usedAt[other] ? one : other;
    fences.remove(lows[frame], frame);
    evictions++;
    return frame;
  }

  /** Takes out the copy that a lookup came from, unless a newer one is there. */
  void drop(Hit hit, Backoff backoff) {
    long before = lock(backoff);
    try {
      int frame = hit.frame;
      if (used[frame] && admittedAt[frame] == hit.admittedAt) {
        fences.remove(lows[frame], frame);
        used[frame] = false;
        free[frees++] = frame;
      }
    } finally {
      version.set(before + 2);
    }
  }

  /** Forgets every copy. */
  void clear(Backoff backoff) {
    long before = lock(backoff);
    try {
      fences.clear();
      frees = 0;
      for (int frame = lows.length - 1; frame >= 0; frame--) {
        used[frame] = false;
        free[frees++] = frame;
      }
    } finally {
      version.set(before + 2);
    }
  }

  /** Returns how many copies were taken in. */
  long admissions() {
    return clock;
  }

  /** Returns how many copies had to go for others. */
  long evictions() {
    return evictions;
  }

  private long lock(Backoff backoff) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      long before = version.get();
      if ((before & 1) == 0 && version.compareAndSet(before, before + 1)) {
        // What is written next must not be seen before the version is.
        VarHandle.storeStoreFence();
        return before;
      }
      backoff.pause(attempt);
    }
    throw stalled();
  }

  private StalledException stalled() {
    return new StalledException(
        "an index cache stayed in motion: frames=" + lows.length + ", attempts=" + ATTEMPTS_MAX);
  }

  @Override
  public void close() {
    copies.close();
  }
}
