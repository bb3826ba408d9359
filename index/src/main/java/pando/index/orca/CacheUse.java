package pando.index.orca;

import java.util.concurrent.atomic.LongAdder;
import pando.index.orca.records.RecordCache;

/**
 * What sessions count of a compute server's caches. It says what more or less memory would be worth
 * to each; a task that moves memory follows, and is woken where it has something to do.
 * Thread-safe.
 */
final class CacheUse {
  final LongAdder tailHits = new LongAdder();
  final LongAdder changes = new LongAdder();
  final LongAdder merges = new LongAdder();
  final LongAdder changesMerged = new LongAdder();
  final LongAdder pairsRead = new LongAdder();
  final LongAdder filtered = new LongAdder();
  final LongAdder unfiltered = new LongAdder();
  private final LongAdder pairsMissed = new LongAdder();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final RecordCache records;
  private final DirectoryParts directory;
  private Runnable wake = () -> {};

  /** Number of missed keys and pairs at which the window ends. */
  private volatile long due = Long.MAX_VALUE;

  /** Records that found no free way, until the cache is taken for full. */
  private volatile long full;

  private volatile boolean deltasLend;

  CacheUse(RecordCache records, DirectoryParts directory) {
    this.records = records;
    this.directory = directory;
  }

  /** Sets what wakes the task that follows. Called once, before there are sessions. */
  void onDue(Runnable task) {
    wake = task;
  }

  /** Sets the number of {@linkplain #missed missed} keys and pairs at which the window ends. */
  void setDue(long atMissed) {
    due = atMissed;
  }

  /** Returns whether the window has ended. */
  boolean isDue() {
    return missed() >= due;
  }

  /** Returns the number of keys and pairs that were not cached. */
  long missed() {
    return admitted.sum() + pairsMissed.sum();
  }

  /** Returns the number of records that were cached. */
  long admissions() {
    return admitted.sum();
  }

  /** Returns the number of records that were evicted for others. */
  long evictions() {
    return evicted.sum();
  }

  // Called by sessions.

  /** Counts a record that was cached, and whether another was evicted for it. */
  void countAdmission(boolean evicts) {
    admitted.increment();
    if (evicts) {
      evicted.increment();
    }
  }

  /** Counts a change that a delta has got; wakes the task if deltas want memory back. */
  void countChange() {
    changes.increment();
    if (deltasLend) {
      wake.run();
    }
  }

  /** Sets whether deltas have lent memory that they want back with their next change. */
  void setDeltasLend(boolean lend) {
    deltasLend = lend;
  }

  /** Returns whether deltas want back what they have lent. */
  boolean wantsBack() {
    return deltasLend && changes.sum() > 0;
  }

  /**
   * Notes that a leaf with so many changes was merged for lack of memory for deltas; 0: none was.
   */
  void noteMerge(int merged) {
    if (merged > 0) {
      merges.increment();
      changesMerged.add(merged);
    }
  }

  /** Notes hits of records of count 0; wakes the task if a window has passed. */
  void note(long hits) {
    tailHits.add(hits);
    wakeIfDue();
  }

  /**
   * Notes absent keys: those that filters have found, and those that were READ without a filter.
   */
  void noteAbsent(long found, long read) {
    filtered.add(found);
    unfiltered.add(read);
  }

  /** Notes pairs of segments that a scan has READ; wakes the task if a window has passed. */
  void notePairs(int read) {
    pairsRead.add(read);
    pairsMissed.add(read);
    wakeIfDue();
  }

  private void wakeIfDue() {
    if (isDue()) {
      wake.run();
    }
  }

  /** Notes that the directory has changed; wakes the task if it needs more parts, or fewer. */
  void noteDirectory() {
    if (directory.isShort() || directory.isAmple()) {
      wake.run();
    }
  }

  /** Returns whether the cache of records is full, so that neighbours find no free way. */
  boolean isFull() {
    return full > records.buckets();
  }

  /** Notes that a record found no free way. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // A lost count does not matter.
  void noteFull() {
    full++;
  }

  /** Notes that the cache of records may have room again. */
  void noteRoom() {
    full = 0;
  }
}
