package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.TestHandlers;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;

/** Verbs over TCP allocate nothing, neither where they are sent nor where they are served. */
@Timeout(120)
class TcpAllocationTest {
  private static final int ROUNDS = 5_000;
  private static final int VERBS_OF_A_ROUND = 7;

  @Test
  void shouldAllocateNothingForVerbs() throws ReflectiveOperationException {
    PoolOptions pool = PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpMemoryServer server =
            TcpMemoryServer.start(anyPort, 0, pool.withHandlers(TestHandlers.all()));
        Fabric fabric = TcpFabric.attach(List.of(server.address()), 1, TcpOptions.defaults());
        RegisteredMemory memory = fabric.register(8 << 10);
        Worker worker = fabric.worker(memory)) {
      VerbList list = new VerbList();
      for (int i = 0; i < 3; i++) {
        run(worker, list);
      }
      long before = allocatedByAllThreads();
      run(worker, list);
      long bytes = allocatedByAllThreads() - before;
      // What other threads of the JVM do counts, too; one object a verb would be 16 bytes.
      assertThat((double) bytes / (ROUNDS * VERBS_OF_A_ROUND)).isLessThan(4);
    }
  }

  private static void run(Worker worker, VerbList list) {
    long word = GlobalAddress.of(0, 64);
    for (int i = 0; i < ROUNDS; i++) {
      worker.read(GlobalAddress.of(0, 4096), 0, 1024);
      worker.write(GlobalAddress.of(0, 4096), 0, 64);
      long seen = worker.faa(word, 1);
      worker.cas(word, seen + 1, seen);
      list.clear().read(word, 1024, 8).write(GlobalAddress.of(0, 128), 1024, 8).faa(word, 0, 1032);
      worker.post(list);
    }
  }

  /** Asks by reflection, since the module under test does not require those that know it. */
  private static long allocatedByAllThreads() throws ReflectiveOperationException {
    Object threads =
        Class.forName("java.lang.management.ManagementFactory")
            .getMethod("getThreadMXBean")
            .invoke(null);
    Method allocated =
        Class.forName("com.sun.management.ThreadMXBean").getMethod("getTotalThreadAllocatedBytes");
    return (long) allocated.invoke(threads);
  }
}
