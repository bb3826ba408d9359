package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import pando.fabric.Worker;

/** When the task goes on after failures. */
class WriteBackTest {
  private static final long INTERVAL = 1_000;
  private static final long HALF = INTERVAL / 2;

  private final List<Long> delays = new ArrayList<>();
  private long now;
  private int wakes;

  /** What fails. */
  private boolean unopened;

  private boolean unbegun;
  private boolean unwritten;

  private int steps;
  private final WriteBack writeBack =
      new WriteBack(true, INTERVAL, () -> wakes++, delays::add, this::open);

  private Worker worker() {
    return (Worker)
        Proxy.newProxyInstance(
            Worker.class.getClassLoader(), new Class<?>[] {Worker.class}, (_, _, _) -> now);
  }

  private Sweep open() {
    fail(unopened);
    return new Steps(worker());
  }

  private static void fail(boolean fails) {
    if (fails) {
      throw new OutOfMemoryError("of a test");
    }
  }

  /** A walk of two steps. */
  private final class Steps extends Sweep {
    private int left;

    Steps(Worker worker) {
      super(writeBack, worker, new Gate().pass(worker));
    }

    @Override
    protected void rewind() {
      fail(unbegun);
      left = 2;
    }

    @Override
    protected boolean write() {
      left--;
      steps++;
      fail(unwritten);
      return left > 0;
    }
  }

  private void assertFails() {
    wakes = 0;
    delays.clear();
    assertThatThrownBy(writeBack::step).isInstanceOf(OutOfMemoryError.class);
  }

  private void assertWrites() {
    unopened = false;
    unbegun = false;
    unwritten = false;
    steps = 0;
    for (int i = 0; steps < 2 && i < 4; i++) {
      now += HALF;
      if (writeBack.step()) {
        boolean _ = writeBack.step();
      }
    }
    assertThat(steps).isEqualTo(2);
    assertThat(writeBack.step()).isFalse();
    assertThat(writeBack.unwritten(1).nanosMax()).isZero();
  }

  @Test
  void shouldTryAgainWhereItCannotOpenWhatItSweepsBy() {
    writeBack.note();
    assertThat(wakes).isOne();
    unopened = true;
    assertFails();
    assertThat(delays).containsExactly(HALF);
    assertWrites();
  }

  /** Else it would try again at once, and for good. */
  @Test
  void shouldRestWhereASweepCannotBegin() {
    writeBack.note();
    assertThat(writeBack.step()).isFalse();
    now += HALF;
    unbegun = true;
    assertFails();
    assertThat(wakes).isZero();
    assertThat(delays).containsExactly(HALF);
    assertThat(writeBack.unwritten(1).nanosMax()).isEqualTo(HALF);
    assertThat(writeBack.step()).as("before that time").isFalse();
    assertWrites();
  }

  @Test
  void shouldGoOnBehindWhatFails() {
    writeBack.note();
    assertThat(writeBack.step()).isFalse();
    now += HALF;
    unwritten = true;
    assertFails();
    assertThat(wakes).isOne();
    unwritten = false;
    assertThat(writeBack.step()).isFalse();
    assertThat(steps).isEqualTo(2);
    assertThat(delays).containsExactly(HALF);
    assertWrites();
  }
}
