package pando.fabric.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.memory.NativeMemoryException;
import pando.fabric.memory.ProcessLock;
import pando.fabric.server.PoolOptions;

@EnabledOnOs(OS.LINUX)
class RegistryTest {
  private static final PoolOptions OPTIONS =
      PoolOptions.defaults().withBytesPerServer(1 << 20).withChunkBytes(64 << 10);

  @TempDir private Path parent;
  private Path directory;

  @BeforeEach
  void chooseDirectory() {
    directory = parent.resolve("registry");
    System.setProperty(Registry.DIRECTORY_PROPERTY, directory.toString());
  }

  @AfterEach
  void forgetDirectory() {
    System.clearProperty(Registry.DIRECTORY_PROPERTY);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "a.lock",
        "a\0",
        "-a",
        "a b",
        "\u00e4"
      })
  void shouldRefuseNamesThatAreNone(String name) {
    assertThatThrownBy(() -> ShmMemoryServer.start(name, 0, OPTIONS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not a name");
    assertThatThrownBy(() -> ShmFabric.attach(List.of(name), 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldRefuseANameThatIsInUse() {
    try (ShmMemoryServer first = ShmMemoryServer.start("m0", 0, OPTIONS)) {
      assertThat(first.place()).isEqualTo("m0");
      assertThatThrownBy(() -> ShmMemoryServer.start("m0", 0, OPTIONS))
          .isInstanceOf(RegistryException.class)
          .hasMessageContaining("runs already: name=m0");
      ShmFabric.attach(List.of("m0"), 1).close();
    }
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
  }

  @Test
  void shouldTellThatNobodyRuns() {
    assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining(
            "no memory server of this name runs; `pando memory-server` starts one: name=m0");
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
    assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
        .hasMessageContaining("no memory server of this name runs");
  }

  @Test
  void shouldReplaceTheEntryOfADeadServer() throws IOException {
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
    Files.writeString(
        directory.resolve("m0"), new RegistryEntry(0, 1, 1, 1 << 20, 1 << 16, 1).toText());
    assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
        .hasMessageContaining("no memory server of this name runs");
    try (ShmMemoryServer server = ShmMemoryServer.start("m0", 0, OPTIONS)) {
      ShmFabric.attach(List.of(server.place()), 1).close();
    }
  }

  @Test
  void shouldLeaveNoFilesOfAServerThatEnded() throws IOException {
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
    assertThat(files()).containsExactly(".lock");
  }

  @Test
  void shouldDeleteTheFilesOfServersThatDiedAndNoOthers() throws IOException {
    try (ShmMemoryServer running = ShmMemoryServer.start("m0", 0, OPTIONS)) {
      String entry = Files.readString(directory.resolve(running.place()));
      for (String dead : List.of("dead-1", "dead-2")) {
        Files.writeString(directory.resolve(dead), entry);
        Files.createFile(directory.resolve(dead + ".lock"));
      }
      Files.createFile(directory.resolve("starting.lock"));
      Files.createFile(directory.resolve("starting.new"));
      Files.writeString(directory.resolve("notes"), "of the user");
      Files.createFile(directory.resolve("notes.lock"));
      Files.writeString(directory.resolve("list.lock"), "of the user");
      try (ShmMemoryServer next = ShmMemoryServer.start("m1", 1, OPTIONS)) {
        assertThat(files())
            .containsExactly(
                ".lock", "list.lock", "m0", "m0.lock", "m1", "m1.lock", "notes", "notes.lock");
        ShmFabric.attach(List.of(running.place(), next.place()), 1).close();
      }
    }
  }

  @Test
  void shouldLetOneOfThoseRunThatStartAndEndTogether() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger started = new AtomicInteger();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> ends = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        ends.add(
            threads.submit(() -> {
              for (int round = 0; round < 25; round++) {
                Registry registry = Registry.open();
                try {
                  ProcessLock lock = registry.acquire("m0");
                  assertThat(running.incrementAndGet()).isEqualTo(1);
                  started.incrementAndGet();
                  running.decrementAndGet();
                  registry.release("m0", lock);
                } catch (RegistryException runsAlready) {
                  assertThat(runsAlready).hasMessageContaining("runs already");
                }
              }
            }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    }
    assertThat(started.get()).isPositive();
    assertThat(files()).containsExactly(".lock");
  }

  private List<String> files() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void shouldRefuseAnEntryThatIsDamagedOrNamesOtherMemory() throws IOException {
    try (ShmMemoryServer server = ShmMemoryServer.start("m0", 0, OPTIONS)) {
      Path entry = directory.resolve(server.place());
      String text = Files.readString(entry);
      String[] damaged = {
        "",
        "number=0",
        text.replace("number=0", "number=-1"),
        text.replace("number=0", "number=99999999999999999999"),
        text.replace("chunkBytes=65536", "chunkBytes=65537"),
        text.replace("bytesPerServer=1048576", "bytesPerServer=" + Long.MAX_VALUE)
      };
      for (String bad : damaged) {
        Files.writeString(entry, bad);
        assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
            .isInstanceOf(RegistryException.class)
            .hasMessageContaining("unreadable entry");
      }
      Files.writeString(entry, text.replace("bytesPerServer=1048576", "bytesPerServer=4194304"));
      assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
          .isInstanceOf(NativeMemoryException.class)
          .hasMessageContaining("another size");
      Files.writeString(entry, text.replace("incarnation=", "incarnation=1"));
      assertThatThrownBy(() -> ShmFabric.attach(List.of("m0"), 1))
          .isInstanceOf(RegistryException.class);
    }
  }

  @Test
  void shouldRefuseMemoryServersInAnotherOrder() {
    try (ShmMemoryServer zero = ShmMemoryServer.start("m0", 0, OPTIONS);
        ShmMemoryServer one = ShmMemoryServer.start("m1", 1, OPTIONS)) {
      ShmFabric.attach(List.of(zero.place(), one.place()), 1).close();
      assertThatThrownBy(() -> ShmFabric.attach(List.of("m1", "m0"), 1))
          .isInstanceOf(RegistryException.class)
          .hasMessageContaining("name=m1, place=0, number=1");
      assertThatThrownBy(() -> ShmFabric.attach(List.of(), 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldRefuseADirectoryThatOthersMayUse() throws IOException {
    Files.createDirectory(directory);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> ShmMemoryServer.start("m0", 0, OPTIONS))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining("permissions=rwxrwxrwx, required=rwx------");
  }

  @Test
  void shouldRefuseADirectoryThatIsALink() throws IOException {
    Path target =
        Files.createDirectory(
            parent.resolve("target"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createSymbolicLink(directory, target);
    assertThatThrownBy(() -> ShmMemoryServer.start("m0", 0, OPTIONS))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining("isDirectory=false");
  }

  @Test
  void shouldNotFollowALinkInThePlaceOfALock() throws IOException {
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
    Path victim = Files.writeString(parent.resolve("victim"), "untouched");
    Files.createSymbolicLink(directory.resolve("m1.lock"), victim);
    assertThatThrownBy(() -> ShmMemoryServer.start("m1", 1, OPTIONS))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("ELOOP");
    assertThat(victim).hasContent("untouched");
  }

  @Test
  void shouldLeaveNothingBehindWhenThereIsNotEnoughMemory() {
    PoolOptions absurd =
        PoolOptions.defaults().withChunkBytes(8 << 20).withBytesPerServer(1L << 45);
    assertThatThrownBy(() -> ShmMemoryServer.start("m0", 0, absurd))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("not enough memory");
    ShmMemoryServer.start("m0", 0, OPTIONS).close();
  }
}
