package pando.bench.records;

import java.util.Arrays;
import java.util.function.LongConsumer;
import pando.index.EntrySource;

/**
 * The first records in ascending order of their keys, for a bulk load. Holds all keys in memory:
 * drop it after the load.
 */
public final class SortedRecords implements EntrySource {
  private static final int REPORT_EVERY = 1 << 16;

  private final long[] keys;
  private final LongConsumer progress;
  private int next;

  /**
   * Computes and sorts the keys.
   *
   * @param count records, 0 to {@link Ledger#RECORDS_MAX}
   * @param progress receives, from time to time, how many further entries were read
   */
  public SortedRecords(Records records, long count, LongConsumer progress) {
    keys = new long[Math.toIntExact(count)];
    this.progress = progress;
    Arrays.parallelSetAll(keys, records::key);
    Arrays.parallelSort(keys);
  }

  @Override
  public boolean next() {
    if (next == keys.length) {
      return false;
    }
    next++;
    if (next % REPORT_EVERY == 0) {
      progress.accept(REPORT_EVERY);
    }
    return true;
  }

  @Override
  public long key() {
    return keys[next - 1];
  }

  @Override
  public long value() {
    return Records.value(key(), 0);
  }
}
