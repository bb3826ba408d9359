package pando.index.orca.records;

import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.memory.Words;
import pando.index.orca.parts.CacheParts;

/**
 * Single records of a compute server, each in a way of its key's home bucket, or of that bucket's
 * twin.
 *
 * <p>Reads are optimistic: {@link #find} takes no lock, and a hit writes nothing once the record's
 * count is at its maximum. All else happens under the lock of the bucket: methods that take a
 * bucket, and are not about locks, may only be called by the holder of its lock. The lock is held
 * for some instructions, never across a verb.
 *
 * <p>The cache gives meaning to the kinds of records only where it chooses a victim. Two buckets of
 * 256 aligned bytes are twins. A key is in at most one way of its home and the home's twin. It may
 * be in the twin only while the home has its twin bit, which is set and cleared under both locks,
 * and it gets into the twin under both locks. Where several locks are taken, that of the bucket
 * with the lower offset comes first, unless it is only tried.
 *
 * <p>Thread-safe.
 */
public final class RecordCache extends RecordBuckets {
  private static final int KINDS_EVICTED = 1 << CLEAN | 1 << ABSENT | 1 << DELTA;

  private static final long LOWEST_KIND_BITS = 0x0001_0101_0101_0101L;

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[4096]).asReadOnly();

  private static final int KINDS_UNDER_WAY = 1 << CLEANING | 1 << BUSY;

  private static final int ROUNDS_MAX = 4;

  /** Result of a look: the key is in no way. */
  private static final int NOT_FOUND = 0;

  /** Result of a look: the probe has the key's way. */
  private static final int FOUND = 1;

  /** Result of a look: a bucket is locked, or was changed meanwhile. */
  private static final int MOVED = 2;

  private final CacheParts parts;
  private final boolean twins;
  private final int countMax;

  private HomeTable homes;

  /**
   * Creates an empty cache in some parts of a memory, which must be zero. {@link #open} gives it
   * other parts.
   *
   * @param from first of the parts
   * @param to last of them, exclusive
   * @param twins whether keys may be in the twins of their homes
   * @param countBits bits of a way's count that are used, at most {@link #COUNT_BITS}
   */
  public RecordCache(CacheParts parts, int from, int to, boolean twins, int countBits) {
    super(parts.memory());
    this.parts = parts;
    this.homes = HomeTable.of(parts, from, to);
    this.twins = twins;
    this.countMax = (1 << countBits) - 1;
  }

  // Parts

  /**
   * Gives the cache other parts, which must be zero, or {@linkplain #clear() cleared} then. No
   * session may use it.
   *
   * @param from first of the parts
   * @param to last of them, exclusive
   */
  public void open(int from, int to) {
    homes = HomeTable.of(parts, from, to);
  }

  /** Returns which part has the buckets of which keys. */
  public HomeTable homes() {
    return homes;
  }

  /**
   * Sets which part has the buckets of which keys. No operation may be under way. Records that are
   * {@linkplain #isStray elsewhere} then have to be moved.
   */
  public void setHomes(HomeTable changed) {
    homes = changed;
  }

  /**
   * Empties a part, whatever is in it. What is zero is left alone, as the operating system need not
   * provide memory that was never written.
   */
  public void clear(int part) {
    for (long at = first(part); at < end(part); at += ZEROS.byteSize()) {
      long bytes = Math.min(ZEROS.byteSize(), end(part) - at);
      MemorySegment some = memory.asSlice(at, bytes);
      if (some.mismatch(ZEROS.asSlice(0, bytes)) >= 0) {
        some.fill((byte) 0);
      }
    }
  }

  /** Empties all parts. */
  public void clear() {
    for (int part : homes.inUse()) {
      clear(part);
    }
  }

  /**
   * Drops the records of a range of keys. No operation is under way, and none of them is newer than
   * its leaf.
   */
  public void dropRange(long low, long high, Backoff backoff) {
    forEachBucket(bucket -> {
      if (waysUsed(bucket) > 0) {
        lock(bucket, backoff);
        for (int way = 0; way < WAYS; way++) {
          boolean drops =
              kind(bucket, way) != FREE && low <= key(bucket, way) && key(bucket, way) <= high;
          if (drops) {
            assert (KINDS_EVICTED >>> kind(bucket, way) & 1) != 0 : describe(bucket);
            setState(bucket, way, FREE, 0);
          }
        }
        unlock(bucket);
      }
    });
  }

  /** Returns the offset of the first bucket of a part. */
  public long first(int part) {
    return parts.offset(part);
  }

  /** Returns the offset behind the last bucket of a part. */
  public long end(int part) {
    return parts.offset(part) + parts.bytesOfPart();
  }

  /** Returns the bucket behind another one, or the first of the part behind its last. */
  public long next(long bucket) {
    long next = bucket + BUCKET_BYTES;
    return next % parts.bytesOfPart() == 0 ? next - parts.bytesOfPart() : next;
  }

  /** Returns whether a way of a bucket has a record that belongs elsewhere by some table. */
  public boolean isStray(long bucket, int way, HomeTable table) {
    if (kind(bucket, way) == FREE) {
      return false;
    }
    long home = table.home(key(bucket, way));
    return home != bucket && home != twin(bucket);
  }

  /**
   * Returns whether a bucket is in a part that the cache has. Parts move while no operation runs.
   */
  public boolean has(long bucket) {
    return homes.isInUse(parts.partOf(bucket));
  }

  /** Returns the number of buckets. */
  public long buckets() {
    return homes.partsInUse() * (parts.bytesOfPart() / BUCKET_BYTES);
  }

  /** Calls a visitor with the offset of each bucket. */
  public void forEachBucket(LongConsumer visitor) {
    for (int part : homes.inUse()) {
      for (long bucket = first(part); bucket < end(part); bucket += BUCKET_BYTES) {
        visitor.accept(bucket);
      }
    }
  }

  /** Returns the bytes of the ways that are not FREE, by looking at all. */
  public long bytesUsed() {
    long used = 0;
    for (int part : homes.inUse()) {
      for (long bucket = first(part); bucket < end(part); bucket += BUCKET_BYTES) {
        used += waysUsed(bucket);
      }
    }
    return used * BUCKET_BYTES / WAYS;
  }

  /** Returns the number of a bucket's ways that are not FREE, by one look, without its lock. */
  public int waysUsed(long bucket) {
    long states = Words.get(memory, bucket);
    return Long.bitCount((states | states >>> 1 | states >>> 2) & LOWEST_KIND_BITS);
  }

  /**
   * Returns the number of a bucket's records that are newer than their slots, by one look, without
   * its lock.
   */
  public int waysDirty(long bucket) {
    long states = Words.get(memory, bucket);
    int dirty = 0;
    for (int way = 0; way < WAYS; way++) {
      dirty += isAmong(1 << DIRTY | 1 << CLEANING, kindOf(stateOf(states, way))) ? 1 : 0;
    }
    return dirty;
  }

  @Override
  public boolean twins() {
    return twins;
  }

  @Override
  public long home(long key) {
    return homes.home(key);
  }

  // Reading without a lock

  /**
   * Looks for a key in its home, and in the twin if the home's twin bit is set. A hit raises the
   * way's count. Waits while a bucket is locked. The answer was true at a moment of the call.
   *
   * @param out gets the way of the key, which may be of any kind but {@link #FREE}
   * @return whether there is one
   * @throws StalledException if a bucket stays locked
   */
  public boolean find(long key, Probe out) {
    boolean found = peek(key, out);
    if (found) {
      raiseCount(out);
    }
    return found;
  }

  /**
   * Looks for a key as {@link #find} does, but raises no count.
   *
   * @throws StalledException if a bucket stays locked
   */
  public boolean peek(long key, Probe out) {
    long home = home(key);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      int result = look(key, home, out);
      if (result != MOVED) {
        return result == FOUND;
      }
      start = await(home, attempt, start, out.backoff);
    }
  }

  /** Reads from both lines of a key's home, whatever is there. */
  public long touch(long key) {
    long home = home(key);
    return Words.get(memory, home) + Words.get(memory, home + BUCKET_BYTES - Long.BYTES);
  }

  /**
   * Reads from the homes of some keys. So the processor waits for all of them at once, where a loop
   * that locks one after the other would wait for each.
   *
   * @param from place of the first key
   * @param to place behind the last one
   * @return what was read, which means nothing
   */
  public long touch(long[] keys, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += touch(keys[i]);
    }
    return sum;
  }

  private int look(long key, long home, Probe out) {
    long word = Words.getAcquire(memory, home + LOCK);
    if (isLockedWord(word)) {
      return MOVED;
    }
    long states = Words.get(memory, home);
    int way = wayOf(home, states, key);
    if (way != NONE) {
      return copy(home, way, states, word, out);
    }
    if ((states & TWIN_BIT_OF_WORD) != 0) {
      return lookInTwin(key, home, word, out);
    }
    out.setAbsent(home);
    out.backoff.transition();
    return isCurrent(home, word) ? NOT_FOUND : MOVED;
  }

  /** Looks in the twin of a home whose ways do not have the key; the home must not move either. */
  private int lookInTwin(long key, long home, long wordOfHome, Probe out) {
    out.backoff.transition();
    long bucket = twin(home);
    long word = Words.getAcquire(memory, bucket + LOCK);
    if (isLockedWord(word)) {
      return MOVED;
    }
    long states = Words.get(memory, bucket);
    int way = wayOf(bucket, states, key);
    int result = NOT_FOUND;
    if (way != NONE) {
      result = copy(bucket, way, states, word, out);
    } else {
      out.setAbsent(home);
      out.backoff.transition();
    }
    return isCurrent(bucket, word) && isCurrent(home, wordOfHome) ? result : MOVED;
  }

  private int copy(long bucket, int way, long states, long word, Probe out) {
    long value = Words.get(memory, recordAt(bucket, way) + Long.BYTES);
    out.backoff.transition();
    if (!isCurrent(bucket, word)) {
      return MOVED;
    }
    out.set(bucket, way, stateOf(states, way), value);
    return FOUND;
  }

  private void raiseCount(Probe out) {
    int counts = counts(out.bucket);
    int count = counts >>> (2 * out.way) & COUNT_MAX;
    out.tailHits += count == 0 ? 1 : 0;
    if (count < countMax) {
      setCounts(out.bucket, counts + (1 << (2 * out.way)));
    }
  }

  /**
   * Locks all buckets that may have a key: its home, and the twin if the home's twin bit is set.
   *
   * @return whether the twin is locked too, so that {@link #unlockBoth} has to unlock them
   * @throws StalledException if another thread keeps one of them locked; none is locked then
   */
  public boolean lockPair(long key, Backoff backoff) {
    long home = home(key);
    lock(home, backoff);
    if (!twinBit(home)) {
      return false;
    }
    if (!tryLock(twin(home))) {
      unlock(home);
      lockBoth(home, backoff);
    }
    return true;
  }

  // Under the lock

  /** Returns the way of the bucket that has a key, of any kind but FREE, or {@link #NONE}. */
  public int find(long bucket, long key) {
    assert isLocked(bucket) : describe(bucket);
    return wayOf(bucket, Words.get(memory, bucket), key);
  }

  /** Returns a FREE way, or {@link #NONE}. */
  public int free(long bucket) {
    assert isLocked(bucket) : describe(bucket);
    long states = Words.get(memory, bucket);
    for (int way = 0; way < WAYS; way++) {
      if (kindOf(stateOf(states, way)) == FREE) {
        return way;
      }
    }
    return NONE;
  }

  /**
   * Returns whether a way could be used again at once: a FREE one, or a CLEAN, ABSENT or DELTA one
   * with count 0. If not, a key may rather go to the twin.
   */
  public boolean hasColdWay(long bucket) {
    return free(bucket) != NONE || hasColdRecord(bucket);
  }

  private boolean hasColdRecord(long bucket) {
    long states = Words.get(memory, bucket);
    int counts = counts(bucket);
    for (int way = 0; way < WAYS; way++) {
      boolean cold = (counts >>> (2 * way) & COUNT_MAX) == 0;
      if (cold && isAmong(KINDS_EVICTED, kindOf(stateOf(states, way)))) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns a way to use again: a FREE one, or else one whose record may be dropped (GCLOCK). The
   * hand goes on from way to way; a CLEAN, ABSENT or DELTA record with count 0 goes, and other
   * counts are lowered by one. DIRTY and DELTA_NEWER records stay until they are written; CLEANING
   * and BUSY ones are passed untouched. The way is not changed.
   *
   * @return {@link #NONE} if no record can be dropped
   */
  public int victim(long bucket) {
    int free = free(bucket);
    return free == NONE ? evicted(bucket) : free;
  }

  private int evicted(long bucket) {
    long states = Words.get(memory, bucket);
    int counts = counts(bucket);
    int way = handOf(states);
    int victim = NONE;
    for (int step = 0; step < ROUNDS_MAX * WAYS && victim == NONE; step++) {
      int kind = kindOf(stateOf(states, way));
      int one = 1 << (2 * way);
      boolean cold = (counts & COUNT_MAX * one) == 0;
      if (cold && isAmong(KINDS_EVICTED, kind)) {
        victim = way;
      } else if (!cold && !isAmong(KINDS_UNDER_WAY, kind)) {
        counts -= one;
      }
      way = next(way);
    }
    setCounts(bucket, counts);
    setHand(bucket, way);
    return victim;
  }

  private static int next(int way) {
    return way == WAYS - 1 ? 0 : way + 1;
  }
}
