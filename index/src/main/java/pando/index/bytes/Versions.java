package pando.index.bytes;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Versions of blocks: of those that one process makes, later ones are greater, also than those of
 * the blocks that it took over. No two are equal: the lowest bits differ from process to process,
 * as a rule. Thread-safe.
 */
final class Versions {
  private static final int PROCESS_BITS = 16;

  private final long process;
  private final AtomicLong next = new AtomicLong();

  Versions(RandomGenerator random) {
    this.process = random.nextInt(1 << PROCESS_BITS);
  }

  /** Returns the next one. */
  long next() {
    return next.getAndIncrement() << PROCESS_BITS | process;
  }

  /** Makes later ones greater than that of a block. */
  void exceed(long version) {
    next.accumulateAndGet((version >>> PROCESS_BITS) + 1, Math::max);
  }
}
