package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import pando.fabric.Backoff;
import pando.fabric.StalledException;
import pando.fabric.Worker;

class GateTest {
  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final Gate gate = new Gate();

  @Test
  void shouldBeOpenAgainWhereAnOperationDoesNotEnd() {
    Gate.Pass pass = gate.pass(waiter());
    pass.enter();
    assertThatThrownBy(() -> gate.shut(waiter()))
        .isInstanceOf(StalledException.class)
        .hasMessageContaining("an operation does not end");
    pass.exit();
    pass.enter();
    pass.exit();
    assertThat(gate.shut(waiter())).isTrue();
  }

  @Test
  void shouldLetTheOperationInThatWaited() {
    assertThat(gate.shut(waiter())).isTrue();
    Gate.Pass pass = gate.pass(waiter(gate::open));
    pass.enter();
    pass.exit();
    assertThat(gate.shut(waiter())).isTrue();
  }

  @Test
  void shouldTurnTheOperationAwayThatWaitedForTheEnd() {
    assertThat(gate.shut(waiter())).isTrue();
    Gate.Pass pass = gate.pass(waiter(gate::close));
    assertThatThrownBy(pass::enter)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the index is closed");
    assertThat(gate.isClosed()).isTrue();
    assertThat(gate.shut(waiter())).isFalse();
  }

  @Test
  void shouldWaitNoLongerThanItSaysWhereTheGateStaysShut() {
    assertThat(gate.shut(waiter())).isTrue();
    assertThatThrownBy(() -> gate.shut(waiter())).isInstanceOf(StalledException.class);
    assertThatThrownBy(() -> gate.pass(waiter()).enter()).isInstanceOf(StalledException.class);
  }

  @Test
  void shouldTellWhenThoseInsideHaveEnded() {
    Gate.Pass stays = gate.pass(waiter());
    Gate.Pass leaves = gate.pass(waiter());
    Gate.Pass later = gate.pass(waiter());
    assertThat(gate.gracePeriod().hasEnded()).as("nobody is inside").isTrue();
    stays.enter();
    leaves.enter();
    Gate.GracePeriod period = gate.gracePeriod();
    leaves.exit();
    leaves.enter();
    later.enter();
    assertThat(period.hasEnded()).isFalse();
    stays.exit();
    stays.enter();
    assertThat(period.hasEnded()).as("others are inside").isTrue();
  }

  @Test
  void shouldCountTheOneThatIsAloneAsInside() {
    Gate.Pass pass = gate.pass(waiter());
    pass.alone(() -> {
      pass.enter();
      Gate.GracePeriod period = gate.gracePeriod();
      assertThat(period.hasEnded()).isFalse();
      pass.exit();
      assertThat(period.hasEnded()).isTrue();
    });
  }

  @Test
  void shouldBeQuietWhereThoseInsideRest() {
    boolean[] quiet = new boolean[1];
    Gate.Pass pass =
        gate.pass(
            waiter(() -> {
              quiet[0] = gate.isQuiet();
              gate.endRest();
            }));
    pass.enter();
    assertThat(pass.isRestAsked()).isFalse();
    assertThat(gate.tryShutForRest()).isTrue();
    assertThat(gate.tryShutForRest()).as("again").isFalse();
    assertThat(gate.isQuiet()).isFalse();
    assertThat(gate.pass(waiter()).tryEnter()).isFalse();
    pass.rest();
    assertThat(quiet).as("while it rests").containsExactly(true);
    assertThat(pass.isRestAsked()).isFalse();
    assertThat(gate.isQuiet()).as("it goes on").isFalse();
    assertThatThrownBy(() -> gate.shut(waiter())).isInstanceOf(StalledException.class);
    pass.exit();
    assertThat(gate.isQuiet()).isTrue();
  }

  /** What else shuts the gate waits for those that rest, and lets them go on. */
  @Test
  void shouldGoOnWhereTheGateIsShutForSomethingElse() {
    Gate.Pass pass =
        gate.pass(
            waiter(() -> {
              gate.endRest();
              assertThat(gate.tryShut(waiter(), 0)).isFalse();
            }));
    pass.enter();
    assertThat(gate.tryShutForRest()).isTrue();
    assertThatThrownBy(() -> gate.shut(waiter())).isInstanceOf(StalledException.class);
    pass.rest();
    pass.exit();
    assertThat(gate.shut(waiter())).isTrue();
  }

  @Test
  void shouldLetOneThreadInWhileOthersWait() throws Exception {
    assertThat(gate.shutToOthers(waiter())).isTrue();
    Gate.Pass mine = gate.pass(waiter(() -> fail("waits")));
    mine.enter();
    mine.exit();
    AtomicInteger pauses = new AtomicInteger();
    Gate.Pass others = gate.pass(waiter(() -> openAt(pauses.incrementAndGet())));
    inThread(() -> enterAndExit(others)).join();
    assertThat(pauses).hasValue(3);
    assertThat(gate.shut(waiter())).isTrue();
  }

  private void openAt(int pause) {
    if (pause == 3) {
      gate.open();
    }
  }

  private static void enterAndExit(Gate.Pass pass) {
    pass.enter();
    pass.exit();
  }

  private static Thread inThread(Runnable action) {
    return Thread.ofPlatform().daemon().start(action);
  }

  @Test
  void shouldLetThoseInThatWaitBeforeItIsShutToOthersAgain() throws Exception {
    assertThat(gate.shutToOthers(waiter())).isTrue();
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch shuts = new CountDownLatch(1);
    Gate.Pass others =
        gate.pass(
            waiter(() -> {
              waits.countDown();
              await(shuts);
            }));
    Thread waiting = inThread(() -> enterAndExit(others));
    await(waits);
    gate.open();
    AtomicInteger pauses = new AtomicInteger();
    Worker shutting =
        waiter(() -> {
          pauses.incrementAndGet();
          shuts.countDown();
          join(waiting);
        });
    assertThat(gate.shutToOthers(shutting)).isTrue();
    assertThat(pauses).hasValue(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(100, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldBeOpenAgainWhereAnOperationKeepsAThreadFromBeingAlone() {
    Gate.Pass pass = gate.pass(waiter());
    pass.enter();
    assertThatThrownBy(() -> gate.pass(waiter()).alone(() -> fail("runs")))
        .isInstanceOf(StalledException.class)
        .hasMessage("an operation does not end: waitedNanos=11000000000");
    pass.exit();
    boolean[] alone = new boolean[1];
    pass.alone(() -> {
      alone[0] = true;
      assertThatThrownBy(() -> gate.shut(waiter())).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> pass.alone(() -> {})).isInstanceOf(IllegalStateException.class);
    });
    assertThat(alone[0]).isTrue();
    assertThat(gate.shut(waiter())).isTrue();
    gate.close();
    assertThatThrownBy(() -> pass.alone(() -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the index is closed");
  }

  static Worker waiter() {
    return waiter(() -> {});
  }

  /** Returns a worker that lets a second pass with each pause, in which something may happen. */
  private static Worker waiter(Runnable meanwhile) {
    long[] nanos = new long[1];
    Backoff backoff =
        new Backoff() {
          @Override
          public void pause(int attempt) {
            nanos[0] += PAUSE_NANOS;
            meanwhile.run();
          }

          @Override
          public long nanoTime() {
            return nanos[0];
          }
        };
    return (Worker)
        Proxy.newProxyInstance(
            Worker.class.getClassLoader(),
            new Class<?>[] {Worker.class},
            (proxy, method, arguments) ->
                method.getName().equals("nanoTime") ? (Object) nanos[0] : backoff);
  }
}
