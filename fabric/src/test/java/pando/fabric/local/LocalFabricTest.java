package pando.fabric.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.TestHandlers;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.CallHandler;
import pando.fabric.server.CallWaiters;
import pando.fabric.server.PoolOptions;

@SuppressWarnings("NullAway.Init") // Each test opens its own pool.
class LocalFabricTest extends FabricContract {
  /** A handler's function. */
  private static final int REST = 40;

  private LocalPool pool;

  @Override
  protected Fabric open(PoolOptions options) {
    pool = LocalPool.start(options);
    return pool.fabric("local", options.seed());
  }

  @Override
  protected Fabric openAs(ComputeServer computeServer) {
    return pool.attach(computeServer, 1);
  }

  @Override
  protected void stop() {}

  @Test
  void shouldOpenAPoolOfManyGibibytesAtOnce() {
    PoolOptions options = PoolOptions.defaults().withMemoryServers(4).withBytesPerServer(64L << 30);
    try (Fabric fabric = LocalFabric.open(options);
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      long last = GlobalAddress.of(3, fabric.dramBytes(3) - 8);
      assertThat(worker.faa(last, 5)).isZero();
      worker.read(last, 0, 8);
      assertThat(Words.get(worker.memory(), 0)).isEqualTo(5);
    }
  }

  /** Threads that look for CALLs again and again would use a processor where nothing happens. */
  @Test
  @Timeout(100)
  void shouldServeCallsAfterItsProcessorsHaveGoneToRest() {
    PoolOptions options =
        PoolOptions.defaults()
            .withMemoryServers(1)
            .withBytesPerServer(64 << 20)
            .withProcessorThreads(2)
            .withHandlers(TestHandlers.all());
    Set<Thread> before = processors();
    try (Fabric fabric = LocalFabric.open(options);
        RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      Set<Thread> own = processors();
      own.removeAll(before);
      assertThat(own).hasSize(2);
      for (int round = 0; round < 10; round++) {
        await(() -> own.stream().allMatch(LocalFabricTest::rests));
        assertThat(worker.call(0, TestHandlers.INCREMENT, 0, 8)).isEqualTo(8);
      }
    }
  }

  /** A thread that yielded would get no core where others use all. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(100)
  void shouldRestUntilACallIsAnswered(boolean interrupted) {
    Thread caller = Thread.currentThread();
    AtomicBoolean hasRested = new AtomicBoolean();
    BooleanSupplier rests = () -> LockSupport.getBlocker(caller) instanceof CallWaiters;
    CallHandler handler =
        new CallHandler() {
          @Override
          public int function() {
            return REST;
          }

          @Override
          public int handle(
              int server, MemorySegment dram, MemorySegment message, int requestBytes) {
            if (!interrupted) {
              await(rests);
              hasRested.set(true);
            }
            return requestBytes;
          }
        };
    PoolOptions options =
        PoolOptions.defaults()
            .withMemoryServers(1)
            .withBytesPerServer(64 << 20)
            .withHandlers(List.of(handler));
    try (Fabric fabric = LocalFabric.open(options);
        RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      if (interrupted) {
        caller.interrupt();
      }
      assertThat(worker.call(0, REST, 0, 8)).isEqualTo(8);
      assertThat(Thread.interrupted()).isEqualTo(interrupted);
      assertThat(hasRested.get()).isEqualTo(!interrupted);
    }
  }

  private static boolean rests(Thread thread) {
    return thread.getState() == Thread.State.WAITING;
  }

  private static Set<Thread> processors() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("pando-memory-server-0-processor-"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @SuppressWarnings("ThreadPriorityCheck") // Those awaited may not be running at all.
  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      assertThat(Thread.interrupted()).as("the time of the test is over").isFalse();
      Thread.yield();
    }
  }

  @Test
  void shouldKeepThePoolWhenAnAttachedFabricIsClosed() {
    PoolOptions options = PoolOptions.defaults().withBytesPerServer(64 << 20);
    LocalPool own = LocalPool.start(options);
    Fabric owner = own.fabric("local", 1);
    Fabric attached = own.attach(new ComputeServer(0, 1), 1);
    assertThatThrownBy(() -> own.attach(new ComputeServer(0, 1), 1))
        .isInstanceOf(IllegalStateException.class);
    RegisteredMemory memory = attached.register(64);
    Worker worker = attached.worker(memory);
    worker.faa(0, 5);
    attached.close();
    assertThatThrownBy(() -> worker.faa(0, 1)).isInstanceOf(IllegalStateException.class);
    Fabric again = own.attach(new ComputeServer(0, 1), 1);
    RegisteredMemory others = again.register(64);
    Worker other = again.worker(others);
    assertThat(other.faa(0, 1)).isEqualTo(5);
    owner.close();
    assertThatThrownBy(() -> other.faa(0, 1)).isInstanceOf(IllegalStateException.class);
    again.close();
    memory.close();
    others.close();
  }
}
