package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderImportTest {
  private static final int RUN_BYTES = 1_024;
  private static final int DRAWS = 4;

  private final long seed = JournalSeeds.of(System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final TreeMap<String, Optional<String>> model = new TreeMap<>();
  private final FaultyDisk disk = new FaultyDisk();

  @TempDir private Path directory;

  private long make(Disk to, FolderImport.Entries entries) throws IOException {
    Manifest empty = Manifest.ofNewFolder("byte-strings", "strings strings");
    return FolderAccess.made(to, made -> FolderImport.make(made, empty, entries, RUN_BYTES));
  }

  private static void add(FolderImport folder, String key, String value) throws IOException {
    folder.add(EntryModel.bytes(key), EntryModel.bytes(value));
  }

  private void addMany(FolderImport folder, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      String key = EntryModel.drawKey(random);
      Optional<String> value = EntryModel.drawValue(random, false);
      model.put(key, value);
      add(folder, key, value.orElseThrow());
    }
  }

  private static List<Map.Entry<String, Optional<String>>> read(Disk from) throws IOException {
    try (FolderReader reader = FolderReader.open(from, () -> {})) {
      return EntryModel.read(reader.entries());
    }
  }

  @Test
  void shouldHaveTheLastEntryOfEachKey() throws IOException {
    for (int count : new int[] {0, 1, 10, 300, 10_000}) {
      model.clear();
      FaultyDisk made = new FaultyDisk();
      assertThat(make(made, folder -> addMany(folder, count))).isEqualTo(model.size());
      FaultyDisk kept = made.crash(random);
      assertThat(kept.list()).hasSize(2);
      assertThat(FolderCheck.of(kept).problems()).isEmpty();
      assertThat(read(kept)).isEqualTo(EntryModel.list(model));
      try (DataFolder opened =
          DataFolder.open(kept, "byte-strings", LogOptions.defaults(), () -> {})) {
        assertThat(opened.codecs()).isEqualTo("strings strings");
        assertThat(FolderScript.read(opened)).hasSize(model.size());
      }
    }
  }

  @Test
  void shouldBeAFolderAsAWholeOrNone() throws IOException {
    List<FaultyDisk> crashes = new ArrayList<>();
    disk.withHook((_, _) -> {
      for (int draw = 0; draw < DRAWS; draw++) {
        crashes.add(disk.crash(random));
      }
    });
    make(disk, folder -> addMany(folder, 500));
    crashes.add(disk.crash(random));
    assertThat(crashes.getLast().list()).contains(Manifest.NAME);
    for (FaultyDisk crash : crashes) {
      if (crash.list().contains(Manifest.NAME)) {
        assertThat(read(crash)).isEqualTo(EntryModel.list(model));
      } else if (!crash.list().isEmpty()) {
        assertThatThrownBy(
                () -> DataFolder.open(crash, "byte-strings", LogOptions.defaults(), () -> {}))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("the folder has files, but no manifest");
      }
    }
  }

  @Test
  void shouldLeaveNothingWhereAStepFails() throws IOException {
    long failing = 0;
    boolean failed = true;
    while (failed) {
      failing++;
      FaultyDisk faulty = new FaultyDisk();
      faulty.failAt(failing);
      try {
        make(faulty, folder -> addMany(folder, 300));
        failed = false;
      } catch (IOException e) {
        assertThat(faulty.list()).as("step=%s", failing).isEmpty();
      }
    }
    assertThat(failing).isGreaterThan(30);
  }

  @Test
  void shouldLeaveNothingWhereEntriesFail() {
    Path folder = directory.resolve("a/folder");
    assertThatThrownBy(() ->
            FolderImport.make(
                folder,
                "byte-strings",
                "",
                made -> {
                  add(made, "key", "value");
                  made.add(
                      MemorySegment.ofArray(new byte[1 << 16]), MemorySegment.ofArray(new byte[0]));
                }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("keyBytes=65536, maximum=65535");
    assertThat(folder).doesNotExist();
    assertThat(FolderImport.make(folder, "words", "", made -> add(made, "12345678", "87654321")))
        .isOne();
    assertThat(FolderCheck.of(folder).entries()).isOne();
    assertThatThrownBy(() -> FolderImport.make(folder, "words", "", _ -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the folder is not empty");
    assertThatThrownBy(() -> FolderImport.make(directory.resolve("b"), "words", "a\nb", _ -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no names of codecs");
  }

  /** Entries of the greatest size go through the memory of an import of the usual size. */
  @Test
  void shouldTakeTheLongestEntries() throws IOException {
    byte[] value = new byte[16 << 20];
    long entries =
        FolderImport.make(
            directory.resolve("large"),
            "byte-strings",
            "",
            folder -> {
              for (byte i = 0; i < 4; i++) {
                byte[] key = new byte[0xffff];
                key[0] = (byte) -i;
                folder.add(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
              }
            });
    assertThat(entries).isEqualTo(4);
    assertThat(FolderCheck.of(directory.resolve("large")).entries()).isEqualTo(4);
  }
}
