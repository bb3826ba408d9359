package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder whose entries are written anew. */
class FolderLoadTest {
  private final FaultyDisk disk = new FaultyDisk();

  private DataFolder open() throws IOException {
    return DataFolder.open(disk, "byte-strings", LogOptions.defaults(), () -> {});
  }

  private static MemorySegment bytes(int number) {
    return MemorySegment.ofArray(new byte[] {(byte) number});
  }

  @Test
  void shouldForgetWhatIsRemovedRightAfterTheFirstLoad() throws IOException {
    try (DataFolder folder = open()) {
      Log log = folder.begin();
      try (FolderLoad load = folder.load()) {
        load.append(bytes(1), bytes(1));
        load.append(bytes(2), bytes(2));
        load.finish();
      }
      RecordBuilder removal = new RecordBuilder().remove(bytes(1));
      log.reserve(removal.bytes());
      log.append(removal);
    }
    for (int start = 0; start < 3; start++) {
      try (DataFolder folder = open()) {
        assertThat(FolderScript.read(folder)).hasSize(1);
      }
    }
  }

  @AfterEach
  void endInterrupt() {
    boolean _ = Thread.interrupted();
  }

  @Test
  void shouldFinishWhereTheCallerIsInterrupted(@TempDir Path directory) throws IOException {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    try (DataFolder folder = DataFolder.open(directory, "words", options)) {
      Log log = folder.begin();
      try (FolderLoad load = folder.load()) {
        load.append(1, 1);
        Thread.currentThread().interrupt();
        load.finish();
      }
      folder.setCodecs("longs longs");
      assertThat(Thread.interrupted()).isTrue();
      RecordBuilder change = new RecordBuilder().putWord(2, 2);
      log.reserve(change.bytes());
      log.awaitSynced(log.append(change));
    }
    try (DataFolder folder = DataFolder.open(directory, "words", options)) {
      assertThat(FolderScript.read(folder)).hasSize(2);
      assertThat(folder.codecs()).isEqualTo("longs longs");
    }
  }
}
