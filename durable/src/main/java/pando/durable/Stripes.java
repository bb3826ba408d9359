package pando.durable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import pando.durable.holder.PlantedLogBug;
import pando.fabric.memory.StackRoom;

/**
 * The stripes of an index. Each key is in one, by its hash. A stripe has a lock, which a change of
 * its keys holds from before it operates until it is logged, and a word: {@link #BUSY} meanwhile,
 * else the lsn of its last change. A reader looks at the word after it has read a key: the word
 * covers the change that it has seen.
 *
 * <p>A key that is <em>not</em> found may have been removed in any stripe. So removals that are
 * under way are counted, each has a bit, and the lsn of the last one is kept.
 *
 * <p>While a range and its log are inherited, keys may have any of their earlier values. What was
 * read meanwhile is read again.
 *
 * <p>The locks are reentrant. Thread-safe.
 */
final class Stripes {
  static final int COUNT = 1 << 12;

  /** The word of a stripe while a change is under way, and for ever if its log failed then. */
  static final long BUSY = Long.MAX_VALUE;

  private static final long SPREAD = 0x9E3779B97F4A7C15L;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

  private final ReentrantLock[] locks = new ReentrantLock[COUNT];
  private final AtomicLongArray words = new AtomicLongArray(COUNT);
  private final AtomicInteger removals = new AtomicInteger();
  private final AtomicLongArray removing = new AtomicLongArray(COUNT / Long.SIZE);
  private final AtomicLong lastRemoval = new AtomicLong();

  /** Goes up when an inheritance begins, and when it ends. */
  private final AtomicInteger inheritances = new AtomicInteger();

  Stripes() {
    for (int i = 0; i < COUNT; i++) {
      locks[i] = new ReentrantLock();
    }
  }

  /** Returns the stripe of a key. */
  static int of(long key) {
    return (int) ((key * SPREAD) >>> (Long.SIZE - Integer.numberOfTrailingZeros(COUNT)));
  }

  /** Returns the stripe of a key. */
  static int of(MemorySegment key) {
    long length = key.byteSize();
    long hash = length;
    long at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      hash = Long.rotateLeft((hash ^ key.get(LONG, at)) * SPREAD, Integer.SIZE);
    }
    long rest = 0;
    for (; at < length; at++) {
      rest = rest << Byte.SIZE | (key.get(ValueLayout.JAVA_BYTE, at) & 0xff);
    }
    return of(hash ^ rest);
  }

  void lock(int stripe) {
    locks[stripe].lock();
  }

  void unlock(int stripe) {
    locks[stripe].unlock();
  }

  /** Runs an action while no change is under way, but for those that it makes itself. */
  void alone(Runnable action) {
    StackRoom.MAPS.check();
    for (ReentrantLock lock : locks) {
      lock.lock();
    }
    try {
      action.run();
    } finally {
      for (ReentrantLock lock : locks) {
        lock.unlock();
      }
    }
  }

  /** Returns whether this thread keeps all others out. */
  boolean isAlone() {
    return locks[COUNT - 1].isHeldByCurrentThread() && locks[0].isHeldByCurrentThread();
  }

  /**
   * Begins a change of a stripe that this thread has locked: it is to be seen before its effect.
   *
   * @param removes whether a key may go
   * @return the word before
   */
  long begin(int stripe, boolean removes) {
    if (removes) {
      removals.incrementAndGet();
      removing.getAndAccumulate(stripe / Long.SIZE, bit(stripe), (bits, bit) -> bits | bit);
    }
    return words.getAndSet(stripe, BUSY);
  }

  /**
   * Ends a change, before the lock opens.
   *
   * @param lsn of its record, or the word before if nothing was changed
   */
  void end(int stripe, long lsn, boolean removes) {
    words.set(stripe, lsn);
    if (removes) {
      lastRemoval.accumulateAndGet(lsn, Math::max);
      removing.getAndAccumulate(stripe / Long.SIZE, ~bit(stripe), (bits, rest) -> bits & rest);
      removals.decrementAndGet();
    }
  }

  /** Begins a change of all keys, by a thread that is alone; returns the words before. */
  long[] beginAll() {
    long[] before = new long[COUNT];
    for (int i = 0; i < COUNT; i++) {
      before[i] = words.getAndSet(i, BUSY);
    }
    return before;
  }

  /** Ends a change of all keys, which are safe, or as they were. */
  void endAll(long[] before) {
    for (int i = 0; i < COUNT; i++) {
      words.set(i, before[i]);
    }
  }

  /**
   * Begins an inheritance, by a thread that is alone. Until it ends, a key may have any of its
   * earlier values.
   */
  void beginInheritance() {
    inheritances.incrementAndGet();
  }

  /** Ends an inheritance. */
  void endInheritance() {
    inheritances.incrementAndGet();
  }

  /** Begins to read, once no inheritance is under way; {@link #isRead} says whether it counts. */
  int beginRead() {
    int mark = inheritances.get();
    while (mark % 2 != 0 && !PlantedLogBug.SERVED_EARLY) {
      // Its thread has all locks.
      lock(0);
      unlock(0);
      int again = inheritances.get();
      if (again == mark) {
        return mark; // It has failed, and so has the log.
      }
      mark = again;
    }
    return mark;
  }

  /**
   * Returns whether no inheritance has begun since {@link #beginRead}, after something was read.
   */
  boolean isRead(int mark) {
    VarHandle.loadLoadFence();
    return inheritances.get() == mark || PlantedLogBug.SERVED_EARLY;
  }

  private static long bit(int stripe) {
    return 1L << stripe % Long.SIZE;
  }

  /** Returns the word of a stripe, after something was read. */
  long word(int stripe) {
    VarHandle.loadLoadFence();
    return words.get(stripe);
  }

  /** Returns the word once no change of now is under way; {@link #BUSY} if the log has failed. */
  long settledWord(int stripe) {
    lock(stripe);
    try {
      return words.get(stripe);
    } finally {
      unlock(stripe);
    }
  }

  /** Returns whether removals are under way, after something was not found. */
  boolean areRemoving() {
    VarHandle.loadLoadFence();
    return removals.get() != 0;
  }

  /** Returns which of 64 stripes have a removal under way. */
  long removing(int group) {
    return removing.get(group);
  }

  /** Returns the lsn of the last removal that has ended. */
  long lastRemoval() {
    return lastRemoval.get();
  }
}
