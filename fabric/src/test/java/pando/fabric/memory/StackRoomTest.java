package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What was checked can be used, in methods that are interpreted and in compiled ones. */
class StackRoomTest {
  private static final long STACK_BYTES = 256 << 10;

  /** Descents, of which the first are interpreted and the last ones compiled. */
  private static final int DESCENTS = 10;

  /** Calls that take less than any room; interpreted ones take a hundred bytes each. */
  private static final int CALLS = 150;

  private static final int REFUSALS_MAX = 20;

  private int checked;
  private int refused;

  static List<StackRoom> rooms() {
    return List.of(StackRoom.RETURNS, StackRoom.WORDS, StackRoom.STRINGS, StackRoom.MAPS);
  }

  @ParameterizedTest
  @MethodSource("rooms")
  void shouldHaveRoomWhereItSaysSo(StackRoom room) throws InterruptedException {
    for (int i = 0; i < DESCENTS; i++) {
      checked = 0;
      refused = 0;
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread thread = new Thread(null, () -> recurse(room), "deep", STACK_BYTES);
      thread.setUncaughtExceptionHandler((_, e) -> failure.set(e));
      thread.start();
      thread.join();
      assertThat(failure.get()).isNull();
      assertThat(checked).isPositive();
      assertThat(refused).isPositive();
    }
  }

  private void recurse(StackRoom room) {
    boolean there = false;
    try {
      room.check();
      there = true;
    } catch (StackOverflowError _) {
      refused++;
    }
    if (there) {
      checked++;
      use(CALLS);
    }
    if (refused < REFUSALS_MAX) {
      recurse(room);
    }
  }

  private static int use(int calls) {
    return calls == 0 ? 0 : use(calls - 1) + 1;
  }
}
