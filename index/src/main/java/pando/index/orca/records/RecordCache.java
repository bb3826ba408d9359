package pando.index.orca.records;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.LongConsumer;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Words;
import pando.index.orca.parts.CacheParts;
import pando.index.session.Marks;

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
public final class RecordCache {
  /*
   * A bucket, 128 bytes: two lines, 7 ways
   * ======================================
   *
   *     0  state of ways 0..6, 1 byte each: kind 3 (lowest) | slot 3 | zero 2
   *     7  hand 3 (lowest) | twin 1 | zero 4
   *     8  counts, 2 bits a way, way 0 lowest | zero 2
   *    10  log group 3, zero for now
   *    13  version 3, lowest bit = locked
   *    16  way 0: key 8, value 8
   *    ..
   *   112  way 6: key 8, value 8
   *
   * Bytes 8 to 15 are one word, on which the lock is taken by a compare-and-set. A reader notes
   * the version of an unlocked bucket, reads what it needs, and uses it only if the version is
   * the same afterwards (a seqlock). Counts are not part of what is compared, as readers change
   * them: a hit stores the 2 bytes of all counts, so that it can never damage the group or the
   * version. Such a store may come late, or put older counts of the other ways back; counts only
   * guide the choice of victims.
   *
   * Memory order. The holder's compare-and-set is followed by a store-store fence, so no reader
   * sees a store of the holder without the odd version; unlocking is a store with release. A
   * reader loads the version with acquire, then the rest plainly, and has a load-load fence before
   * it loads the version again. In virtual time other clients run where the reader says that it
   * is in transition, which real threads seldom hit.
   */

  /** Bytes of a bucket. */
  public static final int BUCKET_BYTES = 128;

  /** Records of a bucket. */
  public static final int WAYS = 7;

  /** No way. */
  public static final int NONE = -1;

  /** Kind: the way holds no record. */
  public static final int FREE = 0;

  /** Kind: the record is as in the leaf. */
  public static final int CLEAN = 1;

  /** Kind: the value is newer than that of the record's slot in the leaf. */
  public static final int DIRTY = 2;

  /** Kind: a WRITE of the value to the slot is under way. */
  public static final int CLEANING = 3;

  /** Kind: the key is neither in the leaf nor in its delta. */
  public static final int ABSENT = 4;

  /** Kind: the record is as in the delta. */
  public static final int DELTA = 5;

  /** Kind: the value is newer than that of the delta. */
  public static final int DELTA_NEWER = 6;

  /** Kind: a session loads or changes the key. */
  public static final int BUSY = 7;

  /** Most bits of a way's count. */
  public static final int COUNT_BITS = 2;

  /** Highest count of a way, where its count has all bits. */
  public static final int COUNT_MAX = (1 << COUNT_BITS) - 1;

  private static final VarHandle COUNTS_HANDLE =
      JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle().withInvokeExactBehavior();

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[4096]).asReadOnly();

  private static final int HAND = 7;
  private static final int LOCK = 8;
  private static final int COUNTS = 8;
  private static final int RECORDS = 16;
  private static final int RECORD_BYTES = 16;

  private static final int SLOT_SHIFT = 3;
  private static final int THREE_BITS = 7;
  private static final int STATE_MASK = 0xff;

  private static final int TWIN_BIT = 1 << 3;
  private static final long TWIN_BIT_OF_WORD = (long) TWIN_BIT << (HAND * Byte.SIZE);

  private static final int VERSION_SHIFT = 40;
  private static final long LOCKED = 1L << VERSION_SHIFT;
  private static final int COUNTS_MASK = 0xffff;

  private static final int KINDS_EVICTED = 1 << CLEAN | 1 << ABSENT | 1 << DELTA;
  private static final long LOWEST_KIND_BITS = 0x0001_0101_0101_0101L;

  private static final int KINDS_NEWER = 1 << DIRTY | 1 << DELTA_NEWER;

  private static final int KINDS_UNDER_WAY = 1 << CLEANING | 1 << BUSY;

  private static final int ROUNDS_MAX = 4;

  /** Result of a look: the key is in no way. */
  private static final int NOT_FOUND = 0;

  /** Result of a look: the probe has the key's way. */
  private static final int FOUND = 1;

  /** Result of a look: a bucket is locked, or was changed meanwhile. */
  private static final int MOVED = 2;

  private final CacheParts parts;
  private final MemorySegment memory;
  private final boolean twins;
  private final int countMax;

  /** The buckets that have values newer than leaf or delta, and perhaps others. */
  private final Marks newer;

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
    this.parts = parts;
    this.memory = parts.memory();
    this.homes = HomeTable.of(parts, from, to);
    this.twins = twins;
    this.countMax = (1 << countBits) - 1;
    this.newer = new Marks(memory.byteSize() / BUCKET_BYTES);
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

  /** Returns whether keys may be in the twins of their homes. */
  public boolean twins() {
    return twins;
  }

  /** Returns the offset of a key's home bucket. */
  public long home(long key) {
    return homes.home(key);
  }

  /** Returns the offset of the other bucket of a pair. */
  public static long twin(long bucket) {
    return bucket ^ BUCKET_BYTES;
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
    VarHandle.loadLoadFence();
    long now = Words.get(memory, bucket + LOCK);
    if (!isSameVersion(now, word)) {
      return MOVED;
    }
    raiseCount(bucket, way, now, out);
    out.set(bucket, way, stateOf(states, way), value);
    return FOUND;
  }

  private void raiseCount(long bucket, int way, long word, Probe out) {
    int counts = (int) word & COUNTS_MASK;
    int count = counts >>> (2 * way) & COUNT_MAX;
    out.tailHits += count == 0 ? 1 : 0;
    if (count < countMax) {
      setCounts(bucket, counts + (1 << (2 * way)));
    }
  }

  /** Returns the way that has a key, or {@link #NONE}. */
  private int wayOf(long bucket, long states, long key) {
    for (int way = 0; way < WAYS; way++) {
      if (Words.get(memory, recordAt(bucket, way)) == key && kindOf(stateOf(states, way)) != FREE) {
        return way;
      }
    }
    return NONE;
  }

  private boolean isCurrent(long bucket, long word) {
    VarHandle.loadLoadFence();
    return isSameVersion(Words.get(memory, bucket + LOCK), word);
  }

  private static boolean isSameVersion(long word, long other) {
    return (word ^ other) >>> VERSION_SHIFT == 0;
  }

  private static boolean isLockedWord(long word) {
    return (word & LOCKED) != 0;
  }

  private static long await(long bucket, int attempt, long start, Backoff backoff) {
    String what = "a bucket of the record cache stays locked: bucket";
    return WaitLimit.SHORT.pause(backoff, attempt, start, what, bucket);
  }

  // Locks

  /** Returns whether the bucket is locked by some thread. */
  public boolean isLocked(long bucket) {
    return isLockedWord(Words.getAcquire(memory, bucket + LOCK));
  }

  /** Locks the bucket unless another thread has it locked; returns whether it did. */
  public boolean tryLock(long bucket) {
    long word = Words.getAcquire(memory, bucket + LOCK);
    while (!isLockedWord(word)) {
      long found = Words.compareAndExchange(memory, bucket + LOCK, word, word + LOCKED);
      if (found == word) {
        VarHandle.storeStoreFence();
        return true;
      }
      word = found;
    }
    return false;
  }

  /**
   * Locks the bucket.
   *
   * @throws StalledException if another thread keeps it locked
   */
  public void lock(long bucket, Backoff backoff) {
    long start = 0;
    for (int attempt = 0; !tryLock(bucket); attempt++) {
      start = await(bucket, attempt, start, backoff);
    }
  }

  /** Unlocks the bucket. Its version has then moved by 2 since it was locked. */
  public void unlock(long bucket) {
    assert isLocked(bucket) && isSound(bucket) : describe(bucket);
    Words.setRelease(memory, bucket + LOCK, Words.get(memory, bucket + LOCK) + LOCKED);
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

  /**
   * Locks a bucket and its twin, as a claim in the twin needs it.
   *
   * @throws StalledException if another thread keeps one of them locked; none is locked then
   */
  public void lockBoth(long bucket, Backoff backoff) {
    long even = bucket & -(2L * BUCKET_BYTES);
    lock(even, backoff);
    try {
      lock(twin(even), backoff);
    } catch (Throwable e) {
      unlock(even);
      throw e;
    }
  }

  /** Unlocks a bucket and its twin. */
  public void unlockBoth(long bucket) {
    assert hasNoKeyTwice(bucket) : describe(bucket) + describe(twin(bucket));
    unlock(bucket);
    unlock(twin(bucket));
  }

  // Under the lock: ways

  /** Returns the way of the bucket that has a key, of any kind but FREE, or {@link #NONE}. */
  public int find(long bucket, long key) {
    assert isLocked(bucket) : describe(bucket);
    return wayOf(bucket, Words.get(memory, bucket), key);
  }

  /** Returns the kind of a way. */
  public int kind(long bucket, int way) {
    return kindOf(state(bucket, way));
  }

  /** Returns the slot of a way's record in its segment. */
  public int slot(long bucket, int way) {
    return slotOf(state(bucket, way));
  }

  /** Returns the key of a way, which means nothing if the way is FREE. */
  public long key(long bucket, int way) {
    return Words.get(memory, recordAt(bucket, way));
  }

  /** Returns the value of a way. */
  public long value(long bucket, int way) {
    return Words.get(memory, recordAt(bucket, way) + Long.BYTES);
  }

  /**
   * Sets kind and slot of a way. The count stays as it is.
   *
   * @param slot 0 to 7
   */
  public void setState(long bucket, int way, int kind, int slot) {
    assert isLocked(bucket) : describe(bucket);
    assert isState(way, kind, slot) : "way=" + way + ", kind=" + kind + ", slot=" + slot;
    memory.set(JAVA_BYTE, bucket + way, (byte) (kind | slot << SLOT_SHIFT));
    if (isAmong(KINDS_NEWER, kind)) {
      newer.set(bucket / BUCKET_BYTES);
    }
  }

  /**
   * Returns marks of the buckets that have DIRTY or DELTA_NEWER records, and perhaps of others,
   * also in parts that the cache {@linkplain #has no longer has}: by their offsets in units of
   * {@link #BUCKET_BYTES}.
   */
  public Marks newer() {
    return newer;
  }

  /** Sets the key of a way. A new record's count is to be set to 0 too. */
  public void setKey(long bucket, int way, long key) {
    assert isLocked(bucket) : describe(bucket);
    Words.set(memory, recordAt(bucket, way), key);
  }

  /** Sets the value of a way. */
  public void setValue(long bucket, int way, long value) {
    assert isLocked(bucket) : describe(bucket);
    Words.set(memory, recordAt(bucket, way) + Long.BYTES, value);
  }

  /** Returns the count of a way: how often it was hit lately, at most {@link #COUNT_MAX}. */
  public int count(long bucket, int way) {
    return counts(bucket) >>> (2 * way) & COUNT_MAX;
  }

  /** Sets the count of a way. A hit that was found before the lock may overwrite it. */
  public void setCount(long bucket, int way, int count) {
    assert isLocked(bucket) : describe(bucket);
    assert count >= 0 && count <= COUNT_MAX : count;
    int shift = 2 * way;
    setCounts(bucket, (counts(bucket) & ~(COUNT_MAX << shift)) | (count << shift));
  }

  /** Returns whether keys whose home is this bucket may be in its twin. */
  public boolean twinBit(long bucket) {
    return (memory.get(JAVA_BYTE, bucket + HAND) & TWIN_BIT) != 0;
  }

  /** Sets whether keys whose home is this bucket may be in its twin. Both must be locked. */
  public void setTwinBit(long bucket, boolean mayBeInTwin) {
    assert isLocked(bucket) && isLocked(twin(bucket)) : describe(bucket) + describe(twin(bucket));
    assert twins || !mayBeInTwin : describe(bucket);
    int others = memory.get(JAVA_BYTE, bucket + HAND) & ~TWIN_BIT;
    memory.set(JAVA_BYTE, bucket + HAND, (byte) (mayBeInTwin ? others | TWIN_BIT : others));
  }

  // Under the lock: victims

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

  private void setHand(long bucket, int way) {
    int others = memory.get(JAVA_BYTE, bucket + HAND) & ~THREE_BITS;
    memory.set(JAVA_BYTE, bucket + HAND, (byte) (others | way));
  }

  private static int next(int way) {
    return way == WAYS - 1 ? 0 : way + 1;
  }

  // The bytes of a bucket

  private int state(long bucket, int way) {
    assert isLocked(bucket) : describe(bucket);
    return memory.get(JAVA_BYTE, bucket + way) & STATE_MASK;
  }

  private int counts(long bucket) {
    return (short) COUNTS_HANDLE.get(memory, bucket + COUNTS) & COUNTS_MASK;
  }

  /** Stores the 2 bytes of the counts and no other: their neighbours are the group and the lock. */
  private void setCounts(long bucket, int counts) {
    COUNTS_HANDLE.set(memory, bucket + COUNTS, (short) counts);
  }

  private static long recordAt(long bucket, int way) {
    return bucket + RECORDS + (long) way * RECORD_BYTES;
  }

  private static int stateOf(long states, int way) {
    return (int) (states >>> (way * Byte.SIZE)) & STATE_MASK;
  }

  private static int handOf(long states) {
    return (int) (states >>> (HAND * Byte.SIZE)) & THREE_BITS;
  }

  static int kindOf(int state) {
    return state & THREE_BITS;
  }

  static int slotOf(int state) {
    return state >>> SLOT_SHIFT & THREE_BITS;
  }

  private static boolean isAmong(int kinds, int kind) {
    return (kinds >>> kind & 1) != 0;
  }

  // Checks of a bucket, for assertions

  private static boolean isState(int way, int kind, int slot) {
    return way >= 0 && way < WAYS && kind >= FREE && kind <= BUSY && slot >> SLOT_SHIFT == 0;
  }

  /** Returns whether each key of the bucket may be there, and is there once. */
  private boolean isSound(long bucket) {
    long states = Words.get(memory, bucket);
    for (int way = 0; way < WAYS; way++) {
      if (kindOf(stateOf(states, way)) != FREE) {
        long key = key(bucket, way);
        long home = home(key);
        boolean allowed = home == bucket || (home == twin(bucket) && twinBit(home));
        if (!allowed || wayOf(bucket, states, key) != way) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean hasNoKeyTwice(long bucket) {
    for (int way = 0; way < WAYS; way++) {
      if (kind(bucket, way) != FREE && find(twin(bucket), key(bucket, way)) != NONE) {
        return false;
      }
    }
    return true;
  }

  private String describe(long bucket) {
    StringBuilder text = new StringBuilder("bucket=").append(bucket);
    for (int at = 0; at < BUCKET_BYTES; at += Long.BYTES) {
      text.append(at == 0 ? ", words=" : " ")
          .append(Long.toHexString(Words.get(memory, bucket + at)));
    }
    return text.append("; ").toString();
  }
}
