package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  private static void put(Log log, int number) {
    RecordBuilder change = new RecordBuilder().put(bytes(number), bytes(number));
    log.reserve(change.bytes());
    log.awaitSynced(log.append(change));
  }

  private static void append(FolderLoad load, int entries) {
    byte[] value = new byte[10_000];
    for (int i = 0; i < entries; i++) {
      load.append(bytes(i), MemorySegment.ofArray(value));
    }
  }

  /** Returns the sorted files that there are. */
  private List<String> sortedFiles() {
    return disk.list().stream().filter(name -> name.startsWith("sorted-")).toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"write sorted-", "create manifest", "rename manifest"})
  void shouldKeepWhatWasThereWhereTheEndHasNoRoom(String failing) throws IOException {
    try (DataFolder folder = open()) {
      put(folder.begin(), 1);
      put(folder.log(), 2);
      try (FolderLoad load = folder.load()) {
        append(load, 100);
        failCaller(failing);
        assertThatThrownBy(load::finish)
            .isInstanceOf(LogFullException.class)
            .hasMessageContaining("the folder cannot be written");
        assertThatThrownBy(load::finish).isInstanceOf(RuntimeException.class);
        disk.withHook((_, _) -> {});
      }
      assertThat(folder.hindrances()).isEmpty();
      put(folder.log(), 3);
    }
    assertThat(sortedFiles())
        .isEqualTo(
            FolderAccess.manifest(disk).sorted().stream().map(Manifest.Sorted::name).toList());
    try (DataFolder folder = open()) {
      assertThat(FolderScript.read(folder)).hasSize(3);
    }
  }

  /** Has steps fail that the end of a load takes. */
  private void failCaller(String step) {
    disk.withHook((number, its) -> {
      if (its.startsWith(step) && Thread.currentThread().getName().equals("pando-log-caller")) {
        disk.failAt(number);
      }
    });
  }

  @Test
  void shouldFailWhereAForceFails() throws IOException {
    DataFolder folder = open();
    put(folder.begin(), 1);
    failCaller("force sorted-");
    assertThatThrownBy(
            () -> {
              try (FolderLoad load = folder.load()) {
                append(load, 100);
                load.finish();
              }
            })
        .isInstanceOf(LogFailedException.class);
    assertThatThrownBy(folder::close).isInstanceOf(LogFailedException.class);
    disk.heal();
    try (DataFolder opened = open()) {
      assertThat(FolderScript.read(opened)).hasSize(1);
    }
  }

  @Test
  void shouldHaveAllOnTheDiskBeforeItCounts() throws IOException {
    try (DataFolder folder = open()) {
      Log _ = folder.begin();
      try (FolderLoad load = folder.load()) {
        append(load, 20);
        load.end();
        load.end();
        assertThat(folder.sortedFiles()).isZero();
        disk.withHook((_, step) -> assertThat(step).doesNotStartWith("write sorted-"));
        load.finish();
        assertThat(folder.sortedEntries()).isEqualTo(20);
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
