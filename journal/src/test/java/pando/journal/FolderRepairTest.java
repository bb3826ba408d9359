package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderRepairTest {
  private static final int CHANGES = 2_000;

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final FolderScript script = new FolderScript(seed, SyncPolicy.ALWAYS);

  /** A folder whose log has several segments that are full. */
  private FaultyDisk disk = new FaultyDisk();

  private final FaultyDisk kept = new FaultyDisk();

  @BeforeEach
  void write() throws IOException {
    CountDownLatch isTaken = new CountDownLatch(1);
    AtomicReference<@Nullable FaultyDisk> taken = new AtomicReference<>();
    disk.withHook((_, step) -> {
      if (disk.list().stream().filter(name -> LogSegment.firstOf(name) >= 0).count() > 3
          && taken.compareAndSet(null, disk.kill())) {
        isTaken.countDown();
      }
      if (step.startsWith("create sorted-")) {
        await(isTaken);
      }
    });
    script.run(disk, CHANGES);
    disk = Objects.requireNonNull(taken.get());
    for (String name : disk.list()) {
      try (DiskFile file = disk.open(name)) {
        file.force();
      }
    }
    disk.force();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] content(Disk from, String name) throws IOException {
    try (DiskFile file = from.open(name)) {
      ByteBuffer bytes = ByteBuffer.allocate((int) file.bytes());
      assertThat(file.read(0, bytes)).isEqualTo(bytes.capacity());
      return bytes.array();
    }
  }

  /** Returns where the folder says that it can be cut. */
  private long cutAt() {
    try (DataFolder folder = script.open(disk.kill())) {
      throw new AssertionError("opened: pando.seed=%s, folder=%s".formatted(seed, folder));
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (DamagedFolderException e) {
      return e.cutAt().orElseThrow();
    }
  }

  @Test
  void shouldKeepWhatIsBeforeTheDamageAndWhatItCuts() throws IOException {
    long at = FolderDamage.inTheMiddleOfTheLog(disk);
    assertThat(cutAt()).isEqualTo(at);
    List<String> names = FolderDamage.segments(disk);
    FaultyDisk before = disk.kill();
    FolderRepair.Cut cut = FolderRepair.cut(disk, at, kept);
    assertThat(cut.at()).isEqualTo(at);
    assertThat(cut.segments()).isEqualTo(names.size());
    assertThat(cut.records()).isGreaterThan(20);
    assertThat(cut.bytes()).isGreaterThan(3L * LogOptions.SEGMENT_BYTES_MIN - 8_192);
    FaultyDisk keptAfterCrash = kept.crash(random);
    assertThat(keptAfterCrash.list()).isEqualTo(names);
    for (String name : names) {
      assertThat(Arrays.equals(content(keptAfterCrash, name), content(before, name))).isTrue();
    }
    FaultyDisk left = disk.crash(random);
    assertThat(FolderCheck.of(left).isWhole()).isTrue();
    script.check(left, 0);
  }

  @Test
  void shouldBeDoneAgainWhereverItEnds() throws IOException {
    long at = FolderDamage.inTheMiddleOfTheLog(disk);
    FaultyDisk whole = disk.kill();
    FolderRepair.cut(whole, at, new FaultyDisk());
    long steps = whole.steps();
    List<String> names = FolderDamage.segments(disk);
    FaultyDisk before = disk.kill();
    for (long step = 1; step <= steps; step++) {
      for (int draw = 0; draw < 3; draw++) {
        FaultyDisk cut = disk.kill();
        FaultyDisk cutKept = new FaultyDisk();
        List<FaultyDisk> left = new ArrayList<>();
        long last = step;
        cut.withHook((number, _) -> {
          if (number == last) {
            left.add(cut.crash(random));
            left.add(cutKept.crash(random));
          }
        });
        FolderRepair.cut(cut, at, cutKept);
        FaultyDisk again = left.getFirst();
        FolderReport report = FolderCheck.of(again);
        if (!report.isWhole()) {
          FolderRepair.cut(again, report.cutAt().orElseThrow(), left.getLast());
        }
        script.check(again.crash(random), 0);
        for (String name : names) {
          Disk keeper = left.getLast().list().contains(name) ? left.getLast() : again;
          assertThat(Arrays.equals(content(keeper, name), content(before, name)))
              .as("pando.seed=%s, step=%s, file=%s", seed, step, name)
              .isTrue();
        }
      }
    }
  }

  @Test
  void shouldCutBeforeASegmentThatIsMissing() throws IOException {
    List<String> names = FolderDamage.segments(disk);
    disk.remove(names.get(1));
    long at = cutAt();
    assertThat(at).isEqualTo(LogSegment.firstOf(names.get(1)));
    FolderRepair.Cut cut = FolderRepair.cut(disk, at, kept);
    assertThat(cut.segments()).isEqualTo(names.size() - 2);
    assertThat(kept.list()).isEqualTo(names.subList(2, names.size()));
    assertThat(FolderDamage.segments(disk)).isEqualTo(names.subList(0, 2));
    script.check(disk, 0);
  }

  /**
   * Segments are full but for the last: so it is known that another one was behind each of them.
   */
  @Test
  void shouldNoticeThatTheLastSegmentsAreMissing() throws IOException {
    List<String> names = FolderDamage.segments(disk);
    FaultyDisk before = disk.kill();
    for (String name : names.subList(1, names.size()).reversed()) {
      disk.remove(name);
      try (LogTail tail = LogTail.view(before, FolderAccess.manifest(before))) {
        boolean hadRecords =
            tail.parts().stream().anyMatch(part -> part.segment().name().equals(name));
        if (hadRecords) {
          assertThat(cutAt()).isEqualTo(LogSegment.firstOf(name));
        }
      }
    }
    FolderRepair.Cut cut = FolderRepair.cut(disk, cutAt(), kept);
    assertThat(cut.segments()).isZero();
    assertThat(kept.list()).isEmpty();
    assertThat(FolderDamage.segments(disk)).isEqualTo(names.subList(0, 2));
    script.check(disk.crash(random), 0);
    script.check(disk, 0);
  }

  @Test
  void shouldNoticeThatAllSegmentsAreMissing() throws IOException {
    List<String> names = FolderDamage.segments(disk);
    for (String name : names) {
      disk.remove(name);
    }
    assertThat(cutAt()).isEqualTo(LogSegment.firstOf(names.getFirst()));
    assertThat(FolderCheck.of(disk).problems())
        .singleElement()
        .asString()
        .contains("a segment of the log is missing: file=" + names.getFirst());
    FolderRepair.Cut _ = FolderRepair.cut(disk, cutAt(), kept);
    script.check(disk.crash(random), 0);
    script.check(disk, 0);
  }

  @Test
  void shouldCutBeforeASegmentWhoseHeaderIsDamaged() throws IOException {
    List<String> names = FolderDamage.segments(disk);
    FolderDamage.at(disk, names.getFirst(), 50);
    long at = cutAt();
    assertThat(at).isEqualTo(LogSegment.firstOf(names.getFirst()));
    FolderRepair.cut(disk, at, kept);
    assertThat(kept.list()).isEqualTo(names);
    assertThat(FolderDamage.segments(disk)).containsExactly(names.getFirst());
    script.check(disk, 0);
  }

  @Test
  void shouldCutBeforeASegmentThatHasNoBytesLeft() throws IOException {
    List<String> names = FolderDamage.segments(disk);
    disk.create(names.get(1)).close();
    long at = cutAt();
    assertThat(at).isEqualTo(LogSegment.firstOf(names.get(1)));
    FolderRepair.cut(disk, at, kept);
    assertThat(kept.list()).isEqualTo(names.subList(1, names.size()));
    script.check(disk, 0);
  }

  @Test
  void shouldCutNothingElse() throws IOException {
    assertThatThrownBy(() -> FolderRepair.cut(disk, 4_096, kept))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the log is not damaged, nothing is cut");
    long at = FolderDamage.inTheMiddleOfTheLog(disk);
    List<String> names = disk.list();
    assertThatThrownBy(() -> FolderRepair.cut(disk, at + 16, kept))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the log is damaged at another place")
        .hasMessageContaining("damaged at=" + Long.toHexString(at));
    assertThat(disk.list()).isEqualTo(names);
    assertThat(kept.list()).isEmpty();
  }

  @Test
  void shouldKeepWhatItCutsInTheFolder(@TempDir Path directory) throws IOException {
    Path folder = directory.resolve("data");
    LogOptions options = LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
    try (DataFolder opened = DataFolder.open(folder, "words", options)) {
      Log log = opened.begin();
      for (int i = 0; i < 100; i++) {
        RecordBuilder record = new RecordBuilder().putWord(i, i);
        log.reserve(record.bytes());
        log.append(record);
      }
    }
    long at = FolderDamage.inTheMiddleOfTheLog(new FolderDisk(folder));
    assertThatThrownBy(() -> FolderRepair.cut(folder, at - 16))
        .isInstanceOf(IllegalArgumentException.class);
    FolderRepair.Cut cut = FolderRepair.cut(folder, at);
    assertThat(cut.records()).isGreaterThanOrEqualTo(97);
    assertThat(cut.kept()).isEqualTo(folder.resolve("cut-" + Long.toHexString(at)));
    assertThat(cut.kept()).isDirectoryContaining(file -> file.toString().contains("log-"));
    FolderReport report = FolderCheck.of(folder);
    assertThat(report.isWhole()).isTrue();
    assertThat(report.entries()).isEqualTo(2);
    try (DataFolder opened = DataFolder.open(folder, "words", options)) {
      opened.begin();
    }
    assertThat(cut.kept()).isDirectoryContaining(file -> file.toString().contains("log-"));
  }
}
