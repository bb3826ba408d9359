package pando.durable.holder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.fabric.ComputeServer;
import pando.fabric.Worker;
import pando.index.Seeds;

/** What a holder takes, and what it refuses. */
class LogServiceTest {
  private static final ComputeServer ONE = new ComputeServer(1, 7);

  private final LogService service = new LogService(1 << 20);
  private final MemorySegment frame = MemorySegment.ofArray(new byte[Worker.CALL_BYTES_MAX]);

  private int send(int kind, ComputeServer log, long place, long head, int other, byte... records) {
    LogFrame.set(frame, kind, log, place, head, other, records.length);
    MemorySegment.copy(MemorySegment.ofArray(records), 0, frame, LogFrame.RECORDS, records.length);
    int bytes = LogFrame.RECORDS + records.length;
    frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, bytes));
    return service.handle(0, frame, frame, bytes);
  }

  /** Returns up to where the holder has all. */
  private long append(ComputeServer log, long place, long head, int bytes) {
    int response = send(LogFrame.APPEND, log, place, head, 3, new byte[bytes]);
    assertThat(response).isEqualTo(LogFrame.APPENDED_BYTES);
    return frame.get(LogFrame.LONG, LogFrame.KEPT);
  }

  private List<LogCopy> list() {
    List<LogCopy> all = new ArrayList<>();
    int response = send(LogFrame.LIST, ONE, 0, 0, 0);
    int count = (int) frame.get(LogFrame.LONG, LogFrame.COUNT);
    assertThat(response).isEqualTo(LogFrame.COPIES + count * LogFrame.COPY_BYTES);
    for (int i = 0; i < count; i++) {
      all.add(LogCopy.read(frame, LogFrame.COPIES + (long) i * LogFrame.COPY_BYTES));
    }
    return all;
  }

  @Test
  void shouldTakeBytesOnceAndInTheirOrder() {
    assertThat(append(ONE, 0, 0, 0)).isZero();
    assertThat(append(ONE, 0, 0, 100)).isEqualTo(100);
    assertThat(append(ONE, 0, 0, 100)).as("sent again").isEqualTo(100);
    assertThatThrownBy(() -> append(ONE, 101, 0, 5)).hasMessageContaining("missing");
    assertThat(append(ONE, 100, 60, 20)).isEqualTo(120);
    assertThatThrownBy(() -> append(ONE, 120, 200, 5)).hasMessageContaining("head");
    assertThat(list()).containsExactly(new LogCopy(ONE, 3, 60, 120, LogCopy.OPEN, 0));
    assertThatThrownBy(() -> send(LogFrame.READ, ONE, 59, 0, 0)).hasMessageContaining("no such");
    assertThat(send(LogFrame.READ, ONE, 60, 0, 0)).isEqualTo(60);
    assertThatThrownBy(() -> append(new ComputeServer(1, 6), 0, 0, 5))
        .as("an earlier start")
        .hasMessageContaining("ended");
  }

  @Test
  void shouldEndALogOnceAndForgetItThen() {
    append(ONE, 0, 0, 100);
    assertThatThrownBy(() -> send(LogFrame.DROP, ONE, 0, 0, 0)).hasMessageContaining("not ended");
    assertThatThrownBy(() -> send(LogFrame.END, ONE, 101, 0, 0)).hasMessageContaining("end");
    send(LogFrame.END, ONE, 50, 0, 0);
    send(LogFrame.END, ONE, 50, 0, 0);
    assertThatThrownBy(() -> send(LogFrame.END, ONE, 40, 0, 0)).hasMessageContaining("end");
    assertThatThrownBy(() -> append(ONE, 50, 0, 5)).hasMessageContaining("ended");
    assertThat(list()).containsExactly(new LogCopy(ONE, 3, 0, 50, 50, 0));
    send(LogFrame.DROP, ONE, 0, 0, 0);
    send(LogFrame.DROP, ONE, 0, 0, 0);
    assertThat(list()).isEmpty();
  }

  @Test
  void shouldSayThatItIsFullAndGoOnWhereTheHeadGoesOn() {
    long kept = 0;
    while (true) {
      long before = kept;
      kept = append(ONE, kept, 0, 4_000 - LogFrame.RECORDS);
      boolean isFull = frame.get(LogFrame.LONG, LogFrame.FULL) == 1;
      assertThat(kept == before).isEqualTo(isFull);
      if (isFull) {
        break;
      }
    }
    assertThat(kept).isGreaterThan(900_000);
    assertThat(append(ONE, kept, kept, 0)).isEqualTo(kept);
    assertThat(append(ONE, kept, kept, 100)).as("once chunks are free").isEqualTo(kept + 100);
  }

  /** Bytes that changed on the way, and any bytes, are refused, and change nothing. */
  @Test
  void shouldRefuseOtherBytes() {
    SplittableRandom random = new SplittableRandom(Seeds.of(8102));
    append(ONE, 0, 0, 100);
    List<LogCopy> before = list();
    for (int i = 0; i < 20_000; i++) {
      int bytes = LogFrame.RECORDS + random.nextInt(40);
      if (random.nextBoolean()) {
        LogFrame.set(frame, LogFrame.APPEND, ONE, 100, 0, 3, bytes - LogFrame.RECORDS);
        frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, bytes));
        long bit = random.nextLong(8L * bytes);
        byte at = frame.get(ValueLayout.JAVA_BYTE, bit / 8);
        frame.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (at ^ 1 << bit % 8));
      } else {
        for (int j = 0; j < bytes; j += 4) {
          frame.set(LogFrame.INT, j, random.nextInt());
        }
      }
      Throwable refusal = catchThrowable(() -> service.handle(0, frame, frame, bytes));
      assertThat(refusal).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(catchThrowable(() -> service.handle(0, frame, frame, 47))).isNotNull();
    assertThat(list()).isEqualTo(before);
  }
}
