package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.durable.NextGeneration;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.index.IndexOptions;
import pando.index.Partitioned;
import pando.index.Session;
import pando.index.Systems;
import pando.journal.FolderBackup;
import pando.journal.FolderRestore;
import pando.journal.LogFullException;

/** A cluster whose memory servers have data folders, and end. */
@Timeout(120)
class GenerationTest {
  /** A key that random changes do not have. */
  private static final long COUNTER = FolderCluster.KEYS;

  @TempDir private Path directory;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private FolderCluster cluster;

  @BeforeEach
  void start() {
    cluster = new FolderCluster(directory);
  }

  @AfterEach
  void end() {
    cluster.close();
  }

  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldHaveEverythingAgainWhereAMemoryServerHasEnded(String system) throws Exception {
    SplittableRandom random = new SplittableRandom(8301);
    cluster.startMemoryServers(2);
    for (int generation = 1; generation <= 2; generation++) {
      ComputeServerProcess compute = cluster.startCompute(system);
      assertThat(cluster.state.config().orElseThrow().generation()).isEqualTo(generation);
      cluster.check(compute);
      cluster.change(compute, random);
      cluster.loseMemory(generation % 2, compute);
    }
    cluster.check(cluster.startCompute(system));
  }

  @Tag("campaign")
  @Test
  void shouldBeginNoGenerationWithOlderFolders() throws Exception {
    cluster.startMemoryServers(2);
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, new SplittableRandom(8302));
    cluster.loseMemory(0, first);
    cluster.endMemoryServers();
    for (int number = 0; number < 2; number++) {
      Files.move(cluster.folder(number), directory.resolve(number + "-away"));
      cluster.startMemory(number);
    }
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("older generation");
    for (int number = 0; number < 2; number++) {
      cluster.endMemory(number);
      Files.move(cluster.folder(number), directory.resolve(number + "-new"));
      Files.move(directory.resolve(number + "-away"), cluster.folder(number));
      cluster.startMemory(number);
    }
    cluster.check(cluster.startCompute("orca"));
  }

  /** It would make an empty index between two generations. */
  @Test
  void shouldRefuseComputeServersThatLogElsewhere() throws Exception {
    cluster.startMemoryServers(2);
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, new SplittableRandom(8303));
    cluster.loseMemory(1, first);
    assertThatThrownBy(() -> cluster.startCompute("orca", LogMode.MEMORY))
        .isInstanceOf(ClusterException.class)
        .hasMessageContaining("data folders");
    cluster.check(cluster.startCompute("orca"));
  }

  @Test
  void shouldRefuseMemoryServersWithoutFolders() {
    cluster.startMemoryWithoutFolder(0);
    cluster.startMemoryWithoutFolder(1);
    assertThatThrownBy(() -> cluster.startCompute("orca"))
        .isInstanceOf(GenerationException.class)
        .hasMessageContaining("no data folder");
    assertThat(cluster.state.config()).isEmpty();
  }

  @Test
  void shouldBeginWhereOneWasLostThatHadBegunTheFolders() throws Exception {
    cluster.startMemoryServers(2);
    IndexOptions options = Systems.named("orca").defaults();
    try (Fabric fabric = cluster.attach(cluster.state.pool(), new ComputeServer(1, 1));
        NextGeneration next =
            new NextGeneration(
                fabric, options, 0, Rebuild.NEWEST, Rebuild.NONE.cluster(), /* term= */ 0);
        Partitioned index = options.createAt(fabric, 1)) {
      assertThat(next.begin(index)).isEqualTo(1);
    }
    assertThatThrownBy(() -> cluster.startCompute("orca")).isInstanceOf(GenerationException.class);
    cluster.startAgain();
    cluster.check(cluster.startCompute("orca"));
    assertThat(cluster.state.generation()).isEqualTo(2);
  }

  @Test
  void shouldServeABackupOfARunningClusterInOneOfAnotherSize() throws Exception {
    cluster.startMemoryServers(1);
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, new SplittableRandom(8305));
    Path restored = directory.resolve("restored");
    Map<Long, Long> before = Map.copyOf(cluster.model);
    AtomicBoolean isTaken = new AtomicBoolean();
    CompletableFuture<Long> writer = CompletableFuture.supplyAsync(() -> count(first, isTaken));
    FolderBackup.take(cluster.folder(0), directory.resolve("backup"), Duration.ofMinutes(1));
    isTaken.set(true);
    long counted = writer.join();
    FolderRestore.restore(directory.resolve("backup"), restored.resolve("0"));
    try (FolderCluster other = new FolderCluster(restored)) {
      other.startMemoryServers(3);
      Map<Long, Long> entries = other.entries(other.startCompute("dex"));
      long has = entries.getOrDefault(COUNTER, 0L);
      assertThat(has).isBetween(0L, counted);
      entries.remove(COUNTER);
      assertThat(entries).isEqualTo(before);
      assertThat(other.folder(1)).isDirectory();
    }
    cluster.model.put(COUNTER, counted);
    cluster.check(first);
  }

  /** Counts in an entry until it is enough; returns the count. */
  private static long count(ComputeServerProcess compute, AtomicBoolean isEnough) {
    long count = 0;
    try (Session session = compute.words().orElseThrow().session()) {
      while (!isEnough.get()) {
        session.store(COUNTER, ++count);
      }
    }
    return count;
  }

  /** Takes the names of the next files of a folder's log: none can be made, as on a full disk. */
  private List<Path> fillDisk(int number) throws IOException {
    List<Path> taken = new ArrayList<>();
    for (long i = 1; i <= 4; i++) {
      long place = 0x1000 + i * FolderCluster.SEGMENT_BYTES;
      Path name = cluster.folder(number).resolve("log-%016x.new".formatted(place));
      Files.createDirectories(name.resolve("taken"));
      taken.add(name);
    }
    return taken;
  }

  private static void makeRoom(List<Path> taken) throws IOException {
    for (Path name : taken) {
      Files.deleteIfExists(name.resolve("taken"));
      Files.deleteIfExists(name);
    }
  }

  @Tag("campaign")
  @Test
  void shouldLoseNothingAndSayWhatToDoWhileADiskIsFull() throws Exception {
    cluster.startMemoryServers(2);
    ComputeServerProcess first = cluster.startCompute("orca");
    cluster.change(first, new SplittableRandom(8306));
    List<Path> taken = fillDisk(0);
    AtomicBoolean isEnough = new AtomicBoolean();
    CompletableFuture<Long> writer = CompletableFuture.supplyAsync(() -> count(first, isEnough));
    assertThatThrownBy(
            () -> {
              try (Session session = first.words().orElseThrow().session()) {
                while (true) {
                  session.store(0, 1);
                  cluster.model.put(0L, 1L);
                }
              }
            })
        .isInstanceOf(LogFullException.class)
        .hasMessageContaining("make room on its disk: memoryServer=0");
    try (Session session = first.words().orElseThrow().session()) {
      assertThat(session.get(0)).as("lookups go on").isTrue();
    }
    isEnough.set(true);
    cluster.close(first);
    assertThat(writer).failsWithin(Duration.ofSeconds(30));
    ComputeServerProcess second = cluster.startCompute("orca");
    Map<Long, Long> entries = cluster.entries(second);
    assertThat(entries.remove(COUNTER)).isNotNull();
    assertThat(entries).isEqualTo(cluster.model);
    try (Session session = second.words().orElseThrow().session()) {
      makeRoom(taken);
      while (!isStored(session)) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      assertThat(session.get(0)).isTrue();
      assertThat(session.value()).isEqualTo(2);
    }
  }

  private static boolean isStored(Session session) {
    try {
      session.store(0, 2);
      return true;
    } catch (LogFullException e) {
      return false;
    }
  }

  /** Its lease's READ, its log and its caches wait for the memory server. */
  @Test
  @Timeout(60)
  void shouldCloseAComputeServerWhileAMemoryServerIsGone() throws Exception {
    cluster.tcp = cluster.tcp.withLostAfter(Duration.ofHours(1));
    cluster.startMemoryServers(2);
    ComputeServerProcess compute = cluster.startCompute("orca");
    cluster.change(compute, new SplittableRandom(8304));
    cluster.endMemory(0);
    cluster.startMemory(0);
    cluster.awaitLost(compute);
  }
}
