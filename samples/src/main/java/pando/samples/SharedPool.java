package pando.samples;

import java.util.List;
import java.util.stream.IntStream;
import pando.fabric.Fabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.index.orca.OrcaIndex;
import pando.index.orca.OrcaOptions;

/**
 * An index over shared memory, filled by several threads. The memory server would be a process of
 * its own ({@code pando memory-server}); here one process is both, to be started alone. Linux only.
 */
public final class SharedPool {
  private static final int THREADS = 4;
  private static final long KEYS_PER_THREAD = 10_000;

  private SharedPool() {}

  /** Lets each thread store keys of its own, then counts all of them. */
  public static void main(String[] args) throws InterruptedException {
    String name = "sample-" + ProcessHandle.current().pid();
    PoolOptions pool =
        PoolOptions.defaults().withBytesPerServer(256 << 20).withHandlers(Systems.handlers());
    try (ShmMemoryServer server = ShmMemoryServer.start(name, 0, pool);
        Fabric fabric = ShmFabric.attach(List.of(server.place()), pool.seed());
        RangeIndex index = OrcaIndex.create(fabric, OrcaOptions.defaults())) {
      List<Thread> threads =
          IntStream.range(0, THREADS)
              .mapToObj(number -> Thread.ofPlatform().start(() -> store(index, number)))
              .toList();
      for (Thread thread : threads) {
        thread.join();
      }
      try (Session session = index.session()) {
        long keys = session.scan(0, Long.MAX_VALUE, (key, value) -> true);
        System.out.println(THREADS + " threads stored " + keys + " keys");
      }
    }
  }

  private static void store(RangeIndex index, int number) {
    try (Session session = index.session()) {
      for (long key = number; key < THREADS * KEYS_PER_THREAD; key += THREADS) {
        session.put(key, -key);
      }
    }
  }
}
