package pando.fabric.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.TestHandlers;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.pool.NodeAllocator;

/** Memory servers that are processes of their own, and die. */
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class ShmProcessTest {
  private static final long POOL_BYTES = 8 << 20;

  /** The promise is one second; the rest is for a machine that is busy. */
  private static final long LOST_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  @TempDir private Path parent;

  @BeforeEach
  void chooseDirectory() {
    System.setProperty(Registry.DIRECTORY_PROPERTY, parent.resolve("registry").toString());
  }

  @AfterEach
  void forgetDirectory() {
    System.clearProperty(Registry.DIRECTORY_PROPERTY);
  }

  @Test
  void shouldReachAnotherProcess() throws Exception {
    try (ShmServerProcess zero = ShmServerProcess.start("m0", 0, POOL_BYTES);
        ShmServerProcess one = ShmServerProcess.start("m1", 1, POOL_BYTES);
        Fabric fabric = ShmFabric.attach(List.of("m0", "m1"), 1);
        RegisteredMemory memory = fabric.register(64 << 10);
        Worker worker = fabric.worker(memory)) {
      assertThat(zero).isNotSameAs(one);
      long address = GlobalAddress.of(1, 64);
      Words.set(memory.segment(), 0, 100);
      worker.write(address, 0, 8);
      for (int i = 0; i < 100; i++) {
        assertThat(worker.faa(address, 1)).isEqualTo(100 + 2 * i);
        Words.set(memory.segment(), 0, 1);
        Words.set(memory.segment(), 8, 64);
        assertThat(worker.call(1, TestHandlers.ADD, 0, 16)).isEqualTo(16);
        assertThat(Words.get(memory.segment(), 0)).isEqualTo(101 + 2 * i);
        assertThat(Words.get(memory.segment(), 8)).isEqualTo(1);
      }
      NodeAllocator allocator = new NodeAllocator(2, 1024);
      long node = allocator.allocate(worker, 0, 1);
      assertThat(GlobalAddress.server(node)).isEqualTo(1);
      assertThat(fabric.usage().get(1).reservedBytes()).as("a part of a chunk").isEqualTo(4096);
      allocator.free(worker, 0, node);
      allocator.trim(worker, 0);
      assertThat(fabric.usage().get(1).reservedBytes()).isZero();
    }
  }

  @Test
  void shouldReportAKilledMemoryServerToOneSidedVerbs() throws Exception {
    // Large enough that the kernel takes a while to unmap it.
    try (ShmServerProcess server = ShmServerProcess.start("m0", 0, 1L << 30);
        Fabric fabric = ShmFabric.attach(List.of("m0"), 1);
        RegisteredMemory memory = fabric.register(64 << 10);
        Worker worker = fabric.worker(memory)) {
      long address = GlobalAddress.of(0, 64);
      assertThat(worker.faa(address, 1)).isZero();
      server.kill();
      long start = System.nanoTime();
      assertThatThrownBy(() -> readUntil(worker, address, start + LOST_NANOS_MAX))
          .isInstanceOf(MemoryServerLostException.class)
          .hasMessageContaining("name=m0");
      System.out.println("lost after ms=" + (System.nanoTime() - start) / 1_000_000);
      List<Runnable> verbs =
          List.of(
              () -> worker.read(address, 0, 1024),
              () -> worker.write(address, 0, 1024),
              () -> worker.cas(address, 0, 0),
              () -> worker.maskedCas16(address, 0),
              () -> worker.call(0, TestHandlers.INCREMENT, 0, 8));
      for (Runnable verb : verbs) {
        assertThatThrownBy(verb::run).isInstanceOf(MemoryServerLostException.class);
      }
    }
  }

  @Test
  void shouldReportAKilledMemoryServerToACallThatWaits() throws Exception {
    try (ExecutorService thread = Executors.newSingleThreadExecutor();
        ShmServerProcess server = ShmServerProcess.start("m0", 0, POOL_BYTES);
        Fabric fabric = ShmFabric.attach(List.of("m0"), 1);
        RegisteredMemory memory = fabric.register(64 << 10);
        Worker worker = fabric.worker(memory)) {
      Future<Integer> call = thread.submit(() -> worker.call(0, TestHandlers.HANG, 0, 8));
      server.awaitLine(TestHandlers.ENTERED);
      server.kill();
      assertThatThrownBy(() -> call.get(LOST_NANOS_MAX, TimeUnit.NANOSECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(MemoryServerLostException.class);
    }
  }

  @Tag("campaign")
  @Test
  void shouldReportAMemoryServerThatWasStartedAgain() throws Exception {
    ShmServerProcess first = ShmServerProcess.start("m0", 0, POOL_BYTES);
    try (Fabric fabric = ShmFabric.attach(List.of("m0"), 1);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      first.kill();
      first.close();
      try (ShmServerProcess second = ShmServerProcess.start("m0", 0, POOL_BYTES);
          Fabric again = ShmFabric.attach(List.of("m0"), 1)) {
        assertThat(second).isNotSameAs(first);
        assertThat(again.usage()).hasSize(1);
        long deadline = System.nanoTime() + LOST_NANOS_MAX;
        assertThatThrownBy(() -> readUntil(worker, GlobalAddress.of(0, 0), deadline))
            .isInstanceOf(MemoryServerLostException.class);
      }
    }
  }

  @Test
  void shouldReportAnOrderlyEndToo() throws Exception {
    ShmServerProcess server = ShmServerProcess.start("m0", 0, POOL_BYTES);
    try (Fabric fabric = ShmFabric.attach(List.of("m0"), 1);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      server.close();
      long deadline = System.nanoTime() + LOST_NANOS_MAX;
      assertThatThrownBy(() -> readUntil(worker, GlobalAddress.of(0, 0), deadline))
          .isInstanceOf(MemoryServerLostException.class);
    }
  }

  private static void readUntil(Worker worker, long address, long deadline) {
    while (System.nanoTime() - deadline < 0) {
      worker.read(address, 0, 8);
    }
  }
}
