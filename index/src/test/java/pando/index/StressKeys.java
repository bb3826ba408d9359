package pando.index;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The keys of a stress run, side by side in the same leaves: steady ones that nobody touches, hot
 * ones that everybody changes, and for each thread some of its own.
 */
final class StressKeys {
  static final int HOT = 24;
  private static final int SPACE = 3_000;
  private static final int STEP = 16;
  private static final long STRIDE = Long.MAX_VALUE / SPACE * 2;

  private final TreeMap<Long, Long> steady = new TreeMap<>();

  StressKeys() {
    for (int i = 0; i < SPACE; i += STEP) {
      steady.put(key(i), steadyValue(key(i)));
    }
  }

  private static long key(int number) {
    return (number - SPACE / 2) * STRIDE;
  }

  private static long steadyValue(long key) {
    return key * 31 + 7;
  }

  NavigableMap<Long, Long> steady() {
    return steady;
  }

  /** Returns a hot key; half of them are neighbours. */
  long hot(int number) {
    int block = number < HOT / 2 ? SPACE / STEP / 2 + number / 4 : number * (SPACE / STEP / HOT);
    return key(block * STEP + STEP - 1 - number % 4);
  }

  /** Returns one of a thread's own keys. */
  long own(int thread, SplittableRandom random) {
    return key(random.nextInt(SPACE / STEP) * STEP + 1 + thread);
  }

  long any(SplittableRandom random) {
    return key(random.nextInt(SPACE)) + random.nextInt(-1, 2);
  }
}
