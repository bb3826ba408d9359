package pando.index.dex;

import java.util.random.RandomGenerator;

/**
 * Decides whether the rest of an operation is offloaded to the memory server (DEX section 6.1):
 * compares moving averages of the latencies of READs and CALLs. Sometimes takes the slower choice,
 * so that both averages stay current. Belongs to one worker.
 */
final class OffloadPolicy {
  /** One READ in so many is timed, as reading the clock is not free. */
  private static final int READS_PER_SAMPLE = 8;

  private final boolean enabled;
  private final double contrary;
  private final double searchNanos;
  private final double pathCost;
  private final RandomGenerator random;
  private final MovingAverage read;
  private final MovingAverage call;
  private int reads;

  OffloadPolicy(DexOptions options, RandomGenerator random) {
    this.enabled = options.offloading();
    this.contrary = options.contrary();
    this.searchNanos = options.searchNanos();
    this.pathCost = options.pathCost();
    this.random = random;
    this.read = new MovingAverage(options.offloadWindow());
    this.call = new MovingAverage(options.offloadWindow());
  }

  boolean enabled() {
    return enabled;
  }

  /**
   * Returns whether to offload.
   *
   * @param missing number of levels from the missed node down to the leaf, both counted
   */
  boolean prefersCall(int missing) {
    boolean cheaper =
        !call.isEmpty() && call.mean() < missing * (read.mean() + searchNanos) * pathCost;
    return (random.nextDouble() < contrary) != cheaper;
  }

  /** Returns whether the next READ is to be timed. */
  boolean samplesRead() {
    return enabled && ++reads % READS_PER_SAMPLE == 0;
  }

  void readTook(long nanos) {
    read.add(nanos);
  }

  void callTook(long nanos) {
    call.add(nanos);
  }

  /** The mean of the last few samples. */
  private static final class MovingAverage {
    private final long[] samples;
    private int size;
    private int next;
    private long sum;

    MovingAverage(int window) {
      samples = new long[window];
    }

    void add(long sample) {
      sum += sample - samples[next];
      samples[next] = sample;
      next = next + 1 == samples.length ? 0 : next + 1;
      size = Math.min(size + 1, samples.length);
    }

    boolean isEmpty() {
      return size == 0;
    }

    double mean() {
      return size == 0 ? 0 : (double) sum / size;
    }
  }
}
