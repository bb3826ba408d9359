package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderReplacementTest {
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  private final UUID by = UUID.randomUUID();

  @TempDir private Path directory;

  private DataFolder open() {
    return DataFolder.open(directory, "words", SMALL);
  }

  private void make(int entries) {
    try (DataFolder folder = open()) {
      Log log = folder.begin();
      for (int i = 0; i < entries; i++) {
        RecordBuilder record = new RecordBuilder().putWord(i, i);
        log.reserve(record.bytes());
        log.append(record);
      }
    }
  }

  @Test
  void shouldKeepAllFilesAndLeaveAnEmptyFolder() throws IOException {
    make(3_000);
    Files.createDirectory(directory.resolve("cut-100"));
    Path kept = FolderReplacement.setAside(directory, by).orElseThrow();
    assertThat(kept).isEqualTo(directory.toRealPath().resolve("replaced-by-" + by));
    assertThat(kept.resolve("cut-100")).isDirectory();
    assertThat(FolderCheck.of(kept).entries()).isEqualTo(3_000);
    make(5);
    assertThat(FolderCheck.of(directory).entries()).isEqualTo(5);
    assertThat(FolderCheck.of(kept).entries()).isEqualTo(3_000);
  }

  /** What replaces them may be tried again and again. */
  @Test
  void shouldSetFilesAsideOnceForEachThatReplacesThem() {
    assertThat(FolderReplacement.setAside(directory, by)).isEmpty();
    make(3);
    assertThat(FolderReplacement.setAside(directory, by)).isPresent();
    make(5);
    assertThat(FolderReplacement.setAside(directory, by)).isEmpty();
    assertThat(FolderCheck.of(directory).entries()).isEqualTo(5);
    Path second = FolderReplacement.setAside(directory, UUID.randomUUID()).orElseThrow();
    assertThat(FolderCheck.of(second).entries()).isEqualTo(5);
  }

  @Test
  void shouldGoOnWhereItWasCutOff() throws IOException {
    make(3_000);
    Path begun = Files.createDirectory(directory.resolve("replaced-by-" + by + ".new"));
    Files.move(directory.resolve("manifest"), begun.resolve("manifest"));
    assertThatThrownBy(this::open)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("files, but no manifest");
    Path kept = FolderReplacement.setAside(directory, by).orElseThrow();
    assertThat(FolderCheck.of(kept).entries()).isEqualTo(3_000);
    open().close();
  }

  @Test
  void shouldRefuseAFolderInUse() {
    try (DataFolder _ = open()) {
      assertThatThrownBy(() -> FolderReplacement.setAside(directory, by))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("in use");
    }
    assertThat(FolderCheck.of(directory).entries()).isZero();
  }
}
