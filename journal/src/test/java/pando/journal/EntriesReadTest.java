package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EntriesReadTest {
  private static final int ENTRIES = 50_000;

  @TempDir private Path directory;

  private DataFolder open() {
    return DataFolder.open(directory.resolve("data"), "words", LogOptions.defaults());
  }

  @Test
  void shouldSayHowFarAFolderIsRead() throws IOException {
    try (DataFolder folder = open()) {
      Log log = folder.begin();
      for (int i = 0; i < ENTRIES; i++) {
        RecordBuilder record = new RecordBuilder().putWord(i, i);
        log.reserve(record.bytes());
        log.append(record);
      }
    }
    try (DataFolder folder = open()) {
      assertThat(folder.sortedEntries()).isEqualTo(ENTRIES);
      assertThat(folder.entriesRead()).isZero();
      try (EntryStream entries = folder.entries()) {
        long before = 0;
        for (int i = 0; i < ENTRIES; i++) {
          assertThat(entries.next()).isTrue();
          assertThat(folder.entriesRead()).isBetween(Math.max(before, i + 1L), (long) ENTRIES);
          before = folder.entriesRead();
          assertThat(i > ENTRIES / 2 || before < ENTRIES).isTrue();
        }
      }
      assertThat(folder.entriesRead()).isEqualTo(ENTRIES);
    }
  }
}
