package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderCheckTest {
  private static final int CHANGES = 150;

  /** So many fit into a segment. */
  private static final int FEW = 10;

  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);
  private final FaultyDisk disk = new FaultyDisk();

  @TempDir private Path directory;

  @Test
  void shouldTellWhatAFolderHas() throws IOException {
    try (DataFolder folder = DataFolder.open(disk, "words", SMALL, () -> {})) {
      folder.setCodecs("longs strings");
      Log log = folder.begin();
      RecordBuilder record = new RecordBuilder();
      for (int i = 0; i < 2_500; i++) {
        append(log, record.putWord(i, i));
      }
      for (int i = 0; i < 100; i++) {
        append(log, record.removeWord(i));
      }
    }
    FolderReport report = FolderCheck.of(disk);
    assertThat(report.isWhole()).isTrue();
    assertThat(report.kind()).isEqualTo("words");
    assertThat(report.codecs()).isEqualTo("longs strings");
    assertThat(report.entries()).isEqualTo(2_400);
    assertThat(report.sortedFiles()).isEqualTo(folderFiles("sorted-"));
    assertThat(report.segments()).isEqualTo(folderFiles("log-")).isPositive();
    assertThat(report.records()).isBetween(500L, 2_600L);
    assertThat(report.bytes()).isGreaterThan(2_600 * 32);
    assertThat(report.end()).isGreaterThan(2_600 * 32);
    assertThat(report.isClosed()).isTrue();
    assertThat(report.recordsBehind()).isZero();
  }

  private int folderFiles(String begin) {
    return (int) disk.list().stream().filter(name -> name.startsWith(begin)).count();
  }

  private static void append(Log log, RecordBuilder record) {
    log.reserve(record.bytes());
    log.append(record);
  }

  @Test
  void shouldSayThatACrashHasCutTheLog() throws IOException {
    try (DataFolder folder = DataFolder.open(disk, "words", SMALL, () -> {})) {
      Log log = folder.begin();
      append(log, new RecordBuilder().putWord(1, 1));
      append(log, new RecordBuilder().putWord(2, 2));
      append(log, new RecordBuilder().putWord(3, 3));
      FaultyDisk killed = disk.kill();
      FolderReport report = FolderCheck.of(killed);
      assertThat(report.isClosed()).isFalse();
      assertThat(report.entries()).isEqualTo(3);
      assertThat(report.recordsBehind()).isZero();
      String segment = FolderDamage.segments(killed).getFirst();
      FolderDamage.at(killed, segment, LogSegment.HEADER_BYTES + RecordFormat.HEAD);
      FolderReport torn = FolderCheck.of(killed);
      assertThat(torn.isWhole()).isTrue();
      assertThat(torn.entries()).isZero();
      assertThat(torn.recordsBehind()).isEqualTo(2);
    }
  }

  @Test
  void shouldFindEachChangeThatCounts() throws IOException {
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    Map<String, String> whole = read(disk);
    List<String> names = disk.list();
    int found = 0;
    int mutations = JournalSeeds.count(1_500, 100_000, 1_000_000);
    for (int i = 0; i < mutations; i++) {
      FaultyDisk changed = disk.kill();
      String name = names.get(random.nextInt(names.size()));
      long bytes;
      try (DiskFile file = changed.open(name)) {
        bytes = file.bytes();
      }
      long at = random.nextLong(random.nextBoolean() ? bytes : Math.min(bytes, 8_192));
      FolderDamage.at(changed, name, at);
      String what = "pando.seed=%s, file=%s, at=%s".formatted(seed, name, at);
      try {
        FolderReport report = FolderCheck.of(changed);
        if (report.isWhole()) {
          assertThat(read(changed)).as(what).isEqualTo(whole);
        } else {
          assertThat(report.problems()).as(what).hasSize(1).first().asString().contains(name);
          found++;
        }
      } catch (DamagedFolderException e) {
        assertThat(name).isEqualTo(Manifest.NAME);
      }
    }
    assertThat(found).isGreaterThan(mutations / 10);
  }

  private static Map<String, String> read(FaultyDisk disk) throws IOException {
    TreeMap<String, String> found = new TreeMap<>();
    try (FolderReader reader = FolderReader.open(disk, () -> {});
        EntryStream entries = reader.entries()) {
      while (entries.next()) {
        found.put(EntryModel.string(entries.key()), EntryModel.string(entries.value()));
      }
    }
    return found;
  }

  @Test
  void shouldTellOfAllProblems() throws IOException {
    script.run(disk, CHANGES);
    script.run(disk, FEW);
    long at = FolderDamage.inTheMiddleOfTheLog(disk);
    String sorted = FolderDamage.sorted(disk);
    FolderDamage.at(disk, sorted, 5_000);
    FolderReport report = FolderCheck.of(disk);
    assertThat(report.isWhole()).isFalse();
    assertThat(report.problems()).hasSize(2);
    assertThat(report.problems().getFirst()).contains(sorted).contains("the block at 4096");
    assertThat(report.problems().getLast()).contains("cut-at=" + Long.toHexString(at));
    assertThat(report.cutAt()).hasValue(at);
  }

  @Test
  void shouldTellOfAFileThatCannotBeRead() throws IOException {
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    String sorted = FolderDamage.sorted(disk);
    AtomicBoolean hasFailed = new AtomicBoolean();
    disk.withHook((number, step) -> {
      if (step.equals("open " + sorted) && !hasFailed.getAndSet(true)) {
        disk.failAt(number);
      }
    });
    assertThat(FolderCheck.of(disk).problems())
        .singleElement()
        .asString()
        .contains("a sorted file cannot be read: file=" + sorted)
        .contains("Input/output error");
  }

  @Test
  void shouldChangeNoFile() throws IOException {
    Path folder = directory.resolve("data");
    try (DataFolder opened = DataFolder.open(folder, "words", SMALL)) {
      Log log = opened.begin();
      for (int i = 0; i < 5_000; i++) {
        append(log, new RecordBuilder().putWord(i, i));
      }
      assertThatThrownBy(() -> FolderCheck.of(folder))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("the folder is in use")
          .hasMessageContaining("process=" + ProcessHandle.current().pid());
    }
    Files.writeString(folder.resolve("manifest.new"), "left over");
    Map<Path, MemorySegment> before = content(folder);
    FolderReport report = FolderCheck.of(folder);
    assertThat(report.entries()).isEqualTo(5_000);
    Map<Path, MemorySegment> after = content(folder);
    assertThat(after.keySet()).isEqualTo(before.keySet());
    before.forEach((file, bytes) -> assertThat(bytes.mismatch(after.get(file))).isEqualTo(-1));
  }

  private static Map<Path, MemorySegment> content(Path folder) throws IOException {
    Map<Path, MemorySegment> content = new HashMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        content.put(file, MemorySegment.ofArray(Files.readAllBytes(file)));
      }
    }
    return content;
  }
}
