package pando.bench.keys;

import pando.bench.records.Keys;

/**
 * The keys 0, 1, 2, ...: the first records have them in random order; the key of each later record
 * is its own number.
 */
final class DenseKeys implements Keys {
  private final long first;
  private final Permutation order;

  /**
   * Creates keys.
   *
   * @param first number of the records whose keys are in random order
   * @param seed chooses that order
   */
  DenseKeys(long first, long seed) {
    this.first = first;
    this.order = new Permutation(Math.max(1, first), seed);
  }

  @Override
  public long key(long record) {
    return record < first ? order.place(record) : record;
  }

  @Override
  public long record(long key) {
    return key < 0 || key >= first ? key : order.record(key);
  }
}
