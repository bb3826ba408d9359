package pando.fabric.base;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** How long a round trip of a fabric takes, measured once. Thread-safe. */
final class TripTime {
  private static final int READS = 64;

  private volatile long nanos;

  /** Returns the median of some READs of 8 bytes, in nanoseconds, at least 1. */
  long nanos(Fabric fabric) {
    long known = nanos;
    if (known == 0) {
      known = measure(fabric);
      nanos = known;
    }
    return known;
  }

  private static long measure(Fabric fabric) {
    long[] times = new long[READS];
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      for (int i = 0; i < READS; i++) {
        long start = System.nanoTime();
        worker.read(GlobalAddress.of(i % fabric.memoryServers(), 0), 0, Long.BYTES);
        times[i] = System.nanoTime() - start;
      }
    }
    Arrays.sort(times);
    return Math.max(1, times[READS / 2]);
  }
}
