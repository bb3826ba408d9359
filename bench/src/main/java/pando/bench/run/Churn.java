package pando.bench.run;

import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.cli.WrongResultException;
import pando.cli.text.Progress;
import pando.index.RangeIndex;
import pando.index.Session;

/** Inserts records and removes them again, to check that their space is freed. */
public final class Churn {
  private static final int REPORT_EVERY = 1 << 16;

  private final RangeIndex index;
  private final Records records;
  private final long loaded;
  private final long churned;

  /**
   * Prepares the run.
   *
   * @param index empty
   * @param loaded records that stay
   * @param churned records that are inserted and removed
   */
  public Churn(RangeIndex index, Records records, long loaded, long churned) {
    this.index = index;
    this.records = records;
    this.loaded = loaded;
    this.churned = churned;
  }

  /**
   * The bytes of nodes in the pool.
   *
   * @param loadedBytes after the load
   * @param fullBytes with all records
   * @param leftBytes after the removals, when the index is closed: only then the pool has every
   *     removal, as caches may hold some
   */
  public record Space(long loadedBytes, long fullBytes, long leftBytes) {
    /** Returns the growth from the load to the end, as a share of the loaded bytes. */
    public double growth() {
      return (double) (leftBytes - loadedBytes) / loadedBytes;
    }
  }

  /** Loads the records that stay. */
  public void load(double fill) {
    try (Progress progress = Progress.of("load", loaded)) {
      index.bulkLoad(new SortedRecords(records, loaded, progress::step), fill);
    }
  }

  /**
   * Inserts, removes, reads what is left, and closes the index, which was loaded.
   *
   * @throws WrongResultException if an answer was wrong
   */
  public Space run() {
    long loadedBytes = index.poolBytes();
    long fullBytes = churn();
    index.close();
    return new Space(loadedBytes, fullBytes, index.poolBytes());
  }

  /** Returns the bytes with all records. */
  private long churn() {
    try (Session session = index.session();
        Progress progress = Progress.of("churn", 2 * churned)) {
      insert(session, progress);
      long fullBytes = index.poolBytes();
      remove(session, progress);
      readAll(session);
      return fullBytes;
    }
  }

  private void insert(Session session, Progress progress) {
    for (long record = loaded; record < loaded + churned; record++) {
      long key = records.key(record);
      check(session.putIfAbsent(key, Records.value(key, 0)), "was there before", key);
      report(record, progress);
    }
  }

  private void remove(Session session, Progress progress) {
    for (long record = loaded; record < loaded + churned; record++) {
      long key = records.key(record);
      check(session.remove(key), "is missing", key);
      check(session.value() == Records.value(key, 0), "has a wrong value", key);
      report(record, progress);
    }
  }

  private void readAll(Session session) {
    long entries = session.scan(Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, this::checkEntry);
    if (entries != loaded) {
      throw new WrongResultException(
          "wrong number of records left: entries=" + entries + ", loaded=" + loaded);
    }
  }

  private boolean checkEntry(long key, long value) {
    long record = records.record(key);
    check(record >= 0 && record < loaded, "should be gone", key);
    check(value == Records.value(key, 0), "has a wrong value", key);
    return true;
  }

  private void check(boolean isRight, String what, long key) {
    if (!isRight) {
      throw new WrongResultException(
          "a record " + what + ": key=" + key + ", seed=" + records.seed());
    }
  }

  private static void report(long record, Progress progress) {
    if (record % REPORT_EVERY == 0) {
      progress.step(REPORT_EVERY);
    }
  }
}
