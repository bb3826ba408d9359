package pando.bench.keys;

import pando.bench.records.Keys;

/** Ranges of one width from the least key on: the keys of the first records are 1, 2, 3, ... */
final class Steps implements Shape {
  private final int shift;

  /** Spreads so many ranges of {@link Layers}, 1 to 2^31, over at least half of all keys. */
  Steps(long ranges) {
    shift = Long.numberOfLeadingZeros(ranges - 1) - Layers.BITS;
  }

  @Override
  public long key(long place) {
    return Long.MIN_VALUE + (place << shift);
  }

  @Override
  public long place(long key) {
    long place = (key - Long.MIN_VALUE) >>> shift;
    return key(place) == key ? place : Keys.NONE;
  }
}
