package pando.bench.records;

import java.util.stream.LongStream;

/**
 * An unlimited supply of records, numbered from 0: a benchmark loads the first ones and inserts
 * later ones.
 *
 * <p>Keys are distinct and scattered over the order of keys, so records with consecutive numbers
 * are not neighbours there. A value encodes which of its record's updates wrote it: sequence 0 is
 * the value a record starts with, sequence n that of its n-th update.
 *
 * @param keys of the records
 * @param seed that chose them; equal seeds give equal records
 */
public record Records(Keys keys, long seed) {
  private static final long VALUE_STEP = 0xd1b54a32d192ed03L;

  /** Creates records whose keys are any 64-bit words with the same probability. */
  public Records(long seed) {
    this(new ScatteredKeys(seed), seed);
  }

  /** Returns the key of a record. */
  public long key(long record) {
    return keys.key(record);
  }

  /** Returns the record of a key; a negative number if no record has it. */
  public long record(long key) {
    return keys.record(key);
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
   * Returns the sequence of the update that wrote a value; for a value that no update wrote, a
   * number that is negative or no {@code int}, except with a probability of 2^-33.
   */
  public static long sequence(long key, long value) {
    return Mix.unmix(value ^ Mix.mix(key + VALUE_STEP)) - VALUE_STEP;
  }
}
