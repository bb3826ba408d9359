package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
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

  static Worker waiter() {
    return waiter(() -> {});
  }

  /** Returns a worker that lets a second pass with each pause, in which something may happen. */
  private static Worker waiter(Runnable meanwhile) {
    long[] nanos = new long[1];
    Backoff backoff =
        attempt -> {
          nanos[0] += PAUSE_NANOS;
          meanwhile.run();
        };
    return (Worker)
        Proxy.newProxyInstance(
            Worker.class.getClassLoader(),
            new Class<?>[] {Worker.class},
            (proxy, method, arguments) ->
                method.getName().equals("nanoTime") ? (Object) nanos[0] : backoff);
  }
}
