package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ways to a folder, and files of it that are symbolic links. */
class FolderPathTest {
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  @TempDir private Path directory;

  private static DataFolder open(Path folder) {
    return DataFolder.open(folder, "words", SMALL);
  }

  /** Makes a folder with sorted files and a log. */
  private Path made() {
    Path folder = directory.resolve("data");
    for (int start = 0; start < 2; start++) {
      try (DataFolder opened = open(folder)) {
        Log log = opened.begin();
        for (int i = 0; i < 100; i++) {
          RecordBuilder record = new RecordBuilder().putWord(i, start);
          log.reserve(record.bytes());
          log.append(record);
        }
      }
    }
    return folder;
  }

  private static Path link(Path link, Path to) throws IOException {
    return Files.createSymbolicLink(link, to);
  }

  /** Returns ways to the folder. */
  private List<Path> ways(Path folder) throws IOException {
    Path other = Files.createDirectories(directory.resolve("other/deep"));
    Path working = Path.of("").toAbsolutePath();
    return List.of(
        folder,
        folder.resolve("."),
        folder.resolve("../data"),
        working.relativize(folder),
        link(directory.resolve("link"), folder),
        link(other.resolve("relative"), Path.of("../../data")),
        link(directory.resolve("parent"), directory).resolve("data"),
        link(directory.resolve("deep"), other).resolve("../../data"));
  }

  @Test
  void shouldBeOneFolderOnEachWay() throws IOException {
    Path folder = made();
    List<Path> ways = ways(folder);
    for (Path way : ways) {
      try (DataFolder opened = open(way)) {
        assertThat(opened).hasToString(folder.toRealPath().toString());
        assertThat(opened.sortedEntries()).isPositive();
        for (Path second : ways) {
          assertThatThrownBy(() -> open(second))
              .as("first=%s, second=%s", way, second)
              .isInstanceOf(DataFolderException.class)
              .hasMessageContaining("in use");
          assertThatThrownBy(() -> FolderCheck.of(second)).hasMessageContaining("in use");
        }
      }
      assertThat(FolderCheck.of(way).entries()).isEqualTo(100);
    }
  }

  @Test
  void shouldMakeAFolderWhereTheSystemHasIt() throws IOException {
    Path there = Files.createDirectories(directory.resolve("there/deep"));
    Path link = link(directory.resolve("link"), there);
    open(link.resolve("../made/./new")).close();
    assertThat(directory.resolve("there/made/new/manifest")).exists();
    open(directory.resolve("a/b/../c")).close();
    assertThat(directory.resolve("a/c/manifest")).exists();
    Path nowhere = link(directory.resolve("nowhere"), directory.resolve("missing"));
    assertThatThrownBy(() -> open(nowhere))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("folder=" + nowhere);
  }

  private static Path file(Path folder, String begin) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).startsWith(begin))
          .findFirst()
          .orElseThrow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"lock", "manifest", "log-", "sorted-"})
  void shouldRefuseAFileThatIsALink(String begin) throws IOException {
    Path folder = made();
    Path file = file(folder, begin);
    Path moved = Files.move(file, directory.resolve("moved"));
    link(file, moved);
    byte[] before = Files.readAllBytes(moved);
    String name = String.valueOf(file.getFileName());
    assertThatThrownBy(() -> open(folder))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining(name + ": it is a symbolic link");
    assertThatThrownBy(
            () -> {
              FolderReport report = FolderCheck.of(folder);
              throw new DataFolderException(String.join(" ", report.problems()));
            })
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("it is a symbolic link");
    if (!begin.equals("lock")) {
      Path copy = directory.resolve("copy");
      assertThatThrownBy(() -> FolderBackup.take(folder, copy, Duration.ZERO))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("it is a symbolic link");
      assertThat(copy).doesNotExist();
    }
    assertThat(moved).hasBinaryContent(before);
    Files.move(moved, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertThat(FolderCheck.of(folder).entries()).isEqualTo(100);
  }

  /** Others may have made links, so that this process writes or shows what is not theirs. */
  @Test
  void shouldNotWriteOrShowWhatALinkLeadsTo() throws IOException {
    Path folder = made();
    Path secret = Files.writeString(directory.resolve("secret"), "secret");
    Files.delete(folder.resolve("owner"));
    link(folder.resolve("owner"), secret);
    link(folder.resolve("manifest.new"), secret);
    link(folder.resolve("sorted-1000.new"), secret);
    try (DataFolder opened = open(folder)) {
      opened.begin();
      assertThatThrownBy(() -> open(folder))
          .hasMessageContaining("process=unknown")
          .hasMessageNotContaining("secret,");
    }
    assertThat(secret).hasContent("secret");
  }

  @Test
  void shouldShowNoLongOwner() throws IOException {
    Path folder = made();
    try (DataFolder _ = open(folder)) {
      Files.writeString(folder.resolve("owner"), "x".repeat(1_000_000));
      assertThatThrownBy(() -> open(folder)).hasMessageContaining("process=unknown");
    }
  }

  /** The system names the file first where it makes or opens one. */
  @Test
  void shouldSayWhatToDoAboutAFullDisk() {
    String full = "No space left on device";
    for (IOException cause :
        List.of(new IOException(full), new FileSystemException("/data/log", null, full))) {
      assertThat(FolderAccess.failed(directory, cause))
          .hasMessageContaining(full)
          .hasMessageEndingWith("; make room on its disk")
          .hasCause(cause);
    }
    assertThat(FolderAccess.failed(directory, new IOException("Input/output error")))
        .hasMessageEndingWith("Input/output error");
  }
}
