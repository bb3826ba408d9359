package pando.baselines.blink;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;

/**
 * A compute server's cache of copies of inner nodes of one level, or of parts of them, found by
 * their low fences (Sherman section 4.2.3). A copy may be old: a session that it leads to a wrong
 * node drops it. If the cache is full, two copies are drawn at random, and the less recently used
 * one is evicted.
 *
 * <pre>
 *  0      8       16           16 + 8 n          16 + 16 n
 * +------+-------+------------+-----------------+
 * | high | count | n low keys | n pointers      |
 * +------+-------+------------+-----------------+
 * </pre>
 *
 * <p>Thread-safe. A reader takes no lock: it searches, and retries if the cache was changed
 * meanwhile. A change takes about a microsecond and issues no verb.
 */
public final class IndexCache implements AutoCloseable {
  /** Maximum number of attempts; then an operation fails as stalled. */
  private static final int HIGH = 0;

  private static final int COUNT = 8;
  private static final int KEYS = 16;

  private final int children;
  private final NativeMemory copies;
  private final MemorySegment memory;
  private final FenceIndex fences;
  private final long[] lows;
  private final boolean[] used;
  private final long[] admittedAt;
  private final long[] usedAt;
  private final int[] free;
  private int frees;

  /** Version of the cache; odd during a change. */
  private final AtomicLong version = new AtomicLong();

  /** Number of admissions; the time of the least-recently-used policy. */
  private volatile long clock;

  private volatile long evictions;

  /**
   * Creates an empty cache.
   *
   * @param frames maximum number of copies
   * @param children maximum number of children of a copy; a node with more takes several copies
   */
  public IndexCache(int frames, int children) {
    this.children = children;
    this.fences = new FenceIndex(frames);
    this.lows = new long[frames];
    this.used = new boolean[frames];
    this.admittedAt = new long[frames];
    this.usedAt = new long[frames];
    this.free = new int[frames];
    // Last: nothing frees it where the heap has no room for the others.
    this.copies = NativeMemory.allocate(frames * frameBytes());
    this.memory = copies.segment();
    for (int i = 0; i < frames; i++) {
      free[i] = frames - 1 - i;
    }
    this.frees = frames;
  }

  /**
   * Creates empty caches for copies of so many children.
   *
   * @param frames of each cache
   */
  public static List<IndexCache> of(int children, int... frames) {
    List<IndexCache> made = new ArrayList<>();
    try {
      for (int each : frames) {
        made.add(new IndexCache(each, children));
      }
      return made;
    } catch (Throwable e) {
      made.forEach(cache -> Closing.after(e, cache::close));
      throw e;
    }
  }

  /** The result of a lookup. Each worker reuses one. */
  public static final class Hit {
    /** Pointer to the child. */
    public long child;

    /** The least key that the child covers. */
    public long low;

    /** The greatest key that the child is known to cover. */
    public long high;

    private int frame;
    private long admittedAt;

    /** Creates an empty result. */
    public Hit() {}
  }

  /**
   * Searches the child that covers a key.
   *
   * @param hit receives the child and the keys that it covers
   * @return whether a copy has the child
   */
  public boolean find(long key, Hit hit, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        boolean found = look(key, hit);
        if (isUnchanged(before)) {
          return found;
        }
      }
      start = pause(backoff, attempt, start);
    }
  }

  private boolean isUnchanged(long before) {
    // The reads before must not be reordered behind the read of the version.
    VarHandle.acquireFence();
    return version.get() == before;
  }

  private boolean look(long key, Hit hit) {
    int frame = fences.floor(key);
    if (frame < 0 || frame >= lows.length) {
      return false;
    }
    if (key > word(frame, HIGH)) {
      return false;
    }
    int count = count(frame);
    int index = childOf(frame, count, key);
    if (index < 0) {
      return false;
    }
    hit.child = pointer(frame, index);
    hit.low = key(frame, index);
    hit.high = index + 1 < count ? key(frame, index + 1) - 1 : word(frame, HIGH);
    hit.frame = frame;
    hit.admittedAt = admittedAt[frame];
    long now = clock;
    if (usedAt[frame] != now) {
      usedAt[frame] = now;
    }
    return true;
  }

  private int childOf(int frame, int count, long key) {
    int index = -1;
    for (int i = 0; i < count; i++) {
      index += key(frame, i) <= key ? 1 : 0;
    }
    return index;
  }

  private int count(int frame) {
    return Math.clamp(word(frame, COUNT), 0, children);
  }

  private long key(int frame, int index) {
    return word(frame, KEYS + index * Long.BYTES);
  }

  private long pointer(int frame, int index) {
    return word(frame, KEYS + (children + index) * Long.BYTES);
  }

  private long word(int frame, int at) {
    return Words.get(memory, offset(frame) + at);
  }

  private long offset(int frame) {
    return frame * frameBytes();
  }

  private long frameBytes() {
    return KEYS + 2L * children * Long.BYTES;
  }

  /**
   * Lists the children beside the one that covers a key, one after the other up to that of key
   * {@code to}, as long as neighbouring copies are cached.
   *
   * @param down whether {@code to} and the children are below the key, not above it
   * @param beside receives the pointers to them, from index 1 on
   * @return their number
   */
  public int childrenBeside(long key, long to, boolean down, long[] beside, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0) {
        int listed = down ? lookBefore(key, to, beside) : lookAfter(key, to, beside);
        if (isUnchanged(before)) {
          return listed;
        }
      }
      start = pause(backoff, attempt, start);
    }
  }

  private int lookAfter(long key, long to, long[] after) {
    int listed = 0;
    long next = key;
    while (listed < after.length - 1) {
      int frame = fences.floor(next);
      if (frame < 0 || frame >= lows.length || next > word(frame, HIGH)) {
        return listed;
      }
      int count = count(frame);
      int first = childOf(frame, count, next);
      // The first child of a part may begin before the part: then it is the last child of the part
      // before.
      boolean isNew = next > key && first >= 0 && key(frame, first) == next;
      for (int i = isNew ? first : first + 1; i < count && listed < after.length - 1; i++) {
        if (key(frame, i) > to) {
          return listed;
        }
        after[++listed] = pointer(frame, i);
      }
      long high = word(frame, HIGH);
      if (high >= to || high < next) {
        return listed;
      }
      next = high + 1;
    }
    return listed;
  }

  private int lookBefore(long key, long to, long[] before) {
    int listed = 0;
    long next = key;
    long lowest = Long.MAX_VALUE;
    while (listed < before.length - 1) {
      int frame = fences.floor(next);
      if (frame < 0 || frame >= lows.length || next > word(frame, HIGH)) {
        return listed;
      }
      int last = childOf(frame, count(frame), next);
      lowest = next == key && last >= 0 ? key(frame, last) : lowest;
      for (int i = last; i >= 0 && lowest > to && listed < before.length - 1; i--) {
        // The last child of a part may go on behind it, as the first child of the part behind.
        if (key(frame, i) < lowest) {
          lowest = key(frame, i);
          before[++listed] = pointer(frame, i);
        }
      }
      long low = lows[frame];
      if (low <= to || low > next) {
        return listed;
      }
      next = low - 1;
    }
    return listed;
  }

  /**
   * Admits a copy. It replaces an older copy with the same low fence or, if the cache is full, an
   * evicted one.
   */
  public void admit(Children copied, RandomGenerator random, Backoff backoff) {
    long before = lock(backoff);
    try {
      long low = copied.low;
      for (int from = 0; from < copied.count; from += children) {
        int to = Math.min(from + children, copied.count);
        long high = to < copied.count ? copied.keys[to] - 1 : copied.high;
        admit(low, high, copied, from, to, random);
        low = high + 1;
      }
    } finally {
      version.set(before + 2);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by one at a time.
  private void admit(
      long low, long high, Children copied, int from, int to, RandomGenerator random) {
    int frame = fences.floor(low);
    if (frame < 0 || lows[frame] != low) {
      frame = takeFrame(random);
      lows[frame] = low;
      used[frame] = true;
      fences.put(low, frame);
    }
    long start = offset(frame);
    Words.set(memory, start + HIGH, high);
    Words.set(memory, start + COUNT, to - from);
    for (int i = from; i < to; i++) {
      long at = start + KEYS + (long) (i - from) * Long.BYTES;
      Words.set(memory, at, copied.keys[i]);
      Words.set(memory, at + (long) children * Long.BYTES, copied.pointers[i]);
    }
    admittedAt[frame] = ++clock;
    usedAt[frame] = clock;
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

  /** Drops the copy that a lookup used, unless a newer one has replaced it. */
  public void drop(Hit hit, Backoff backoff) {
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

  /** Drops all copies. */
  public void clear(Backoff backoff) {
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

  /**
   * Returns the bytes of the frames in use; an approximation while other threads change the cache.
   */
  public long bytes() {
    // Makes the writes before the last change of the version visible.
    version.get();
    return (lows.length - frees) * frameBytes();
  }

  /** Returns the number of copies admitted. */
  public long admissions() {
    return clock;
  }

  /** Returns the number of copies evicted to make room. */
  public long evictions() {
    return evictions;
  }

  private long lock(Backoff backoff) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      long before = version.get();
      if ((before & 1) == 0 && version.compareAndSet(before, before + 1)) {
        // The writes of the change must not become visible before the odd version.
        VarHandle.storeStoreFence();
        return before;
      }
      start = pause(backoff, attempt, start);
    }
  }

  private long pause(Backoff backoff, int attempt, long start) {
    String what = "an index cache was changed all the time: frames";
    return WaitLimit.SHORT.pause(backoff, attempt, start, what, lows.length);
  }

  @Override
  public void close() {
    copies.close();
  }
}
