package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sorted files become one when somebody asks for it. */
@Timeout(100)
class MergerTest {
  private static final int KEYS = 200;

  private static void put(Log log, int key) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[] {(byte) key});
    RecordBuilder record = new RecordBuilder().put(bytes, MemorySegment.ofArray(new byte[900]));
    log.reserve(record.bytes());
    log.append(record);
  }

  private static void awaitFiles(DataFolder folder, int count) {
    List<Manifest.Sorted> files = folder.manifest().sorted();
    while (files.size() != count) {
      Thread.onSpinWait();
      files = folder.manifest().sorted();
    }
  }

  @Test
  void shouldMergeAllWhenAsked() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    for (int start = 0; start < 2; start++) {
      try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
        Log log = folder.begin();
        for (int key = 0; start == 0 && key < KEYS; key++) {
          put(log, key);
        }
      }
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      folder.begin();
      awaitFiles(folder, 1);
      put(folder.log(), 0);
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      assertThat(folder.manifest().sorted()).hasSize(2);
      folder.begin();
      folder.merge();
      awaitFiles(folder, 1);
      assertThat(folder.manifest().sorted().getFirst().entries()).isEqualTo(KEYS);
    }
  }
}
