package pando.door.resp;

/**
 * How often something took how long: counts in ranges of nanoseconds, each an eighth of a power of
 * two wide, so that a quantile is at most an eighth too large. One thread writes, without
 * contention; others read recent values.
 */
final class Durations {
  private static final int BITS = 3;
  private static final int PARTS = 1 << BITS;
  private static final int RANGES = PARTS * (Long.SIZE - BITS);

  private final long[] counts = new long[RANGES];

  /** Counts a duration of 0 or more. */
  void count(long nanos) {
    counts[range(nanos)]++;
  }

  /** Adds others to these. */
  void add(Durations others) {
    for (int i = 0; i < RANGES; i++) {
      counts[i] += others.counts[i];
    }
  }

  /** Returns these without earlier ones. */
  Durations since(Durations earlier) {
    Durations since = new Durations();
    for (int i = 0; i < RANGES; i++) {
      since.counts[i] = counts[i] - earlier.counts[i];
    }
    return since;
  }

  /** Returns how long a share of them took at the most, in nanoseconds; -1 if there are none. */
  long quantile(double share) {
    long all = 0;
    for (long count : counts) {
      all += count;
    }
    long wanted = Math.max((long) Math.ceil(share * all), 1);
    for (int i = 0; i < RANGES; i++) {
      wanted -= counts[i];
      if (wanted <= 0) {
        return greatest(i);
      }
    }
    return -1;
  }

  private static int range(long nanos) {
    int shift = Math.max(Long.SIZE - BITS - 1 - Long.numberOfLeadingZeros(nanos), 0);
    return (shift << BITS) + (int) (nanos >>> shift);
  }

  private static long greatest(int range) {
    int shift = Math.max((range >>> BITS) - 1, 0);
    return ((range - ((long) shift << BITS) + 1) << shift) - 1;
  }
}
