package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Room that is reserved, and the segments that are made for it. */
class LogRoomTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final FaultyDisk disk = new FaultyDisk();

  private DataFolder open(SyncPolicy policy) throws IOException {
    return DataFolder.open(
        disk, "words", new LogOptions(policy, LogOptions.SEGMENT_BYTES_MIN), () -> {});
  }

  private static FutureTask<Boolean> started(Runnable work) {
    FutureTask<Boolean> task = new FutureTask<>(work, true);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private long segments() {
    return disk.list().stream().filter(name -> LogSegment.firstOf(name) >= 0).count();
  }

  @Test
  void shouldReserveBesideOthersThatNeverUseTheirRoom() throws IOException {
    try (DataFolder folder = open(SyncPolicy.NO)) {
      Log log = folder.begin();
      int most = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN).recordBytesMax();
      FutureTask<Boolean> reserving =
          started(() -> {
            for (int i = 0; i < 5; i++) {
              log.reserve(most);
            }
          });
      assertThat(reserving).succeedsWithin(LONG);
      log.release(5L * most);
    }
  }

  @Test
  void shouldMakeTheNextSegmentWhereAMarkGoesBeyondTheMiddle() throws IOException {
    try (DataFolder folder = open(SyncPolicy.ALWAYS)) {
      Log log = folder.begin();
      RecordBuilder change = new RecordBuilder().putWord(1, 1);
      int pages = LogOptions.SEGMENT_BYTES_MIN / RecordFormat.PAGE;
      for (int i = 0; i < pages / 2; i++) { // Each is followed by a mark, in the next page.
        log.reserve(change.bytes());
        log.awaitSynced(log.append(change));
      }
      FutureTask<Boolean> making =
          started(() -> {
            while (segments() < 2 && !log.hasFailed()) {
              Thread.onSpinWait();
            }
          });
      assertThat(making).succeedsWithin(LONG);
    }
  }

  @Test
  void shouldLeaveNothingOfASegmentThatTheDiskHasNoRoomFor() {
    disk.failAt(2); // A part of the zeros is there then.
    assertThatThrownBy(() ->
            LogSegment.create(
                disk, UUID.randomUUID(), RecordFormat.PAGE, LogOptions.SEGMENT_BYTES_MIN))
        .hasMessageContaining("No space left");
    assertThat(disk.list()).isEmpty();
  }
}
