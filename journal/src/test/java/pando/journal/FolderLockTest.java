package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who has a folder, and what others are told of that. */
class FolderLockTest {
  @TempDir private Path folder;

  @Test
  void shouldTellWhoHasTheFolder() throws IOException {
    try (FolderLock _ = FolderLock.acquire(folder)) {
      assertThatThrownBy(() -> FolderLock.acquire(folder))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("process=" + ProcessHandle.current().pid());
    }
  }

  @Test
  void shouldLockWhereItCannotBeWrittenWhoHasTheFolder() throws IOException {
    Path owner = Files.createDirectory(folder.resolve(FolderLock.OWNER));
    try (FolderLock _ = FolderLock.acquire(folder)) {
      assertThatThrownBy(() -> FolderLock.acquire(folder))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("process=unknown");
    }
    assertThat(owner).isEmptyDirectory();
  }
}
