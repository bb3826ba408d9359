package pando.sim.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.sim.Cluster;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.StuckException;
import pando.sim.fault.Fault;

@Timeout(300)
class SimTaskTest {
  private static final long NANOS_MAX = 10_000_000_000L;
  private static final long EVENTS_MAX = 1_000_000;
  private static final long NODE = GlobalAddress.of(0, 32 << 10);
  private static final String NAME = "background";

  private Cluster cluster = cluster(1);
  private final List<Long> steps = new ArrayList<>();

  private static Cluster cluster(long seed, Fault... faults) {
    return cluster(seed, 0, faults);
  }

  private static Cluster cluster(long seed, double stepNanos, Fault... faults) {
    System.out.println("seed=" + seed);
    Set<Fault> enabled = EnumSet.noneOf(Fault.class);
    enabled.addAll(List.of(faults));
    return new Cluster(
        ClusterOptions.defaults()
            .withServers(2, 1)
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withFaults(enabled)
            .withModel(ClusterModel.defaults().with("step-nanos", stepNanos))
            .withSeed(seed));
  }

  @AfterEach
  void closeCluster() {
    cluster.close();
  }

  private void spawn(int server, Consumer<Worker> body) {
    Worker worker = worker(server);
    cluster.core(server).spawn("client", () -> body.accept(worker));
  }

  private Worker worker(int server) {
    Fabric fabric = cluster.fabric(server);
    return fabric.worker(fabric.register(1024));
  }

  private void run() {
    cluster.run(NANOS_MAX, EVENTS_MAX);
  }

  private BackgroundTask task(BooleanSupplier step) {
    return cluster.fabric(0).background(NAME, step);
  }

  /** Makes a task whose steps are a READ each, so many for each wake. */
  private BackgroundTask reader(int count) {
    Worker worker = worker(0);
    return task(() -> {
      steps.add(cluster.nanos());
      worker.read(NODE, 0, 64);
      return steps.size() % count != 0;
    });
  }

  @Test
  void shouldBeNothingWhileItRests() {
    List<Long> hashes = new ArrayList<>();
    for (int tasks = 0; tasks < 3; tasks++) {
      cluster.close();
      cluster = cluster(1);
      for (int i = 0; i < tasks; i++) {
        task(() -> steps.add(cluster.nanos()));
      }
      run();
      assertThat(cluster.nanos()).isZero();
      spawn(0, worker -> worker.read(NODE, 0, 64));
      run();
      hashes.add(cluster.hash());
      assertThat(cluster.nanos()).isLessThan(2_500);
      assertThat(cluster.stacks()).isEmpty();
    }
    assertThat(steps).isEmpty();
    assertThat(hashes).containsOnly(hashes.getFirst());
  }

  @Test
  void shouldTakeAStepAfterTheVirtualTimeThatTheLastOneAskedFor() {
    BackgroundTask[] task = new BackgroundTask[1];
    task[0] =
        task(() -> {
          steps.add(cluster.nanos());
          task[0].wakeAfter(5_000);
          return false;
        });
    spawn(
        0,
        _ -> {
          task[0].wake();
          cluster.sleepNanos(12_000);
        });
    run();
    assertThat(steps).containsExactly(0L, 5_000L, 10_000L);
    // What is left of the time passes in the next run.
    spawn(0, _ -> cluster.sleepNanos(4_000));
    run();
    assertThat(steps).containsExactly(0L, 5_000L, 10_000L, 15_000L);
  }

  @Test
  void shouldUseItsCoreForEachStep() {
    cluster.close();
    cluster = cluster(7, 5_000);
    BackgroundTask task = reader(3);
    task.wake();
    run();
    assertThat(steps).hasSize(3);
    assertThat(steps.get(1) - steps.get(0)).isBetween(5_000 + 1_700L, 5_000 + 2_500L);
    assertThat(steps.get(2) - steps.get(1)).isBetween(5_000 + 1_700L, 5_000 + 2_500L);
  }

  @Test
  void shouldWorkBesideClientsFromTheWakersTimeOn() {
    BackgroundTask task = reader(10);
    long[] ended = new long[2];
    spawn(
        0,
        worker -> {
          cluster.sleepNanos(1_000);
          cluster.chargeOperation();
          task.wake();
          assertThat(steps).isEmpty();
          worker.read(NODE, 0, 64);
          ended[0] = cluster.nanos();
        });
    spawn(
        0,
        worker -> {
          for (int i = 0; i < 100; i++) {
            worker.read(NODE, 0, 64);
          }
          ended[1] = cluster.nanos();
        });
    run();
    assertThat(steps).hasSize(10).isSorted().startsWith(1_500L);
    assertThat(steps.getLast()).isBetween(1_500 + 9 * 1_700L, 1_500 + 9 * 2_500L);
    assertThat(ended[0]).isBetween(1_500 + 1_700L, 1_500 + 2_500L);
    assertThat(ended[1]).isLessThan(100 * 2_500);
  }

  @Test
  void shouldKeepARunGoingUntilItRests() {
    BackgroundTask task = reader(100);
    spawn(0, worker -> task.wake());
    run();
    assertThat(steps).hasSize(100);
    assertThat(cluster.nanos()).isGreaterThan(100 * 1_700);
  }

  @Test
  void shouldLookOnceMoreWhereItIsWokenWhileItWorks() {
    BackgroundTask task = reader(1);
    spawn(
        0,
        worker -> {
          task.wake();
          task.wake();
          cluster.sleepNanos(500);
          task.wake();
          task.wake();
          cluster.sleepNanos(10_000);
          task.wake();
        });
    run();
    assertThat(steps).hasSize(3).startsWith(0L).endsWith(10_500L);
  }

  @Test
  void shouldWorkInRunsAlone() {
    BackgroundTask task = reader(2);
    for (int round = 1; round <= 3; round++) {
      long start = cluster.nanos();
      task.wake();
      task.wake();
      assertThat(steps).hasSize(2 * round - 2);
      run();
      assertThat(steps).hasSize(2 * round).contains(start);
    }
    run();
    assertThat(steps).hasSize(6);
    task.wake();
    task.close();
    run();
    assertThat(steps).hasSize(6);
  }

  @Test
  void shouldBeWokenByAnyThreadOutsideOfRuns() throws InterruptedException {
    BackgroundTask task = reader(1);
    List<Thread> wakers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      wakers.add(Thread.ofPlatform().start(task::wake));
    }
    for (Thread waker : wakers) {
      waker.join();
    }
    run();
    assertThat(steps).hasSize(1);
  }

  @Test
  void shouldEndTheRunWhereAThreadFromOutsideWakesIt() {
    BackgroundTask task = reader(1);
    spawn(
        0,
        worker -> {
          AtomicBoolean woken = new AtomicBoolean();
          Thread.ofPlatform()
              .name("stranger")
              .start(() -> {
                task.wake();
                woken.set(true);
              });
          while (!woken.get()) {
            Thread.onSpinWait();
          }
          worker.read(NODE, 0, 64);
        });
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("client=" + NAME + ", thread=stranger");
  }

  @Test
  void shouldRunTheSameWayForTheSameSeed() {
    assertThat(hashOf(7)).isEqualTo(hashOf(7)).isNotEqualTo(hashOf(8));
  }

  private long hashOf(long seed) {
    cluster.close();
    cluster = cluster(seed, Fault.DELAY, Fault.PAUSE, Fault.TORN);
    steps.clear();
    BackgroundTask[] tasks = {reader(3), reader(5)};
    tasks[0].wake();
    for (int client = 0; client < 4; client++) {
      BackgroundTask task = tasks[client % 2];
      spawn(
          client % 2,
          worker -> {
            for (int i = 0; i < 100; i++) {
              while (worker.cas(NODE, 0, 1) != 0) {
                worker.backoff().pause(i);
              }
              task.wake();
              worker.cas(NODE, 1, 0);
            }
          });
    }
    run();
    assertThat(steps).hasSizeGreaterThan(100);
    return cluster.hash();
  }

  @Test
  void shouldEndWithItsComputeServer() {
    cluster.close();
    cluster = cluster(5, Fault.CRASH_COMPUTE);
    BackgroundTask task = reader(Integer.MAX_VALUE);
    task.wake();
    run();
    int before = steps.size();
    assertThat(cluster.isCrashed(0)).isTrue();
    assertThat(before).isPositive();
    task.wake();
    spawn(
        1,
        worker -> {
          task.wake();
          worker.read(NODE, 0, 64);
        });
    run();
    assertThat(steps).hasSize(before);
    task.close();
  }

  @Test
  void shouldEndTheRunWhereAStepThrows() {
    BackgroundTask task =
        task(() -> {
          throw new ArithmeticException("mine");
        });
    task.wake();
    assertThatExceptionOfType(ArithmeticException.class).isThrownBy(this::run).withMessage("mine");
    task.wake();
    task.close();
    task.close();
  }

  @Test
  void shouldTellWhereAStepIsStuck() {
    BackgroundTask resting = cluster.fabric(0).background("resting", () -> true);
    BackgroundTask task =
        task(() -> {
          LockSupport.park();
          return false;
        });
    spawn(0, worker -> task.wake());
    assertThatExceptionOfType(StuckException.class)
        .isThrownBy(this::run)
        .withMessageContaining(NAME)
        .withMessageContaining("SimTaskTest")
        .withMessageNotContaining("resting\n");
    task.close();
    resting.close();
  }

  @Test
  void shouldWaitInVirtualTimeForTheStepThatIsUnderWay() {
    BackgroundTask task = reader(Integer.MAX_VALUE);
    spawn(
        0,
        worker -> {
          task.wake();
          cluster.sleepNanos(100);
          task.close();
          assertThat(cluster.nanos()).isBetween(1_700L, 2_500L);
          task.wake();
          task.close();
          cluster.sleepNanos(10_000);
        });
    run();
    assertThat(steps).containsExactly(0L);
    task.wake();
    run();
    assertThat(steps).hasSize(1);
  }

  @Test
  void shouldCloseAtOnceWhileItRests() {
    BackgroundTask task = reader(1);
    spawn(
        0,
        worker -> {
          task.wake();
          task.close();
          assertThat(cluster.nanos()).isZero();
        });
    run();
    assertThat(steps).isEmpty();
  }

  @Test
  void shouldRefuseToBeClosedByItsOwnStep() {
    BackgroundTask[] task = new BackgroundTask[1];
    task[0] =
        task(() -> {
          task[0].close();
          return false;
        });
    task[0].wake();
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("name=" + NAME);
    task[0].close();
  }
}
