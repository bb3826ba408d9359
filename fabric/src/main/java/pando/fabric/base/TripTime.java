package pando.fabric.base;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
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

  /** Measures at the first memory server that is not lost. */
  private static long measure(Fabric fabric) {
    try (RegisteredMemory memory = fabric.register(Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      int last = fabric.memoryServers() - 1;
      for (int server = 0; server < last; server++) {
        try {
          return measure(worker, server);
        } catch (MemoryServerLostException _) {
          // The next one says how long a trip takes.
        }
      }
      return measure(worker, last);
    }
  }

  private static long measure(Worker worker, int server) {
    long[] times = new long[READS];
    for (int i = 0; i < READS; i++) {
      long start = System.nanoTime();
      worker.read(GlobalAddress.of(server, 0), 0, Long.BYTES);
      times[i] = System.nanoTime() - start;
    }
    Arrays.sort(times);
    return Math.max(1, times[READS / 2]);
  }
}
