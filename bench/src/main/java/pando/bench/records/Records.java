package pando.bench.records;

import java.util.stream.LongStream;

/**
 * An endless supply of records, numbered from 0, of which a benchmark loads the first so many and
 * inserts others later.
 *
 * <p>Keys are distinct and scattered over all 64-bit words, so they are sparse, and neighbours in
 * number are strangers in key order. A value tells which of its record's updates wrote it: sequence
 * 0 is the value a record starts with, sequence n that of its n-th update.
 *
 * @param seed chooses the keys; equal seeds give equal records
 */
public record Records(long seed) {
  private static final long KEY_STEP = 0x9e3779b97f4a7c15L;
  private static final long VALUE_STEP = 0xd1b54a32d192ed03L;

  /** Returns the key of a record. */
  public long key(long record) {
    return Mix.mix(record + seed * KEY_STEP);
  }

  /** Returns the record of a key: of every key, since every word is some record's key. */
  public long record(long key) {
    return Mix.unmix(key) - seed * KEY_STEP;
  }

  /** Returns the greatest key of the first records in a range; its low end where there is none. */
  public long greatestKey(long count, long low, long high) {
    return LongStream.range(0, count)
        .parallel()
        .map(this::key)
        .filter(key -> low <= key && key <= high)
        .max()
        .orElse(low);
  }

  /** Returns the value that a record's update writes. */
  public static long value(long key, int sequence) {
    return Mix.mix(key + VALUE_STEP) ^ Mix.mix(sequence + VALUE_STEP);
  }

  /**
   * Returns the sequence of the update that wrote a value; for a value that no update can have
   * written, a number that is no {@code int} or negative, but for one chance in 2^33.
   */
  public static long sequence(long key, long value) {
    return Mix.unmix(value ^ Mix.mix(key + VALUE_STEP)) - VALUE_STEP;
  }
}
