package pando.index.orca.records;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Words;
import pando.index.session.Marks;

/**
 * The buckets of a {@link RecordCache}: their bytes and their locks. Methods that take a bucket,
 * and are not about locks, may only be called by the holder of its lock.
 */
abstract sealed class RecordBuckets permits RecordCache {
  /*
   * A bucket, 128 bytes: two lines, 7 ways
   * ======================================
   *
   *     0  state of ways 0..6, 1 byte each: kind 3 (lowest) | slot 3 | generation 2
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

  private static final int HAND = 7;
  static final int LOCK = 8;
  private static final int COUNTS = 8;
  private static final int RECORDS = 16;
  private static final int RECORD_BYTES = 16;

  private static final int SLOT_SHIFT = 3;
  private static final int SLOT_BITS = 5;
  private static final int THREE_BITS = 7;
  private static final int STATE_MASK = 0xff;

  private static final int TWIN_BIT = 1 << 3;
  static final long TWIN_BIT_OF_WORD = (long) TWIN_BIT << (HAND * Byte.SIZE);

  private static final int VERSION_SHIFT = 40;
  private static final long LOCKED = 1L << VERSION_SHIFT;
  static final int COUNTS_MASK = 0xffff;

  private static final int KINDS_NEWER = 1 << DIRTY | 1 << DELTA_NEWER;

  final MemorySegment memory;

  /** The buckets that have values newer than leaf or delta, and perhaps others. */
  private final Marks newer;

  RecordBuckets(MemorySegment memory) {
    this.memory = memory;
    this.newer = new Marks(memory.byteSize() / BUCKET_BYTES);
  }

  /** Returns the offset of a key's home bucket. */
  public abstract long home(long key);

  /** Returns whether keys may be in the twins of their homes. */
  public abstract boolean twins();

  /** Returns the offset of the other bucket of a pair. */
  public static long twin(long bucket) {
    return bucket ^ BUCKET_BYTES;
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

  // Under the lock

  /** Returns the kind of a way. */
  public int kind(long bucket, int way) {
    return kindOf(state(bucket, way));
  }

  /** Returns the slot of a way's record in its segment, with the generation above it. */
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
   * @param slot of the record, 0 to 7, and above these 3 bits 2 for the generation of its leaf's
   *     slots
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
   * also in parts that the cache {@linkplain RecordCache#has no longer has}: by their offsets in
   * units of {@link #BUCKET_BYTES}.
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
  boolean twinBit(long bucket) {
    return (memory.get(JAVA_BYTE, bucket + HAND) & TWIN_BIT) != 0;
  }

  /** Sets whether keys whose home is this bucket may be in its twin. Both must be locked. */
  public void setTwinBit(long bucket, boolean mayBeInTwin) {
    assert isLocked(bucket) && isLocked(twin(bucket)) : describe(bucket) + describe(twin(bucket));
    assert twins() || !mayBeInTwin : describe(bucket);
    int others = memory.get(JAVA_BYTE, bucket + HAND) & ~TWIN_BIT;
    memory.set(JAVA_BYTE, bucket + HAND, (byte) (mayBeInTwin ? others | TWIN_BIT : others));
  }

  // The bytes of a bucket

  private int state(long bucket, int way) {
    assert isLocked(bucket) : describe(bucket);
    return memory.get(JAVA_BYTE, bucket + way) & STATE_MASK;
  }

  int counts(long bucket) {
    return (short) COUNTS_HANDLE.get(memory, bucket + COUNTS) & COUNTS_MASK;
  }

  /** Stores the 2 bytes of the counts and no other: their neighbours are the group and the lock. */
  void setCounts(long bucket, int counts) {
    COUNTS_HANDLE.set(memory, bucket + COUNTS, (short) counts);
  }

  static long recordAt(long bucket, int way) {
    return bucket + RECORDS + (long) way * RECORD_BYTES;
  }

  static int stateOf(long states, int way) {
    return (int) (states >>> (way * Byte.SIZE)) & STATE_MASK;
  }

  static int handOf(long states) {
    return (int) (states >>> (HAND * Byte.SIZE)) & THREE_BITS;
  }

  static int kindOf(int state) {
    return state & THREE_BITS;
  }

  static int slotOf(int state) {
    return state >>> SLOT_SHIFT;
  }

  static boolean isAmong(int kinds, int kind) {
    return (kinds >>> kind & 1) != 0;
  }

  void setHand(long bucket, int way) {
    int others = memory.get(JAVA_BYTE, bucket + HAND) & ~THREE_BITS;
    memory.set(JAVA_BYTE, bucket + HAND, (byte) (others | way));
  }

  /** Returns the way that has a key, or {@link #NONE}. */
  int wayOf(long bucket, long states, long key) {
    for (int way = 0; way < WAYS; way++) {
      if (Words.get(memory, recordAt(bucket, way)) == key && kindOf(stateOf(states, way)) != FREE) {
        return way;
      }
    }
    return NONE;
  }

  boolean isCurrent(long bucket, long word) {
    VarHandle.loadLoadFence();
    return isSameVersion(Words.get(memory, bucket + LOCK), word);
  }

  static boolean isSameVersion(long word, long other) {
    return (word ^ other) >>> VERSION_SHIFT == 0;
  }

  static boolean isLockedWord(long word) {
    return (word & LOCKED) != 0;
  }

  static long await(long bucket, int attempt, long start, Backoff backoff) {
    String what = "a bucket of the record cache stays locked: bucket";
    return WaitLimit.SHORT.pause(backoff, attempt, start, what, bucket);
  }

  // Checks of a bucket, for assertions

  private static boolean isState(int way, int kind, int slot) {
    return way >= 0 && way < WAYS && kind >= FREE && kind <= BUSY && slot >> SLOT_BITS == 0;
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
      if (kind(bucket, way) != FREE
          && wayOf(twin(bucket), Words.get(memory, twin(bucket)), key(bucket, way)) != NONE) {
        return false;
      }
    }
    return true;
  }

  String describe(long bucket) {
    StringBuilder text = new StringBuilder("bucket=").append(bucket);
    for (int at = 0; at < BUCKET_BYTES; at += Long.BYTES) {
      text.append(at == 0 ? ", words=" : " ")
          .append(Long.toHexString(Words.get(memory, bucket + at)));
    }
    return text.append("; ").toString();
  }
}
