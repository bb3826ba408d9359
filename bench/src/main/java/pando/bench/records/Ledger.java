package pando.bench.records;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The values that a reader may find in each record, exactly, while other threads update it.
 *
 * <p>One {@code int} for each of the first records, which can be updated: twice the sequence of its
 * latest finished update, plus 1 while the next is under way. Updates of one record therefore
 * exclude each other. A read that began when the word was {@code before} and ended when it was
 * {@code after} must have found a sequence from {@link #finished finished(before)} to {@link #begun
 * begun(after)}.
 *
 * <p>Thread-safe.
 */
public final class Ledger {
  /** Maximum number of records of a ledger. */
  public static final int RECORDS_MAX = Integer.MAX_VALUE - 8;

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(int[].class);

  private final int[] words;
  private volatile boolean used;

  /**
   * Creates a ledger of records that were never updated.
   *
   * @param records 0 to {@link #RECORDS_MAX}
   */
  public Ledger(long records) {
    if (records < 0 || records > RECORDS_MAX) {
      throw new IllegalArgumentException(
          "records out of range: records=" + records + ", max=" + RECORDS_MAX);
    }
    words = new int[(int) records];
  }

  /** Returns whether any record was ever updated; until then every word is 0. */
  public boolean isUsed() {
    return used;
  }

  /** Returns the current word of a record; 0 for one that cannot be updated. */
  public int word(long record) {
    return record < words.length ? (int) WORD.getAcquire(words, (int) record) : 0;
  }

  /** Returns the sequence of the last update that had ended. */
  public static int finished(int word) {
    return word >>> 1;
  }

  /** Returns the sequence of the last update that had begun. */
  public static int begun(int word) {
    return (word >>> 1) + (word & 1);
  }

  /**
   * Begins an update, after that of any other thread has ended.
   *
   * @return the update's sequence
   */
  public int beginUpdate(long record) {
    if (!used) {
      used = true;
    }
    for (; ; ) {
      int word = word(record);
      if ((word & 1) == 0 && WORD.compareAndSet(words, (int) record, word, word + 1)) {
        return begun(word + 1);
      }
      pause();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // The other update may be of the same lane.
  private static void pause() {
    if (Thread.currentThread().isVirtual()) {
      Thread.yield();
    } else {
      Thread.onSpinWait();
    }
  }

  /** Ends the update that this thread has begun. */
  public void endUpdate(long record) {
    WORD.setRelease(words, (int) record, word(record) + 1);
  }
}
