package pando.sim.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class ClientTest {
  private static final long TIME_MAX = 1_000_000_000_000L;
  private static final long EVENTS_MAX = 100_000;

  private final Simulation simulation = new Simulation(1);
  private final List<String> ended = new ArrayList<>();

  private void spawn(String name, Consumer<Client> body) {
    simulation.spawn(
        name,
        new Resource(),
        () -> {},
        () -> {
          try {
            body.accept(Objects.requireNonNull(simulation.running()));
          } finally {
            ended.add(name);
          }
        });
  }

  private void run() {
    simulation.run(TIME_MAX, EVENTS_MAX);
  }

  private static void holding(ReentrantLock lock, Runnable body) {
    lock.lock();
    try {
      body.run();
    } finally {
      lock.unlock();
    }
  }

  @Test
  void shouldWaitForLocksOfTheJdk() {
    ReentrantLock lock = new ReentrantLock(true);
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      long charged = i;
      spawn(
          "client-" + i,
          client -> {
            client.charge(charged);
            holding(
                lock,
                () -> {
                  client.waitUntil(simulation.now() + 100);
                  times.add(client.now());
                });
          });
    }
    run();
    assertThat(times).containsExactly(100L, 200L, 300L);
  }

  @Test
  void shouldKeepItsClockWhileItWaitsForALock() {
    ReentrantLock lock = new ReentrantLock();
    spawn(
        "holder",
        client -> {
          holding(lock, () -> client.waitUntil(1_000));
        });
    spawn(
        "waiter",
        client -> {
          client.waitUntil(1);
          client.charge(300);
          holding(
              lock,
              () -> {
                assertThat(client.now()).isEqualTo(1_000);
                client.charge(5);
                assertThat(client.now()).isEqualTo(1_005);
              });
        });
    run();
  }

  @Test
  void shouldEndTheRunWhereAThreadFromOutsideWakesAClient() {
    Thread[] sleeper = new Thread[1];
    spawn(
        "sleeper",
        client -> {
          sleeper[0] = Thread.currentThread();
          LockSupport.park();
        });
    spawn(
        "other",
        client -> {
          client.waitUntil(10);
          AtomicBoolean woken = new AtomicBoolean();
          Thread.ofPlatform()
              .name("stranger")
              .start(() -> {
                LockSupport.unpark(sleeper[0]);
                woken.set(true);
              });
          while (!woken.get()) {
            Thread.onSpinWait();
          }
          client.waitUntil(20);
        });
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("outside the simulation: client=sleeper, thread=stranger");
    assertThat(ended).containsExactlyInAnyOrder("sleeper", "other");
  }

  @Test
  void shouldEndTheRunWhereAClientDoesNotHandItselfBack() {
    spawn("other", client -> client.waitUntil(10));
    spawn("dozer", client -> LockSupport.parkNanos(Long.MAX_VALUE));
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("did not hand itself back: dozer")
        .withMessageContaining("ClientTest");
    assertThat(ended).contains("dozer");
  }

  @Test
  void shouldCheckThatAClientWokenByALockHandsItselfBack() {
    ReentrantLock lock = new ReentrantLock();
    spawn(
        "holder",
        client -> {
          holding(lock, () -> client.waitUntil(10));
          client.waitUntil(20);
        });
    spawn(
        "dozer",
        client -> {
          client.waitUntil(5);
          lock.lock();
          LockSupport.parkNanos(Long.MAX_VALUE);
        });
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("did not hand itself back: dozer");
  }

  @Test
  void shouldEndTheRunWhereAMonitorIsHeldAcrossAWait() {
    Object monitor = new Object();
    spawn(
        "holder",
        client -> {
          synchronized (monitor) {
            client.waitUntil(10);
          }
        });
    spawn(
        "waiter",
        client -> {
          client.waitUntil(5);
          synchronized (monitor) {
            client.waitUntil(20);
          }
        });
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("a client waits for a monitor")
        .withMessageContaining("waiter");
    assertThat(ended).containsExactlyInAnyOrder("holder", "waiter");
  }

  /** As clients of another simulation hold monitors of the JDK. */
  @Test
  void shouldWaitForAMonitorThatAnotherThreadHolds() throws InterruptedException {
    Object monitor = new Object();
    CountDownLatch held = new CountDownLatch(1);
    AtomicReference<Thread> waiter = new AtomicReference<>(Thread.currentThread());
    Thread other =
        new Thread(() -> {
          synchronized (monitor) {
            held.countDown();
            while (Objects.requireNonNull(waiter.get()).getState() != Thread.State.BLOCKED) {
              Thread.onSpinWait();
            }
          }
        });
    spawn(
        "waiter",
        client -> {
          client.waitUntil(5);
          waiter.set(Thread.currentThread());
          synchronized (monitor) {
            client.waitUntil(20);
          }
        });
    other.start();
    held.await();
    run();
    other.join();
    assertThat(ended).containsExactly("waiter");
    assertThat(simulation.now()).isEqualTo(20);
  }

  @Test
  void shouldFailWithTheFirstReasonAndEndTheOthers() {
    ReentrantLock lock = new ReentrantLock();
    spawn("waiter", client -> lock.lock());
    spawn(
        "holder",
        client -> {
          lock.lock();
          try {
            client.waitUntil(100);
          } finally {
            lock.unlock();
            assertThat(simulation.now()).as("the second reason").isEqualTo(100);
          }
        });
    spawn(
        "failing",
        client -> {
          client.waitUntil(10);
          throw new ArithmeticException("the first reason");
        });
    assertThatExceptionOfType(ArithmeticException.class)
        .isThrownBy(this::run)
        .withMessage("the first reason")
        .satisfies(e ->
            assertThat(e.getSuppressed()).singleElement().asString().contains("the second reason"));
    assertThat(ended).containsExactlyInAnyOrder("waiter", "holder", "failing");
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(this::run)
        .withMessageContaining("does not go on");
  }
}
