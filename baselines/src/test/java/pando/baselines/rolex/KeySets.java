package pando.baselines.rolex;

import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/** Ascending distinct keys of many distributions. */
enum KeySets {
  UNIFORM {
    @Override
    LongSupplier from(SplittableRandom random) {
      return random::nextLong;
    }
  },
  LOGNORMAL {
    @Override
    LongSupplier from(SplittableRandom random) {
      return () -> (long) (Math.exp(2 * random.nextGaussian()) * 1e9);
    }
  },
  NORMAL {
    @Override
    LongSupplier from(SplittableRandom random) {
      return () -> (long) (random.nextGaussian() * 1e15);
    }
  },
  CLUSTERED {
    @Override
    LongSupplier from(SplittableRandom random) {
      long[] centres = random.longs(20).toArray();
      return () -> centres[random.nextInt(centres.length)] + random.nextInt(1 << 20);
    }
  },
  CONSECUTIVE {
    @Override
    LongSupplier from(SplittableRandom random) {
      return ascending(random.nextInt(), i -> 1);
    }
  },
  EXPONENTIAL {
    @Override
    LongSupplier from(SplittableRandom random) {
      return ascending(0, i -> 1 + (long) Math.scalb(random.nextDouble(), (int) (i % 50)));
    }
  },
  GROWING {
    @Override
    LongSupplier from(SplittableRandom random) {
      double base = 1 + Math.scalb(1.0, -random.nextInt(1, 9));
      return ascending(-7, i -> 1 + (long) Math.min(1e13, Math.pow(base, (double) i)));
    }
  },
  ALTERNATING {
    @Override
    LongSupplier from(SplittableRandom random) {
      int run = random.nextInt(1, 100);
      return ascending(5, i -> i / run % 2 == 0 ? 1 : 1000);
    }
  },
  LOW_END {
    @Override
    LongSupplier from(SplittableRandom random) {
      return () -> Long.MIN_VALUE + random.nextInt(1 << 24);
    }
  },
  HIGH_END {
    @Override
    LongSupplier from(SplittableRandom random) {
      return () -> Long.MAX_VALUE - random.nextInt(1 << 24);
    }
  },
  BOTH_ENDS {
    @Override
    LongSupplier from(SplittableRandom random) {
      return () ->
          random.nextBoolean()
              ? Long.MIN_VALUE + random.nextInt(1 << 20)
              : Long.MAX_VALUE - random.nextInt(1 << 20);
    }
  },
  PAIRS {
    @Override
    LongSupplier from(SplittableRandom random) {
      return ascending(Long.MIN_VALUE, i -> i % 2 == 0 ? 1 : 1 + random.nextLong(1L << 48));
    }
  };

  /** A gap before a key, by the key's number. */
  private interface Gaps {
    long before(long i);
  }

  /** Returns where keys come from, in any order and perhaps more than once. */
  abstract LongSupplier from(SplittableRandom random);

  /** Returns at most so many keys, few less. */
  long[] keys(int count, SplittableRandom random) {
    return LongStream.generate(from(random)).limit(count).sorted().distinct().toArray();
  }

  private static LongSupplier ascending(long first, Gaps gaps) {
    long[] state = {first, 0};
    return () -> {
      state[0] += gaps.before(state[1]++);
      return state[0];
    };
  }
}
