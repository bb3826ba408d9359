package pando.bench.keys;

import pando.bench.records.Keys;

/**
 * The first records are at the starts of the ranges, in random order; the next ones, as many again,
 * are in the middle of each range, then in the middles of its halves, and so on. A place consists
 * of the range's number and 32 bits for the position in the range.
 */
final class Layers implements Order {
  /** Bits for the position of a place in its range. */
  static final int BITS = 32;

  private static final long LAYERS = 1L << BITS;

  private final long ranges;
  private final Permutation order;

  /** Creates the order over so many ranges, 1 to 2^31. */
  Layers(long ranges, long seed) {
    this.ranges = ranges;
    order = new Permutation(ranges, seed);
  }

  @Override
  public long place(long record) {
    long layer = record / ranges;
    if (layer >= LAYERS) {
      throw new IllegalStateException("out of keys: record=" + record + ", ranges=" + ranges);
    }
    return order.place(record % ranges) << BITS | Integer.toUnsignedLong(reversed(layer));
  }

  @Override
  public long record(long place) {
    long first = order.record(place >>> BITS);
    return first == Keys.NONE
        ? Keys.NONE
        : Integer.toUnsignedLong(reversed(place)) * ranges + first;
  }

  /** Returns 0, 1/2, 1/4, 3/4, 1/8, ... of 2^32 for 0, 1, 2, 3, 4, ...; it is its own inverse. */
  private static int reversed(long number) {
    return Integer.reverse((int) number);
  }
}
