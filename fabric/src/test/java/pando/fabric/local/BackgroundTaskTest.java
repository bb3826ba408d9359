package pando.fabric.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;

@Timeout(300)
class BackgroundTaskTest {
  private static final long NODE = GlobalAddress.of(0, 32 << 10);
  private static final String NAME = "background";

  private final Fabric fabric =
      LocalFabric.open(
          PoolOptions.defaults()
              .withMemoryServers(1)
              .withBytesPerServer(1 << 20)
              .withChunkBytes(64 << 10));

  @AfterEach
  void closeFabric() {
    fabric.close();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldLoseNoWakeOfManyThreads() throws InterruptedException {
    int wakes = 100_000;
    int threads = 4;
    AtomicInteger work = new AtomicInteger();
    int[] done = new int[1];
    CountDownLatch all = new CountDownLatch(1);
    try (BackgroundTask task =
        fabric.background(
            NAME,
            () -> {
              done[0] += work.getAndSet(0);
              if (done[0] == threads * wakes) {
                all.countDown();
              }
              return false;
            })) {
      List<Thread> wakers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        wakers.add(
            Thread.ofPlatform()
                .start(() -> {
                  for (int wake = 0; wake < wakes; wake++) {
                    work.incrementAndGet();
                    task.wake();
                  }
                }));
      }
      for (Thread waker : wakers) {
        waker.join();
      }
      await(all);
    }
  }

  @Test
  void shouldSeeWhatWasDoneBeforeTheWakeAgainAndAgain() throws InterruptedException {
    int[] plain = new int[1];
    Semaphore done = new Semaphore(0);
    try (BackgroundTask task =
        fabric.background(
            NAME,
            () -> {
              int work = plain[0];
              plain[0] = 0;
              done.release(work);
              return false;
            })) {
      for (int round = 1; round <= 20_000; round++) {
        plain[0] = 1;
        task.wake();
        assertThat(done.tryAcquire(30, TimeUnit.SECONDS)).as("round %d", round).isTrue();
      }
    }
  }

  @Test
  void shouldRestUntilItIsWokenAndGoOnForAsLongAsThereIsWork() {
    AtomicInteger steps = new AtomicInteger();
    CountDownLatch fifth = new CountDownLatch(5);
    fabric.background(NAME, () -> steps.incrementAndGet() > 0).close();
    assertThat(steps).hasValue(0);
    try (RegisteredMemory memory = fabric.register(1024);
        Worker worker = fabric.worker(memory)) {
      BackgroundTask task =
          fabric.background(
              NAME,
              () -> {
                assertThat(Thread.currentThread().getName()).isEqualTo(NAME);
                assertThat(worker.faa(NODE, 1)).isEqualTo(steps.getAndIncrement());
                fifth.countDown();
                return fifth.getCount() > 0;
              });
      task.wake();
      await(fifth);
      task.close();
      assertThat(steps).hasValue(5);
    }
  }

  @Test
  void shouldTakeAStepAfterTheTimeThatTheLastOneAskedFor() {
    AtomicInteger steps = new AtomicInteger();
    CountDownLatch third = new CountDownLatch(3);
    BackgroundTask[] task = new BackgroundTask[1];
    task[0] =
        fabric.background(
            NAME,
            () -> {
              if (steps.incrementAndGet() < 3) {
                task[0].wakeAfter(1_000_000);
              }
              third.countDown();
              return false;
            });
    task[0].wake();
    await(third);
    task[0].close();
    assertThat(steps).hasValue(3);
  }

  @Test
  void shouldLookOnceMoreWhereAStepWakesItsTask() {
    AtomicInteger steps = new AtomicInteger();
    CountDownLatch third = new CountDownLatch(3);
    BackgroundTask[] task = new BackgroundTask[1];
    task[0] =
        fabric.background(
            NAME,
            () -> {
              if (steps.incrementAndGet() < 3) {
                task[0].wake();
              }
              third.countDown();
              return false;
            });
    task[0].wake();
    await(third);
    task[0].close();
    assertThat(steps).hasValue(3);
  }

  @Test
  @SuppressWarnings("ThreadPriorityCheck") // The other may not be running at all.
  void shouldWaitForTheStepThatIsUnderWayAndBeginNoOther() throws InterruptedException {
    AtomicInteger steps = new AtomicInteger();
    AtomicBoolean interrupted = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    BackgroundTask task =
        fabric.background(
            NAME,
            () -> {
              begun.countDown();
              await(goOn);
              return steps.incrementAndGet() > 0;
            });
    task.wake();
    await(begun);
    Thread closing =
        Thread.ofPlatform()
            .start(() -> {
              task.close();
              assertThat(steps).hasValue(1);
              interrupted.set(Thread.currentThread().isInterrupted());
            });
    while (closing.getState() != Thread.State.WAITING) {
      Thread.yield();
    }
    closing.interrupt();
    task.wake();
    goOn.countDown();
    closing.join();
    assertThat(interrupted).isTrue();
    task.close();
    task.wake();
    assertThat(steps).hasValue(1);
  }

  @Test
  void shouldEndTheTaskWhereAStepThrows() {
    AtomicInteger steps = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(1);
    BackgroundTask task =
        fabric.background(
            NAME,
            () -> {
              steps.incrementAndGet();
              begun.countDown();
              throw new ArithmeticException("mine");
            });
    task.wake();
    await(begun);
    task.wake();
    assertThatThrownBy(task::close).isInstanceOf(ArithmeticException.class).hasMessage("mine");
    task.wake();
    assertThatCode(task::close).doesNotThrowAnyException();
    assertThat(steps).hasValue(1);
  }

  @Test
  void shouldRefuseToBeClosedByItsOwnStep() {
    CountDownLatch begun = new CountDownLatch(1);
    BackgroundTask[] task = new BackgroundTask[1];
    task[0] =
        fabric.background(
            NAME,
            () -> {
              begun.countDown();
              task[0].close();
              return false;
            });
    task[0].wake();
    await(begun);
    assertThatThrownBy(() -> task[0].close())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("name=" + NAME);
  }

  @Test
  void shouldEndWithItsFabricWhichWaitsForNoStep() {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goOn = new CountDownLatch(1);
    BackgroundTask resting = fabric.background(NAME, () -> true);
    BackgroundTask waiting =
        fabric.background(
            NAME,
            () -> {
              begun.countDown();
              await(goOn);
              return true;
            });
    RegisteredMemory memory = fabric.register(1024);
    Worker worker = fabric.worker(memory);
    boolean[] read = new boolean[1];
    BackgroundTask reading =
        fabric.background(
            NAME,
            () -> {
              begun.countDown();
              while (true) {
                worker.read(NODE, 0, 1024);
                read[0] = true;
              }
            });
    waiting.wake();
    reading.wake();
    await(begun);
    fabric.close();
    goOn.countDown();
    resting.wake();
    resting.close();
    waiting.close();
    assertThatThrownBy(reading::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> fabric.background(NAME, () -> true).close())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    memory.close();
  }
}
