package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder is copied while changes are made. */
class FolderBackupTest {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final int CHANGES = 150;
  private static final int DRAWS = 30;
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);
  private final FaultyDisk disk = new FaultyDisk();

  @TempDir private Path directory;

  private final AtomicBoolean isEnough = new AtomicBoolean();

  /** Writes, and opens and closes the folder, until it is enough. */
  private void write() {
    try {
      while (!isEnough.get()) {
        script.run(disk, 4 * CHANGES);
      }
    } catch (IOException e) {
      throw new AssertionError("pando.seed=" + seed, e);
    }
  }

  @Test
  void shouldBeTheStateBehindOneChange() throws IOException {
    CompletableFuture<Void> writer = CompletableFuture.runAsync(this::write);
    try {
      int backups = JournalSeeds.count(25, 500, 10_000);
      while (backups > 0 && !writer.isDone()) {
        int made = script.made();
        if (made > 0) {
          FaultyDisk copy = new FaultyDisk();
          FolderBackup.take(disk, copy, LONG);
          FaultyDisk kept = copy.crash(new SplittableRandom(seed));
          assertThat(FolderCheck.of(kept).problems()).as("pando.seed=%s", seed).isEmpty();
          script.check(kept, made);
          backups--;
        }
      }
    } finally {
      isEnough.set(true);
      writer.join();
    }
  }

  /** Key {@code i % KEYS} gets value {@code i}, one after the other, and loads come between. */
  private final class Counter {
    static final int KEYS = 1_500;

    /** Changes, with two loads among them, that a backup sees at the most. */
    static final int CHANGES_MAX = 30_000;

    final AtomicLong made = new AtomicLong();
    final Semaphore mayMake = new Semaphore(0);

    void run(Path folder) {
      try (DataFolder opened = DataFolder.open(folder, "words", SMALL)) {
        Log log = opened.begin();
        RecordBuilder record = new RecordBuilder();
        for (long i = 1; mayMake(); i++) {
          if (i % (10L * KEYS) == 0) {
            load(opened, i);
          } else {
            record.put(key(i % KEYS), value(i));
            log.reserve(record.bytes());
            log.append(record);
          }
          made.set(i);
        }
      }
    }

    private boolean mayMake() {
      mayMake.acquireUninterruptibly();
      return !isEnough.get();
    }

    private static void load(DataFolder folder, long i) {
      try (FolderLoad load = folder.load()) {
        for (int key = 0; key < KEYS; key++) {
          load.append(key(key), value(last(key, i)));
        }
        load.finish();
      }
    }

    private static MemorySegment key(long key) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[Long.BYTES]);
      EntryWords.setKey(bytes, 0, key);
      return bytes;
    }

    private static MemorySegment value(long i) {
      MemorySegment bytes = MemorySegment.ofArray(new byte[120]);
      EntryWords.setValue(bytes, 0, i);
      return bytes;
    }

    /** Returns the last change of a key up to one. */
    private static long last(long key, long i) {
      return i - Math.floorMod(i - key, KEYS);
    }

    /** Checks that a folder has the state behind a change not before one. */
    static void check(Path folder, long least) throws IOException {
      TreeMap<Long, Long> found = new TreeMap<>();
      try (FolderReader reader = FolderReader.open(folder);
          EntryStream entries = reader.entries()) {
        while (entries.next()) {
          found.put(EntryWords.key(entries.key()), EntryWords.value(entries.value()));
        }
      }
      long newest = found.values().stream().mapToLong(Long::longValue).max().orElse(0);
      assertThat(newest).isGreaterThanOrEqualTo(least);
      found.forEach((key, value) -> assertThat(value).isEqualTo(last(key, newest)));
      assertThat(found).hasSize((int) Math.min(newest, KEYS));
    }
  }

  @Test
  void shouldBeOneMomentOfAFolderOfTheSystem() throws IOException {
    Counter counter = new Counter();
    Path folder = directory.resolve("data");
    CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> counter.run(folder));
    int backups = JournalSeeds.count(4, 300, 10_000);
    int linked = 0;
    try {
      counter.mayMake.release(Counter.CHANGES_MAX);
      while (backups > 0 && !writer.isDone()) {
        long made = counter.made.get();
        if (made > 0) {
          counter.mayMake.release(Counter.CHANGES_MAX);
          Path copy = directory.resolve("copy" + backups);
          linked += FolderBackup.take(folder, copy, LONG).linked();
          assertThat(FolderCheck.of(copy).problems()).isEmpty();
          Counter.check(copy, made);
          try (DataFolder opened = DataFolder.open(copy, "words", SMALL)) {
            opened.begin();
          }
          Counter.check(copy, made);
          backups--;
        }
      }
    } finally {
      isEnough.set(true);
      counter.mayMake.release();
      writer.join();
    }
    assertThat(linked).isPositive();
    Counter.check(folder, counter.made.get());
  }

  @Test
  void shouldNotTakeALogThatGrowsForDamaged() throws IOException {
    LogOptions options = SMALL.withSegmentBytes(1 << 20).withSync(SyncPolicy.ALWAYS);
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      Log log = folder.begin();
      CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> appendUntilEnough(log));
      try {
        Manifest manifest = FolderAccess.manifest(disk);
        for (int i = 0; i < JournalSeeds.count(500, 50_000, 1_000_000); i++) {
          long end = log.end();
          try (LogTail tail = LogTail.view(disk, manifest)) {
            assertThat(tail.end()).isGreaterThanOrEqualTo(end);
          } catch (DamagedFolderException | NoSuchFileException e) {
            Manifest next = FolderAccess.manifest(disk);
            assertThat(next).as("cause=%s", e).isNotEqualTo(manifest);
            manifest = next;
          }
        }
      } finally {
        isEnough.set(true);
        writer.join();
      }
    }
  }

  private void appendUntilEnough(Log log) {
    RecordBuilder record = new RecordBuilder();
    for (long i = 0; !isEnough.get(); i++) {
      log.reserve(record.putWord(i, i).bytes());
      log.awaitSynced(log.append(record));
    }
  }

  @Test
  void shouldBeWholeOrNoFolderWhereThePowerIsLost() throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    FaultyDisk copy = new FaultyDisk();
    List<FaultyDisk> crashes = new ArrayList<>();
    copy.withHook((_, _) -> {
      for (int draw = 0; draw < DRAWS; draw++) {
        crashes.add(copy.crash(random));
      }
    });
    FolderBackup.take(disk, copy, LONG);
    crashes.add(copy.crash(random));
    script.check(crashes.getLast(), script.made());
    for (FaultyDisk crash : crashes) {
      if (crash.list().contains(Manifest.NAME)) {
        script.check(crash, script.made());
      }
    }
    assertThat(crashes).hasSizeGreaterThan(5);
  }

  @Test
  void shouldLeaveNothingWhereAStepFails() throws IOException {
    script.run(disk, CHANGES);
    FaultyDisk whole = new FaultyDisk();
    FolderBackup.take(disk, whole, LONG);
    for (long step = 1; step <= whole.steps(); step++) {
      FaultyDisk copy = new FaultyDisk();
      copy.failAt(step);
      assertThatThrownBy(() -> FolderAccess.made(copy, its -> FolderBackup.take(disk, its, LONG)))
          .as("step=%s", step)
          .isInstanceOf(IOException.class);
      assertThat(copy.list()).as("step=%s", step).isEmpty();
    }
  }

  @Test
  void shouldBeginAgainWhileTheFolderChanges() throws IOException {
    script.run(disk, CHANGES);
    try (DataFolder folder = script.open(disk)) {
      folder.begin();
      AtomicInteger changes = new AtomicInteger();
      int most = 3;
      disk.withHook((_, step) -> {
        if (step.startsWith("open log-") && changes.get() < most) {
          folder.setCodecs("codecs " + changes.incrementAndGet());
        }
      });
      FaultyDisk copy = new FaultyDisk();
      FolderBackup.take(disk, copy, LONG);
      assertThat(changes).hasValue(most);
      script.check(copy, script.made());
      changes.set(0);
      assertThatThrownBy(() -> FolderBackup.take(disk, new FaultyDisk(), Duration.ZERO))
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("the folder changed all the time while it was copied")
          .hasMessageContaining("attempts=1");
    }
  }

  /** A cluster would take it for as new as the folder that it is of. */
  @Test
  void shouldBeOfNoCluster() throws IOException {
    script.run(disk, 10);
    FaultyDisk copy = new FaultyDisk();
    try (DataFolder folder = script.open(disk)) {
      folder.setGeneration(UUID.randomUUID(), 7);
      FolderBackup.take(disk, copy, LONG);
    }
    assertThat(FolderCheck.of(disk).generation()).isEqualTo(7);
    assertThat(FolderCheck.of(copy).generation()).isZero();
    assertThat(FolderCheck.of(copy).cluster()).isEqualTo(DataFolder.NO_CLUSTER);
    script.check(copy, script.made());
  }

  @Test
  void shouldRefuseADamagedLog() throws IOException {
    script.run(disk, 10);
    FolderDamage.inTheMiddleOfTheLog(disk);
    assertThatThrownBy(() -> FolderBackup.take(disk, new FaultyDisk(), LONG))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("the log is damaged in the middle");
  }

  @Test
  void shouldRefuseWhatIsNoFolderOrNotEmpty() throws IOException {
    Path folder = directory.resolve("data");
    Path copy = directory.resolve("copy");
    assertThatThrownBy(() -> FolderBackup.take(folder, copy, LONG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("there is no such folder");
    Files.createDirectories(folder);
    assertThatThrownBy(() -> FolderBackup.take(folder, copy, LONG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("it is no data folder");
    DataFolder.open(folder, "words", SMALL).close();
    assertThat(copy).doesNotExist();
    Files.createDirectories(copy);
    Files.writeString(copy.resolve("mine"), "text");
    assertThatThrownBy(() -> FolderBackup.take(folder, copy, LONG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the folder is not empty")
        .hasMessageContaining("mine");
    assertThatThrownBy(() -> FolderBackup.take(folder, folder, LONG))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(copy.resolve("mine")).hasContent("text");
  }
}
