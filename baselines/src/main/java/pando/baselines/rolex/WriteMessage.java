package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;
import pando.index.session.Operation;

/**
 * The messages of CALLs to {@link RolexWrites}. Every field is a word.
 *
 * <pre>
 *  write     | operation | place | key | value | first | last | delta | spare | stamp |
 *            | expected, if the operation compares |
 *  answer    | status | value | leaf | link | freed | hops | synonyms | empties |
 *  freeze    | operation | place | gate |
 *  thaw      | operation | place | gate |
 *  answer    | status | gate |
 *
 *  operation   of a session, or one of those here
 *  place       of the run
 *  first, last leaves of the run that can cover the key, by the model
 *  spare       address of a synonym leaf that may be used, 0 where there is none
 *  stamp       of the model's leaves
 *  expected    value that the key must have
 *  value       that the key had; of BUSY, the gate; of CORRUPT, the address of what is damaged
 *  leaf        the leaf that covers the key
 *  link        synonym leaf behind that leaf now
 *  freed       synonym leaf that is used no more, 0 where there is none
 *  hops        synonym leaves that were passed
 *  synonyms    of the run, where there is one more now, else 0
 *  empties     leaves of the run without an entry, where there is one more now, else 0
 * </pre>
 */
final class WriteMessage {
  /** Freezes a run, so that writes are refused, unless another session has frozen it. */
  static final long FREEZE = 16;

  /** Thaws a run, so that writes are accepted, if it is frozen with the same gate. */
  static final long THAW = 17;

  /** Done, and the key was there before; or frozen, or thawed. */
  static final long FOUND = 1;

  /** Done, and the key was not there before. */
  static final long ABSENT = 2;

  /** Nothing was done: it takes a spare synonym leaf. */
  static final long NEEDS_SPARE = 3;

  /** Nothing was done: the run is not there any more, or no leaf covers the key. */
  static final long STALE = 4;

  /** Nothing was done: the run is frozen. */
  static final long BUSY = 5;

  /** Nothing was done: a leaf is damaged. */
  static final long CORRUPT = 6;

  static final int OPERATION = 0;
  static final int PLACE = 8;
  static final int GATE = 16;
  static final int KEY = 16;
  static final int VALUE = 24;
  static final int FIRST = 32;
  static final int LAST = 40;
  static final int DELTA = 48;
  static final int SPARE = 56;
  static final int STAMP = 64;
  static final int WRITE_BYTES = 72;
  static final int EXPECTED = WRITE_BYTES;
  static final int FREEZE_BYTES = 24;

  static final int STATUS = 0;
  static final int BEFORE = 8;
  static final int LEAF = 16;
  static final int LINK = 24;
  static final int FREED = 32;
  static final int HOPS = 40;
  static final int SYNONYMS = 48;
  static final int EMPTIES = 56;
  static final int WRITTEN_BYTES = 64;
  static final int FROZEN_BYTES = 16;

  private WriteMessage() {}

  /** Returns the bytes of a write. */
  static int writeBytes(Operation operation) {
    return operation.compares() ? WRITE_BYTES + Long.BYTES : WRITE_BYTES;
  }

  static long get(MemorySegment memory, long message, int field) {
    return Words.get(memory, message + field);
  }

  static void set(MemorySegment memory, long message, int field, long value) {
    Words.set(memory, message + field, value);
  }

  /**
   * Checks the length of a request or an answer.
   *
   * @throws IllegalArgumentException if it is another
   */
  static void checkLength(String what, int bytes, int expected) {
    if (bytes != expected) {
      throw new IllegalArgumentException(
          what + " of the wrong length: bytes=" + bytes + ", expected=" + expected);
    }
  }
}
