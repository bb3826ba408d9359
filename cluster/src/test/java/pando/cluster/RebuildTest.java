package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import pando.journal.FolderBackup;
import pando.journal.FolderCheck;
import pando.journal.FolderRestore;

/** A person has a generation begin, and says with which folder. */
@Timeout(120)
class RebuildTest {
  private static final Duration SOON = Duration.ofSeconds(2);

  @TempDir private Path directory;

  private final SplittableRandom random = new SplittableRandom(8310);

  @SuppressWarnings("NullAway.Init") // Set by start.
  private FolderCluster cluster;

  @BeforeEach
  void start() {
    cluster = new FolderCluster(directory);
    cluster.startMemoryServers(2);
  }

  @AfterEach
  void end() {
    cluster.close();
  }

  /** Ends all servers, which are asked to start again with the next generation. */
  private void rebuild(int from, ComputeServerProcess compute) throws Exception {
    cluster.state.askForRebuild(from);
    cluster.awaitLost(compute);
    cluster.startAgain();
  }

  private List<Path> setAside(int number) throws IOException {
    try (Stream<Path> files = Files.list(cluster.folder(number))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("replaced-by-"))
          .toList();
    }
  }

  /** Changes a byte of each sorted file. */
  private void damage(int number) throws IOException {
    try (Stream<Path> files = Files.list(cluster.folder(number))) {
      for (Path file : files.filter(each -> each.toString().contains("sorted-")).toList()) {
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length / 2] ^= 1;
        Files.write(file, bytes, StandardOpenOption.WRITE);
      }
    }
  }

  private void replaceFolder(int number, Path by) throws IOException {
    Files.move(cluster.folder(number), directory.resolve(number + "-away"));
    Files.move(by, cluster.folder(number));
  }

  @Tag("campaign")
  @Test
  void shouldBeginAnewWithTheNewestFolder() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    rebuild(Rebuild.NEWEST, first);
    cluster.check(cluster.startCompute("orca"));
    assertThat(cluster.state.generation()).isEqualTo(2);
    assertThat(setAside(0)).isEmpty();
    assertThat(setAside(1)).isEmpty();
  }

  @Test
  void shouldGoBackInTimeWithARestoredFolder() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    Map<Long, Long> then = new TreeMap<>(cluster.model);
    FolderBackup.take(cluster.folder(1), directory.resolve("backup"), Duration.ofMinutes(1));
    FolderRestore.restore(directory.resolve("backup"), directory.resolve("restored"));
    cluster.change(first, random);
    Map<Long, Long> last = new TreeMap<>(cluster.model);
    cluster.endMemory(0);
    replaceFolder(0, directory.resolve("restored"));
    cluster.startMemory(0);
    cluster.awaitLost(first);
    cluster.endMemory(1);
    cluster.startMemory(1);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("different clusters");
    cluster.state.askForRebuild(0);
    ComputeServerProcess second = cluster.startCompute("orca");
    cluster.check(second, then);
    assertThat(cluster.state.generation()).isEqualTo(2);
    // What the other folder had can be had again.
    Path kept = setAside(1).getFirst();
    assertThat(FolderCheck.of(kept).entries()).isEqualTo(last.size());
    rebuild(Rebuild.NEWEST, second);
    cluster.check(cluster.startCompute("orca"), then);
    assertThat(setAside(1)).containsExactly(kept);
  }

  @Tag("campaign")
  @Test
  void shouldBeginWithAFolderThatIsOlderThanTheCluster() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    Map<Long, Long> then = new TreeMap<>(cluster.model);
    cluster.endMemory(1);
    Files.move(cluster.folder(1), directory.resolve("old"));
    cluster.startMemory(1);
    cluster.awaitLost(first);
    cluster.endMemory(0);
    cluster.startMemory(0);
    ComputeServerProcess second = cluster.startCompute("orca");
    cluster.change(second, random);
    cluster.endMemoryServers();
    replaceFolder(0, directory.resolve("old"));
    Files.move(cluster.folder(1), directory.resolve("1-away"));
    cluster.startMemoryServers(2);
    cluster.awaitLost(second);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("older generation");
    cluster.state.askForRebuild(0);
    cluster.check(cluster.startCompute("orca"), then);
    assertThat(cluster.state.generation()).isEqualTo(3);
  }

  @Test
  void shouldWaitForAPersonWhereTheNewestFolderIsDamaged() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    cluster.endMemory(0);
    cluster.startMemory(0);
    cluster.awaitLost(first);
    cluster.endMemory(1);
    cluster.startMemory(1);
    ComputeServerProcess second = cluster.startCompute("orca");
    cluster.change(second, random);
    cluster.endMemoryServers();
    damage(0);
    cluster.startMemoryServers(2);
    cluster.awaitLost(second);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining(cluster.folder(0).toString())
        .hasMessageContaining("rebuild --from");
    cluster.startAgain();
    assertThatThrownBy(() -> cluster.startCompute("orca", LogMode.DATA, SOON))
        .isInstanceOf(WaitOverException.class)
        .hasMessageContaining(cluster.folder(0).toString());
    assertThat(cluster.state.rebuild().isAwaited()).isTrue();
    cluster.state.askForRebuild(1);
    cluster.check(cluster.startCompute("orca"));
    assertThat(setAside(0)).hasSize(1);
    assertThat(cluster.state.rebuild()).isEqualTo(Rebuild.NONE);
  }

  /** The one that is named is read to its end before the other one is touched. */
  @Tag("campaign")
  @Test
  void shouldChangeNothingWhereTheNamedFolderIsDamagedOrEmpty() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    cluster.state.askForRebuild(1);
    cluster.awaitLost(first);
    cluster.endMemoryServers();
    FolderRestore.restore(cluster.folder(1), directory.resolve("damaged"));
    replaceFolder(1, directory.resolve("damaged"));
    damage(1);
    cluster.startMemoryServers(2);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining(cluster.folder(1).toString());
    cluster.startAgain();
    cluster.endMemory(1);
    Files.move(cluster.folder(1), directory.resolve("1-damaged"));
    cluster.startMemory(1);
    cluster.state.askForRebuild(1);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("no entries");
    cluster.startAgain();
    assertThat(setAside(0)).isEmpty();
    cluster.state.askForRebuild(0);
    cluster.check(cluster.startCompute("orca"));
  }

  @Test
  void shouldRefuseWhereThereAreNoDataFolders() {
    assertThatThrownBy(() -> cluster.state.askForRebuild(Rebuild.NEWEST))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("no index yet");
    ComputeServerProcess compute = cluster.startCompute("orca", LogMode.MEMORY);
    assertThatThrownBy(() -> cluster.state.askForRebuild(0))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("no data folders")
        .hasMessageContaining("log=memory");
    cluster.change(compute, random);
    cluster.check(compute);
  }

  /** No generation could begin with it, and there is no other to go back to. */
  @Test
  void shouldRefuseAMemoryServerWithoutAFolderBeforeThereIsAnIndex() {
    cluster.endMemory(0);
    cluster.startMemoryWithoutFolder(0);
    assertThatThrownBy(() -> cluster.state.askForRebuild(0))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("memory server 0 has no data folder");
    assertThatThrownBy(() -> cluster.state.askForRebuild(7))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memoryServer=7");
    assertThat(cluster.state.rebuild()).isEqualTo(Rebuild.NONE);
    cluster.change(cluster.startCompute("orca", LogMode.MEMORY), random);
  }

  @Test
  void shouldRefuseAMemoryServerWithoutAFolder() {
    ComputeServerProcess compute = cluster.startCompute("orca");
    for (int from : new int[] {2, -2}) {
      assertThatThrownBy(() -> cluster.state.askForRebuild(from))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("memoryServer=" + from);
    }
    cluster.change(compute, random);
    cluster.check(compute);
  }

  /** A cluster whose coordinator lost its files, and whose folders a person has mixed up. */
  @Tag("campaign")
  @Test
  void shouldBeginANewClusterWithOneOfTwoFolders() throws Exception {
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, random);
    cluster.close();
    FolderRestore.restore(cluster.folder(0), directory.resolve("other/0"));
    FolderRestore.restore(cluster.folder(1), directory.resolve("other/1"));
    try (FolderCluster other = new FolderCluster(directory.resolve("other"))) {
      other.startMemoryServers(2);
      assertThatThrownBy(() -> other.startCompute("orca"))
          .isInstanceOf(GenerationException.class)
          .hasMessageContaining("different clusters");
      other.state.askForRebuild(0);
      other.check(other.startCompute("orca"), cluster.model);
    }
  }
}
