package pando.durable;

import java.lang.foreign.MemorySegment;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.RecordBuilder;

/**
 * A session's way to the log that all sessions share. It has one record at a time: that of the last
 * of {@link #put}, {@link #putWord}, {@link #remove}, {@link #removeWord} and {@link #group}. Not
 * thread-safe.
 */
interface SessionLog {
  /** The most that a record of words takes in the log. */
  long WORD_BYTES = RecordBuilder.bytesOf(Long.BYTES, Long.BYTES);

  /** Makes the record of a value that a key has. Copies the bytes of both. */
  void put(MemorySegment key, MemorySegment value);

  /** Makes the record of a value that a key has. */
  void putWord(long key, long value);

  /** Makes the record of a key that is not there. Copies its bytes. */
  void remove(MemorySegment key);

  /** Makes the record of a key that is not there. */
  void removeWord(long key);

  /** Makes the record of several changes that count together, without one yet. */
  void group();

  /** Adds a value that a key has to the record of several changes. Copies the bytes of both. */
  void addPut(MemorySegment key, MemorySegment value);

  /** Adds a key that is not there to the record of several changes. Copies its bytes. */
  void addRemove(MemorySegment key);

  /** Returns the bytes that the record takes in the log. */
  long bytes();

  /**
   * Reserves room, before an index is changed.
   *
   * @throws LogFullException if there is none; nothing is reserved
   * @throws LogFailedException if the log has failed; nothing is reserved
   */
  void reserve(long bytes);

  /**
   * Reserves room as {@link #reserve}, for a thread that keeps others out: it does not wait for
   * what they would have to do.
   */
  void reserveAlone(long bytes);

  /** Gives back room that was reserved and is not used. */
  void release(long bytes);

  /**
   * Appends the record, for which room was reserved.
   *
   * @return the place behind it, its lsn
   * @throws LogFailedException if the log has failed
   */
  long append();

  /** Returns whether an answer has to wait until what it depends on is safe. */
  boolean waitsForSync();

  /**
   * Returns whether what was appended outlives a failure of the log: a change that ends by it may
   * be found later.
   */
  boolean outlivesFailure();

  /** Returns the place in the log before which all is safe. */
  long synced();

  /**
   * Returns once all before a place is safe. An interrupt does not end it, and is kept.
   *
   * @throws LogFailedException if the log has failed
   */
  void awaitSynced(long lsn);

  /**
   * Runs a task once all before a place is safe, or the log has failed, by this thread or another
   * one; the task must be short.
   */
  void whenSynced(long lsn, Runnable task);

  /** Has the log fail: nothing is changed any more. */
  void fail(Throwable cause);

  /**
   * Checks that the log has not failed.
   *
   * @throws LogFailedException if it has
   */
  void check();
}
