package pando.index.bytes;

import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.PoolFullException;

/**
 * Labels that no block of a range has. Threads may take some at any time; one thread at a time
 * calls {@link #restart} or {@link #offer}.
 */
final class FreshLabels {
  /** If so many labels above the greatest one are free, those are taken: new ones ascend then. */
  private static final long MANY = 1L << 32;

  /** Labels in a row, of which the first ones have been taken. */
  private record Run(Gap gap, AtomicLong taken) {
    private static Run of(Gap gap) {
      return new Run(gap, new AtomicLong());
    }

    private long left() {
      return gap.span() - taken.get();
    }
  }

  private volatile Run run = Run.of(Gap.NONE);

  /**
   * Has {@link #take} give labels of a range from now on.
   *
   * @param used ascending, the labels of the range that blocks have, or that are still to be
   *     discarded
   * @param low least label of the range
   * @param high greatest label of the range
   */
  void restart(long[] used, long low, long high) {
    Gap gap = Gap.above(used, low, high);
    run = Run.of(gap.isAtLeast(MANY) ? gap : Gap.largest(used, low, high));
  }

  /**
   * As {@link #restart}, with the labels that a range has got in addition, if few are left and
   * these are more.
   */
  void offer(long[] used, long low, long high) {
    Gap gap = Gap.largest(used, low, high);
    long left = run.left();
    boolean isShort = Long.compareUnsigned(left, MANY) < 0;
    if (isShort && Long.compareUnsigned(gap.span(), left) > 0) {
      run = Run.of(gap);
    }
  }

  /**
   * Returns a label, which is not returned again.
   *
   * @throws PoolFullException if the range has no more
   */
  long take() {
    Run from = run;
    long number = from.taken.getAndIncrement();
    if (Long.compareUnsigned(number, from.gap.span()) >= 0) {
      from.taken.decrementAndGet();
      throw new PoolFullException(
          "the range has no labels for more blocks: give it another bound, which brings some:"
              + " labels="
              + from.gap);
    }
    return from.gap.first + number;
  }

  /** Labels in a row that are not used; there are none if the first is above the last. */
  record Gap(long first, long last) {
    private static final Gap NONE = new Gap(1, 0);
    private static final long ROUND = 1 << 16;

    /** So many labels in a row have a middle. */
    static final long WIDE = 4 * ROUND;

    /** Returns the labels above all that are used. */
    static Gap above(long[] used, long low, long high) {
      if (used.length == 0) {
        return new Gap(Math.max(low, ByteIndex.NO_LABEL + 1), high);
      }
      long greatest = used[used.length - 1];
      return greatest == Long.MAX_VALUE ? NONE : new Gap(greatest + 1, high);
    }

    /** Returns the labels below all that are used. */
    static Gap below(long[] used, long low, long high) {
      long least = Math.max(low, ByteIndex.NO_LABEL + 1);
      return used.length == 0 ? new Gap(least, high) : new Gap(least, used[0] - 1);
    }

    /** Returns the longest row of labels that are not used. */
    static Gap largest(long[] used, long low, long high) {
      Gap largest = below(used, low, high);
      for (int i = 1; i < used.length; i++) {
        largest = largest.or(new Gap(used[i - 1] + 1, used[i] - 1));
      }
      return largest.or(above(used, low, high));
    }

    private Gap or(Gap other) {
      return Long.compareUnsigned(other.span(), span()) > 0 ? other : this;
    }

    /** Returns the number of labels, unsigned. There are less than 2^64. */
    private long span() {
      return first > last ? 0 : last - first + 1;
    }

    boolean isAtLeast(long labels) {
      return Long.compareUnsigned(span(), labels) >= 0;
    }

    /**
     * Returns a label near the middle of {@link #WIDE} or more: a round one. The index of labels
     * cannot be cut right beside a label where it is cut already, and where that is was round, or
     * beside used labels.
     */
    long middle() {
      return first + (span() >>> 1) & -ROUND;
    }

    /**
     * Returns the first of some labels in a row, with about as many free ones below as above.
     *
     * @throws PoolFullException if there are too few
     */
    long place(int labels) {
      if (!isAtLeast(labels)) {
        throw new PoolFullException(
            "the range has too few labels to be cut: give it another bound, which brings some:"
                + " labels=%s, free=%s".formatted(labels, Long.toUnsignedString(span())));
      }
      return first + ((span() - labels) >>> 1);
    }
  }
}
