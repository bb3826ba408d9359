package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderRestoreTest {
  private static final int CHANGES = 150;
  private static final int DRAWS = 30;
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);
  private final FaultyDisk disk = new FaultyDisk();

  @TempDir private Path directory;

  private Map<String, String> read(Disk from) throws IOException {
    try (DataFolder folder = script.open(from)) {
      return FolderScript.read(folder);
    }
  }

  @Test
  void shouldHaveTheSameEntriesUnderAnotherId() throws IOException {
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    Map<String, String> expected = read(disk.kill());
    FaultyDisk copy = new FaultyDisk();
    FolderReport report = FolderRestore.restore(disk, copy);
    assertThat(report.entries()).isEqualTo(expected.size());
    FaultyDisk kept = copy.crash(new SplittableRandom(seed));
    assertThat(FolderAccess.manifest(kept).id()).isNotEqualTo(FolderAccess.manifest(disk).id());
    assertThat(read(kept)).isEqualTo(expected);
    script.run(kept, CHANGES);
    script.run(kept, CHANGES);
  }

  @Test
  void shouldBeWholeOrNoFolderWhereThePowerIsLost() throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    script.run(disk, CHANGES);
    FaultyDisk copy = new FaultyDisk();
    List<FaultyDisk> crashes = new ArrayList<>();
    copy.withHook((_, _) -> {
      for (int draw = 0; draw < DRAWS; draw++) {
        crashes.add(copy.crash(random));
      }
    });
    FolderRestore.restore(disk, copy);
    crashes.add(copy.crash(random));
    assertThat(crashes.getLast().list()).contains(Manifest.NAME);
    for (FaultyDisk crash : crashes) {
      if (crash.list().contains(Manifest.NAME)) {
        script.check(crash, script.made());
      }
    }
  }

  @Test
  void shouldMakeNothingOfADamagedFolder() throws IOException {
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    FolderDamage.at(disk, FolderDamage.sorted(disk), 5_000);
    FaultyDisk copy = new FaultyDisk();
    assertThatThrownBy(() -> FolderRestore.restore(disk, copy))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("the block at 4096");
    assertThat(copy.list()).isEmpty();
  }

  @Test
  void shouldRestoreABackupOfTheSystem() throws IOException {
    Path folder = directory.resolve("data");
    try (DataFolder opened = DataFolder.open(folder, "words", SMALL)) {
      Log log = opened.begin();
      for (int i = 0; i < 5_000; i++) {
        RecordBuilder record = new RecordBuilder().putWord(i, i);
        log.reserve(record.bytes());
        log.append(record);
      }
      assertThatThrownBy(() -> FolderRestore.restore(folder, directory.resolve("other")))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("the folder is in use");
      assertThat(directory.resolve("other")).doesNotExist();
    }
    Path restored = directory.resolve("a/new/folder");
    assertThat(FolderRestore.restore(folder, restored).entries()).isEqualTo(5_000);
    assertThat(FolderCheck.of(restored).entries()).isEqualTo(5_000);
    assertThatThrownBy(() -> FolderRestore.restore(folder, restored))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the folder is not empty");
    assertThatThrownBy(() -> FolderRestore.restore(directory.resolve("a"), folder))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it is no data folder");
    Files.writeString(restored.resolve(Manifest.NAME), "no manifest");
    assertThatThrownBy(() -> FolderRestore.restore(restored, directory.resolve("other")))
        .isInstanceOf(DamagedFolderException.class);
  }
}
