package pando.index.bytes;

import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Versions of blocks. Each is greater than those that this process gave or took over before. The
 * lowest bits are drawn once for a process, so two processes give the same version only by chance.
 * Thread-safe.
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

  /** Makes all later versions greater than that of a block. */
  void exceed(long version) {
    next.accumulateAndGet((version >>> PROCESS_BITS) + 1, Math::max);
  }
}
