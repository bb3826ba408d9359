package pando.fabric;

import java.lang.reflect.Method;

/** What verbs of a fabric allocate, on the heap of all of this process. */
public final class AllocatedBytes {
  private static final int ROUNDS_WARM = 3;

  /** The least of them counts, as what other threads do adds to some. */
  private static final int ROUNDS_MEASURED = 5;

  private static final int VERBS_OF_A_ROUND = 7;

  private AllocatedBytes() {}

  /** Returns bytes for each verb; what other threads of the JVM do counts, too. */
  public static double ofAVerb(Fabric fabric, int rounds) throws ReflectiveOperationException {
    try (RegisteredMemory memory = fabric.register(8 << 10);
        Worker worker = fabric.worker(memory)) {
      VerbList list = new VerbList();
      for (int i = 0; i < ROUNDS_WARM; i++) {
        run(worker, list, rounds);
      }
      long least = Long.MAX_VALUE;
      for (int i = 0; i < ROUNDS_MEASURED; i++) {
        long before = ofAllThreads();
        run(worker, list, rounds);
        least = Math.min(least, ofAllThreads() - before);
      }
      return (double) least / (rounds * VERBS_OF_A_ROUND);
    }
  }

  private static void run(Worker worker, VerbList list, int rounds) {
    long word = GlobalAddress.of(0, 64);
    for (int i = 0; i < rounds; i++) {
      worker.read(GlobalAddress.of(0, 4096), 0, 1024);
      worker.write(GlobalAddress.of(0, 4096), 0, 64);
      long seen = worker.faa(word, 1);
      worker.cas(word, seen + 1, seen);
      list.clear().read(word, 1024, 8).write(GlobalAddress.of(0, 128), 1024, 8).faa(word, 0, 1032);
      worker.post(list);
    }
  }

  /** Asks by reflection, since the module under test does not require those that know it. */
  private static long ofAllThreads() throws ReflectiveOperationException {
    Object threads =
        Class.forName("java.lang.management.ManagementFactory")
            .getMethod("getThreadMXBean")
            .invoke(null);
    Method allocated =
        Class.forName("com.sun.management.ThreadMXBean").getMethod("getTotalThreadAllocatedBytes");
    return (long) allocated.invoke(threads);
  }
}
