package pando.bench.keys;

import pando.bench.records.Keys;

/** 0, 1, 2, ...: those of the first records in random order, and each later one's own number. */
final class DenseKeys implements Keys {
  private final long first;
  private final Permutation order;

  /** Chooses the order of so many first records. */
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
