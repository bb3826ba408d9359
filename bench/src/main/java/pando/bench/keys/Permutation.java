package pando.bench.keys;

import pando.bench.records.Keys;
import pando.bench.records.Mix;

/** A random permutation of the numbers below a size: places in random order. */
final class Permutation implements Order {
  /*
   * Rounds as those of Mix, on as many bits as the size needs: a product with an odd number is a
   * bijection, and so is a word with its upper half folded into the lower one, which undoes itself.
   * Where the size is no power of two, a number that comes out too great is scattered again until
   * one does not, which takes less than two turns on the average.
   */
  private static final int ROUNDS = 3;
  private static final long FACTOR = 0xbf58476d1ce4e5b9L;
  private static final long INVERSE = inverse(FACTOR);

  private final long size;
  private final long mask;
  private final int fold;
  private final long offset;

  /**
   * Chooses a permutation.
   *
   * @param size at least 1
   * @param seed chooses among those of a size
   */
  Permutation(long size, long seed) {
    this.size = size;
    int bits = Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(size - 1));
    mask = -1L >>> (Long.SIZE - bits);
    fold = (bits + 1) / 2;
    offset = Mix.mix(seed);
  }

  /** Returns the number whose product with an odd one is 1; each step doubles the right bits. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int bits = 3; bits < Long.SIZE; bits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  @Override
  public long place(long record) {
    if (record < 0 || record >= size) {
      throw new IllegalStateException("out of keys: record=" + record + ", records=" + size);
    }
    long place = record;
    do {
      place = scatter(place);
    } while (place >= size);
    return place;
  }

  @Override
  public long record(long place) {
    if (place < 0 || place >= size) {
      return Keys.NONE;
    }
    long record = place;
    do {
      record = gather(record);
    } while (record >= size);
    return record;
  }

  private long scatter(long number) {
    long word = number;
    for (int i = 0; i < ROUNDS; i++) {
      word = ((word + offset) * FACTOR) & mask;
      word ^= word >>> fold;
    }
    return word;
  }

  private long gather(long number) {
    long word = number;
    for (int i = 0; i < ROUNDS; i++) {
      word ^= word >>> fold;
      word = (word * INVERSE - offset) & mask;
    }
    return word;
  }
}
