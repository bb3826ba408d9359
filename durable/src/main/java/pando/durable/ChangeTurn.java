package pando.durable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.durable.holder.PlantedLogBug;
import pando.fabric.FencedException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Lease;
import pando.journal.LogFailedException;

/**
 * A session's turn at the stripes and the log: what a change does before and after it operates, and
 * what a reader does once it has its answer. Not thread-safe.
 */
final class ChangeTurn {
  /*
   *         lock                                            unlock
   *   change  +-- reserve -- operate -- append ---------------+ -- wait until safe
   *   word    | 4096       | BUSY              | 4128           (the lsn behind the record)
   *
   * Under the lock a change reserves room, operates and appends its record. So records of a key are
   * in the order of their effects, whatever the system. Only then it waits until that is safe, if
   * answers have to. Changes of several keys that count together have the locks of all of them. They know
   * their record once they have operated, and reserve then: if there is no room, they are undone
   * before anybody else reads.
   *
   * A reader that has its answer looks at the word of the key. Where it is BUSY, what was read may
   * not be in the log yet: the reader waits for the lock. Then the word is an lsn that the answer
   * depends on. A change that changed nothing has read, too: the word goes back to what it was, and
   * its answer depends on that. What a reader depends on is in the log before any change that it
   * makes afterwards, so the log has no change whose reason comes later or is missing.
   *
   * A change that fails may have happened. Its key is read under the lock and logged as it is. If
   * that fails as well, index and log differ: the log fails, and the word stays BUSY for ever, so
   * nobody gets to know what is not in the log.
   */

  /** Words that one change stores, at the most. */
  static final int WORDS_MAX = 256;

  private final Stripes stripes;
  private final SessionLog log;
  private final @Nullable Lease lease;
  private final BitSet wanted = new BitSet(Stripes.COUNT);

  /** The stripes of this change, in ascending order, and the words before. */
  private int[] taken = new int[WORDS_MAX];

  private long[] before = new long[WORDS_MAX];
  private int count;
  private boolean removes;
  private boolean begun;

  /** Bytes of the log that are reserved for this change. */
  private long reserved;

  /** The lsn of the last record of this change, 0 if it has none. */
  private long appended;

  /** Whether answers wait at all until a record is safe: else nobody asks what they depend on. */
  private final boolean waits;

  private boolean deferred;
  private long dependsOn;

  /**
   * Prepares a turn.
   *
   * @param lease while which what was read may be answered, {@code null} for always
   */
  ChangeTurn(Stripes stripes, SessionLog log, @Nullable Lease lease) {
    this.stripes = stripes;
    this.log = log;
    this.lease = lease;
    this.waits = log.waitsForSync();
  }

  /** Has answers not wait until records are safe: the caller does. */
  void defer() {
    deferred = true;
  }

  /** Returns the greatest lsn that an answer depends on, 0 if none has to wait. */
  long dependsOn() {
    return dependsOn;
  }

  /** Forgets what was answered until now. */
  void forget() {
    dependsOn = 0;
  }

  /**
   * Begins a change of one stripe, which has one record, the log's present one. If it throws,
   * nothing has begun.
   */
  void begin(int stripe, boolean mayRemove) {
    checkIdle();
    taken[0] = stripe;
    count = 1;
    removes = mayRemove;
    begin(log.bytes());
  }

  /** Begins a change that stores several words. If it throws, nothing has begun. */
  void begin(long[] keys, int from, int keyCount) {
    checkIdle();
    wanted.clear();
    for (int i = from; i < from + keyCount; i++) {
      wanted.set(Stripes.of(keys[i]));
    }
    removes = false;
    beginWanted(keyCount * SessionLog.WORD_BYTES);
  }

  /**
   * Begins a change of several keys, which {@link #reserve reserves} room once it knows its record.
   * If it throws, nothing has begun.
   */
  void begin(Collection<MemorySegment> keys) {
    checkIdle();
    wanted.clear();
    keys.forEach(key -> wanted.set(Stripes.of(key)));
    removes = true;
    beginWanted(0);
  }

  /** Begins a change of any keys, as {@link #begin(Collection)} does. */
  void beginAll() {
    checkIdle();
    wanted.set(0, Stripes.COUNT);
    removes = true;
    beginWanted(0);
  }

  /** Returns whether the change that is under way has a stripe. */
  boolean has(int stripe) {
    return begun && wanted.get(stripe);
  }

  private void checkIdle() {
    if (begun) {
      throw new IllegalStateException("a change of this session is under way");
    }
  }

  /** Takes the stripes in ascending order, as all do, so that no two wait for each other. */
  private void beginWanted(long bytes) {
    int stripe = -1;
    for (count = 0; (stripe = wanted.nextSetBit(stripe + 1)) >= 0; count++) {
      if (count == taken.length) {
        taken = Arrays.copyOf(taken, Stripes.COUNT);
        before = new long[Stripes.COUNT];
      }
      taken[count] = stripe;
    }
    begin(bytes);
  }

  private void begin(long bytes) {
    int all = count;
    try {
      boolean isAlone = stripes.isAlone();
      for (count = 0; count < all; count++) {
        stripes.lock(taken[count]);
      }
      reserve(bytes, isAlone);
      begun = true;
    } finally {
      if (!begun) {
        unlock();
      }
    }
    reserved = bytes;
    appended = 0;
    for (int i = 0; i < count; i++) {
      before[i] = stripes.begin(taken[i], removes);
    }
  }

  private void reserve(long bytes, boolean isAlone) {
    try {
      if (isAlone) {
        log.reserveAlone(bytes);
      } else {
        log.reserve(bytes);
      }
    } catch (LogFailedException e) {
      throw ended(e);
    }
  }

  /** Returns what to throw where the log had failed before anything was done. */
  private RuntimeException ended(LogFailedException failure) {
    return log.outlivesFailure()
        ? new FencedException("this compute server ends: " + failure.getMessage())
        : failure;
  }

  /**
   * Reserves room for the log's present record, which others may wait for. If it throws, the change
   * goes on.
   */
  void reserve() {
    long bytes = log.bytes();
    if (bytes > reserved) {
      reserve(bytes - reserved, true);
      reserved = bytes;
    }
  }

  /** Appends the log's present record to the change. If it throws, the change has ended. */
  void append() {
    try {
      reserve();
      appended = log.append();
      reserved -= log.bytes();
    } catch (LogFailedException e) {
      fail(e);
      throw outcome(e);
    } catch (Throwable e) {
      fail(e);
      throw e;
    }
  }

  /** Returns what to throw where the log has failed behind a change that has taken effect. */
  private RuntimeException outcome(LogFailedException failure) {
    return log.outlivesFailure()
        ? new UnknownOutcomeException(
            "a change may be found later, as the log has failed: " + failure.getMessage(), failure)
        : failure;
  }

  /** Ends the change, of which all records are appended; if there is none, it changed nothing. */
  void end() {
    if (reserved > 0) {
      log.release(reserved);
    }
    for (int i = 0; i < count; i++) {
      long lsn = Math.max(before[i], appended);
      stripes.end(taken[i], lsn, removes);
      dependOn(lsn);
    }
    unlock();
  }

  /** Ends the change as one of which index and log may differ. */
  void fail(Throwable cause) {
    log.fail(cause);
    unlock();
  }

  private void unlock() {
    begun = false;
    for (int i = 0; i < count; i++) {
      stripes.unlock(taken[i]);
    }
  }

  /**
   * Ends a change of one key that failed. If it may have taken effect, the key is logged as it is.
   *
   * @param record reads the key, and makes its record
   */
  void settle(Throwable failure, Runnable record) {
    if (!UnknownOutcomeException.isPossible(failure) || logAsItIs(failure, record)) {
      end();
    }
  }

  /**
   * Logs a key as it is, after a failure. If that fails as well, the change has ended.
   *
   * @param record reads the key, and makes its record
   * @return whether the change goes on
   */
  boolean logAsItIs(Throwable failure, Runnable record) {
    try {
      record.run();
    } catch (Throwable e) {
      failure.addSuppressed(e);
      fail(failure);
      return false;
    }
    try {
      append();
      return true;
    } catch (Throwable e) {
      failure.addSuppressed(e);
      return false;
    }
  }

  /** Begins to read; {@link #isRead} says whether what is read counts. */
  int beginRead() {
    int mark = stripes.beginRead();
    if (mark % 2 != 0 && !PlantedLogBug.SERVED_EARLY) {
      throw unsettled();
    }
    return mark;
  }

  /** Returns whether what was read since {@link #beginRead} counts; else it is read again. */
  boolean isRead(int mark) {
    return stripes.isRead(mark);
  }

  /** Has the answer depend on the last change of a stripe, as a key of it was read. */
  void read(int stripe) {
    long lsn = stripes.word(stripe);
    if (lsn == Stripes.BUSY) {
      lsn = stripes.settledWord(stripe);
      if (lsn == Stripes.BUSY) {
        throw unsettled();
      }
    }
    dependOn(lsn);
  }

  /** Has the answer depend on removals, as it says that there is no key somewhere. */
  void passGap() {
    if (stripes.areRemoving()) {
      awaitRemovals();
    }
    if (waits) {
      dependOn(stripes.lastRemoval());
    }
  }

  /** Waits for the removals that are under way, but for no later ones. */
  private void awaitRemovals() {
    for (int group = 0; group < Stripes.COUNT / Long.SIZE; group++) {
      long bits = stripes.removing(group);
      for (; bits != 0; bits &= bits - 1) {
        int stripe = group * Long.SIZE + Long.numberOfTrailingZeros(bits);
        if (stripes.settledWord(stripe) == Stripes.BUSY) {
          throw unsettled();
        }
      }
    }
  }

  /** Returns what to throw where a change never ended. */
  private RuntimeException unsettled() {
    try {
      log.check();
    } catch (LogFailedException e) {
      return ended(e);
    }
    return new IllegalStateException("a change did not end");
  }

  private void dependOn(long lsn) {
    if (waits) {
      dependsOn = Math.max(dependsOn, lsn);
    }
  }

  /**
   * Runs a task once what was answered until now may be told, and forgets that; gives it the
   * failure of the log if it may not.
   */
  void whenSafe(Consumer<@Nullable LogFailedException> task) {
    long lsn = dependsOn;
    dependsOn = 0;
    if (lsn <= log.synced() || !waits) {
      task.accept(null);
    } else {
      log.whenSynced(lsn, () -> task.accept(lsn <= log.synced() ? null : failure()));
    }
  }

  private @Nullable LogFailedException failure() {
    try {
      log.check();
      return null;
    } catch (LogFailedException e) {
      return e;
    }
  }

  /**
   * Returns once what was read may be answered: what it depends on is as safe as it has to be, and
   * the lease is held, so it was read before anybody else could change it.
   */
  void answer() {
    try {
      awaitSafety();
    } catch (LogFailedException e) {
      throw ended(e);
    }
    if (lease != null) {
      lease.await();
    }
  }

  /**
   * Returns once an operation may be answered that may change something.
   *
   * @param changed whether it has; else it has only read
   */
  void answer(boolean changed) {
    if (changed) {
      answerChange();
    } else {
      answer();
    }
  }

  /**
   * Returns once a change may be answered: it is as safe as it has to be, and the lease is held.
   */
  void answerChange() {
    try {
      awaitSafety();
    } catch (LogFailedException e) {
      throw outcome(e);
    }
    if (lease != null) {
      lease.awaitAfterChange();
    }
  }

  private void awaitSafety() {
    if (waits && !deferred && dependsOn > log.synced()) {
      log.awaitSynced(dependsOn);
    }
  }
}
