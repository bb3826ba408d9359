package pando.baselines.deft;

import pando.baselines.lock.LockTables;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/** Locks that are taken by CAS and are always exclusive, as Sherman's global locks. */
final class CasLocks extends DeftNodeLocks {
  /*
   * DEFT's ablation without its SX lock. The word is 0, or names its holder. A waiter posts the CAS
   * and the READs again after a short pause. There is no order among waiters, and each attempt
   * costs the card a CAS and the READs after it. As the word names its holder, a lock whose outcome
   * is unknown is released by a CAS that compares.
   *
   *   63 | 62..17 0 | 16..9 compute server + 1 | 8..0 session
   */

  private static final long TAKEN = 1L << 63;
  private static final int EAGER = 10_000;
  private static final int PAUSE_MAX = 20;

  private final long owner;
  private final long free;

  CasLocks(
      LockWords words,
      long waitNanos,
      int computeServer,
      int session,
      Worker worker,
      long scratch) {
    super(words, waitNanos, worker, scratch);
    owner = TAKEN | ((computeServer + 1L) << LockTables.SESSION_BITS) | session;
    free = scratch + Long.BYTES;
    Words.set(worker.memory(), free, 0);
  }

  @Override
  boolean take(long node, long word, boolean exclusively, VerbList reads) {
    // Before the verb: if the verb fails, this session may hold the lock anyway.
    int place = hold(word, true, 0);
    long start = worker.nanoTime();
    for (int attempt = 0; ; attempt++) {
      begin().cas(word, 0, owner, found);
      long holder = postWith(reads);
      if (holder == 0) {
        return true;
      }
      if (isRestAsked()) {
        forget(place);
        rest();
        place = hold(word, true, 0);
        start = worker.nanoTime();
      }
      worker.backoff().pause(Math.min(attempt >> 8, PAUSE_MAX));
      if (isOver(attempt, EAGER, start)) {
        forget(place);
        throw stayedLocked(node, word, "holder=" + nameOf(holder), start);
      }
    }
  }

  private static String nameOf(long holder) {
    return "computeServer %s session %s"
        .formatted(
            ((holder & ~TAKEN) >>> LockTables.SESSION_BITS) - 1,
            holder & ((1 << LockTables.SESSION_BITS) - 1));
  }

  @Override
  boolean exchange(int place, long node, VerbList reads) {
    throw new AssertionError("all locks are exclusive");
  }

  @Override
  boolean tryTake(long word) {
    int place = hold(word, true, 0);
    if (worker.cas(word, 0, owner) == 0) {
      return true;
    }
    forget(place);
    return false;
  }

  @Override
  boolean tryExchange(int place) {
    throw new AssertionError("all locks are exclusive");
  }

  @Override
  boolean isInPool(int place) {
    return read(word(place)) == owner;
  }

  @Override
  void addRelease(int place, VerbList changes) {
    changes.write(word(place), free, Long.BYTES);
  }

  @Override
  void release(long word, boolean exclusively, int ticket, boolean maybeDone) {
    worker.cas(word, owner, 0);
  }
}
