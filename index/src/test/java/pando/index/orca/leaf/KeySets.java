package pando.index.orca.leaf;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Sets of sorted keys of different distributions. */
enum KeySets {
  UNIFORM {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      return LongStream.generate(random::nextLong).limit(count);
    }
  },
  SEQUENTIAL {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      return LongStream.range(-count / 2, count - count / 2);
    }
  },
  /** Runs of 1 to 100 keys close together, anywhere. */
  CLUSTERED {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      return LongStream.generate(random::nextLong)
          .limit(count / 50)
          .flatMap(start ->
              random.longs(random.nextInt(1, 101), 0, 1000).map(distance -> start + distance));
    }
  },
  LOGNORMAL {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      return LongStream.generate(() -> (long) (Math.exp(2 * random.nextGaussian()) * 1e9))
          .limit(count);
    }
  },
  /** Hosts in networks of 256, which lie in few networks of 65,536. */
  IPV4 {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      long[] wide = random.longs(200, 0, 1 << 16).toArray();
      return LongStream.generate(() -> wide[random.nextInt(200)] << 16 | random.nextInt(256) << 8)
          .limit(count / 40)
          .flatMap(
              network -> random.longs(random.nextInt(1, 80), 0, 256).map(host -> network | host));
    }
  },
  /**
   * Runs of 30 adjacent keys, so far from each other that heads of 2 bytes do not tell them apart.
   */
  SAME_Q {
    @Override
    LongStream draw(SplittableRandom random, int count) {
      return LongStream.range(0, count).map(i -> ((i / 30) << 50) + i % 30);
    }
  };

  abstract LongStream draw(SplittableRandom random, int count);

  /** Returns about so many keys, ascending, each once. */
  long[] keys(SplittableRandom random, int count) {
    long[] keys = draw(random, count).toArray();
    Arrays.sort(keys);
    return Arrays.stream(keys).distinct().toArray();
  }
}
