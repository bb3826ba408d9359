package pando.baselines.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Pools;
import pando.index.Threads;

@Timeout(300)
class LocalLocksTest {
  private static final int LOCK = 3;
  private static final long LONG_WAIT = 60_000_000_000L;
  private static final long NO_WAIT = 1;
  private static final int ROUNDS = 2_000;

  private final LocalLocks locks = new LocalLocks(8);
  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
  private final Worker worker = fabric.worker(memory);

  @AfterEach
  void close() {
    worker.close();
    memory.close();
    fabric.close();
  }

  /** Starts a thread that takes the lock, and waits until it stands in the queue. */
  private Thread waiter(Runnable whenTaken) {
    AtomicBoolean ready = new AtomicBoolean();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try (RegisteredMemory own = fabric.register(Worker.CALL_BYTES_MAX);
                  Worker waiting = fabric.worker(own)) {
                ready.set(true);
                assertThat(locks.lock(LOCK, waiting, LONG_WAIT)).isTrue();
                whenTaken.run();
              }
            });
    while (!ready.get() || !locks.mayHandOver(LOCK, 1)) {
      Thread.onSpinWait();
    }
    return thread;
  }

  @Test
  void shouldBeTakenByOneAtATime() {
    long free = locks.state(LOCK);
    assertThat(free).isNotNegative();
    assertThat(locks.tryLock(LOCK)).isTrue();
    assertThat(locks.state(LOCK)).isNegative();
    assertThat(locks.tryLock(LOCK)).isFalse();
    assertThat(locks.tryLock(LOCK + 1)).isTrue();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isFalse();
    locks.release(LOCK);
    assertThat(locks.state(LOCK)).isNotNegative().isNotEqualTo(free);
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    locks.release(LOCK);
  }

  @Test
  void shouldHandTheGlobalLockOver() throws Exception {
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    assertThat(locks.isHanded(LOCK)).isFalse();
    assertThat(locks.mayHandOver(LOCK, 4)).as("nobody waits").isFalse();
    AtomicBoolean handed = new AtomicBoolean();
    Thread other =
        waiter(() -> {
          handed.set(locks.isHanded(LOCK) && locks.word(LOCK) == 77);
          locks.release(LOCK);
        });
    assertThat(locks.mayHandOver(LOCK, 0)).isFalse();
    assertThat(locks.handOver(LOCK, 77)).isTrue();
    other.join();
    assertThat(handed).isTrue();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    assertThat(locks.isHanded(LOCK)).isFalse();
  }

  @Test
  void shouldHandOverSoManyTimesInARow() throws Exception {
    AtomicInteger most = new AtomicInteger();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    List<Thread> threads = new ArrayList<>();
    Runnable pass =
        () -> {
          boolean may = locks.mayHandOver(LOCK, 2);
          if (may) {
            most.incrementAndGet();
            locks.handOver(LOCK, 0);
          } else {
            locks.release(LOCK);
          }
        };
    for (int i = 0; i < 4; i++) {
      threads.add(waiter(pass));
    }
    pass.run();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(most.get()).isBetween(2, 3);
  }

  @Test
  void shouldGoOnBehindOneWhoWentAway() throws Exception {
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isFalse();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isFalse();
    Thread other = waiter(() -> locks.release(LOCK));
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isFalse();
    locks.release(LOCK);
    other.join();
    assertThat(locks.tryLock(LOCK)).isTrue();
    locks.release(LOCK);
  }

  @Test
  void shouldKeepTheGlobalLockWhereTheNextOneWentAway() {
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isTrue();
    assertThat(locks.lock(LOCK, worker, NO_WAIT)).isFalse();
    assertThat(locks.mayHandOver(LOCK, 4)).isTrue();
    assertThat(locks.handOver(LOCK, 77)).isFalse();
    assertThat(locks.tryLock(LOCK)).as("still held").isFalse();
    locks.release(LOCK);
    assertThat(locks.tryLock(LOCK)).isTrue();
    assertThat(locks.isHanded(LOCK)).as("the global lock was released").isFalse();
  }

  @Test
  void shouldServeEveryoneUnderThreads() throws Exception {
    int[] counted = new int[2];
    AtomicInteger taken = new AtomicInteger();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      long wait = thread == 3 ? NO_WAIT : LONG_WAIT;
      tasks.add(() -> {
        try (RegisteredMemory own = fabric.register(Worker.CALL_BYTES_MAX);
            Worker waiting = fabric.worker(own)) {
          for (int i = 0; i < ROUNDS; i++) {
            int lock = i % 2;
            if (i % 3 == 0 ? locks.tryLock(lock) : locks.lock(lock, waiting, wait)) {
              counted[lock]++;
              taken.incrementAndGet();
              if (!locks.mayHandOver(lock, 4) || !locks.handOver(lock, i)) {
                locks.release(lock);
              }
            }
          }
        }
        return null;
      });
    }
    Threads.run(tasks);
    assertThat(counted[0] + counted[1]).isEqualTo(taken.get());
    assertThat(locks.tryLock(0)).isTrue();
    assertThat(locks.tryLock(1)).isTrue();
  }

  @Test
  void shouldGiveItsPlaceUpWhereWaitingFails() {
    Worker failing =
        (Worker)
            Proxy.newProxyInstance(
                Worker.class.getClassLoader(),
                new Class<?>[] {Worker.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("backoff")) {
                    throw new StackOverflowError("by a test");
                  }
                  return method.invoke(worker, arguments);
                });
    assertThat(locks.tryLock(LOCK)).isTrue();
    assertThatThrownBy(() -> locks.lock(LOCK, failing, LONG_WAIT))
        .isInstanceOf(StackOverflowError.class);
    locks.release(LOCK);
    assertThat(locks.tryLock(LOCK)).isTrue();
  }
}
