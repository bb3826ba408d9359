package pando.index.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.host.AnsweredCalls.Caller;

/** What workers were answered last, and which of that is remembered. */
class AnsweredCallsTest {
  private static final int SERVER = 2;
  private static final long NAME = 16;
  private static final int SHORT = 16;

  private final AnsweredCalls calls = new AnsweredCalls();
  private final MemorySegment message =
      MemorySegment.ofArray(new long[Worker.CALL_BYTES_MAX / Long.BYTES]);

  private Caller caller(long process, int computeServer, int session, long number) {
    AnsweredCalls.setName(
        message, NAME, process, AnsweredCalls.worker(computeServer, session), number);
    return calls.caller(SERVER, message, NAME);
  }

  private int answer(Caller caller, long answer, int bytes) {
    Words.set(message, 0, answer);
    return caller.keep(message, bytes);
  }

  @Test
  void shouldRepeatTheLastAnswerAlone() {
    Caller caller = caller(1, 1, 7, 10);
    assertThat(caller.isNext(message, NAME)).isTrue();
    answer(caller, 111, SHORT);
    assertThat(caller(1, 1, 7, 10).isNext(message, NAME)).isFalse();
    assertThat(caller.repeat(message, NAME)).isEqualTo(SHORT);
    assertThat(Words.get(message, 0)).isEqualTo(111);
    assertThat(caller(1, 1, 7, 9).isNext(message, NAME)).isFalse();
    assertThat(caller.repeat(message, NAME)).isZero();
  }

  @Test
  void shouldRepeatNoAnswerBeforeThereIsOne() {
    Caller caller = caller(1, 1, 7, 10);
    assertThat(caller.isNext(message, NAME)).isTrue();
    answer(caller, 111, Worker.CALL_BYTES_MAX);
    assertThat(caller(1, 1, 7, 11).isNext(message, NAME)).isTrue();
    assertThat(caller.repeat(message, NAME)).isZero();
    answer(caller, 222, SHORT);
    Words.set(message, 0, 0);
    assertThat(caller(1, 1, 7, 11).repeat(message, NAME)).isEqualTo(SHORT);
    assertThat(Words.get(message, 0)).isEqualTo(222);
  }

  @Test
  void shouldForgetTheEarlierProcessOfAComputeServer() {
    Caller earlier = caller(1, 1, 7, 10);
    Caller sibling = caller(1, 1, 8, 10);
    Caller elsewhere = caller(1, 2, 7, 10);
    assertThat(caller(1, 1, 7, 11)).isSameAs(earlier);
    assertThat(caller(1, 1, 8, 11)).isSameAs(sibling);
    assertThat(caller(2, 1, 7, 1)).isNotSameAs(earlier);
    assertThat(caller(2, 1, 7, 2).isNext(message, NAME)).isTrue();
    assertThat(caller(1, 2, 7, 11)).isSameAs(elsewhere);
    assertThat(caller(1, 1, 8, 12)).isNotSameAs(sibling);
  }
}
