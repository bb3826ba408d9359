package pando.bench.records;

import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import pando.index.EntrySource;

/**
 * The first records in ascending order of their keys, for a bulk load. Holds all keys in memory:
 * drop it after the load.
 */
public final class SortedRecords implements EntrySource {
  private static final int REPORT_EVERY = 1 << 16;

  private final long[] keys;
  private final LongConsumer progress;
  private final int end;
  private int next;

  /**
   * Computes and sorts the keys.
   *
   * @param count records, 0 to {@link Ledger#RECORDS_MAX}
   * @param progress receives, from time to time, how many further entries were read; by several
   *     threads if these are {@linkplain #split parts}
   */
  public SortedRecords(Records records, long count, LongConsumer progress) {
    this(new long[Math.toIntExact(count)], 0, Math.toIntExact(count), progress);
    Arrays.parallelSetAll(keys, records::key);
    Arrays.parallelSort(keys);
  }

  private SortedRecords(long[] keys, int from, int end, LongConsumer progress) {
    this.keys = keys;
    this.next = from;
    this.end = end;
    this.progress = progress;
  }

  @Override
  public List<SortedRecords> split(int threads) {
    return IntStream.range(0, threads)
        .mapToObj(part ->
            new SortedRecords(keys, bound(part, threads), bound(part + 1, threads), progress))
        .toList();
  }

  private int bound(int part, int parts) {
    return (int) ((long) keys.length * part / parts);
  }

  @Override
  public boolean next() {
    if (next == end) {
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
