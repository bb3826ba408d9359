package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sorted files become one when somebody asks for it. */
@Timeout(100)
class MergerTest {
  private static final int KEYS = 200;

  private static void put(Log log, int key) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[] {(byte) key});
    RecordBuilder record = new RecordBuilder().put(bytes, MemorySegment.ofArray(new byte[900]));
    log.reserve(record.bytes());
    log.append(record);
  }

  private static void awaitFiles(DataFolder folder, int count) {
    List<Manifest.Sorted> files = folder.manifest().sorted();
    while (files.size() != count) {
      Thread.onSpinWait();
      files = folder.manifest().sorted();
    }
  }

  @Test
  void shouldMergeAllWhenAsked() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    for (int start = 0; start < 2; start++) {
      try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
        Log log = folder.begin();
        for (int key = 0; start == 0 && key < KEYS; key++) {
          put(log, key);
        }
      }
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      folder.begin();
      awaitFiles(folder, 1);
      put(folder.log(), 0);
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      assertThat(folder.manifest().sorted()).hasSize(2);
      folder.begin();
      folder.merge();
      awaitFiles(folder, 1);
      assertThat(folder.manifest().sorted().getFirst().entries()).isEqualTo(KEYS);
    }
  }

  @Test
  void shouldMergeNothingWhereThereIsNoRoom() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      fill(folder, KEYS);
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      int files = folder.sortedFiles();
      assertThat(files).isGreaterThan(1);
      List<String> made = Collections.synchronizedList(new ArrayList<>());
      disk.withHook((_, step) -> {
        if (step.startsWith("create sorted-")) {
          made.add(step);
        }
      });
      disk.sayRoom(KEYS * 900 + LogOptions.SEGMENT_BYTES_MIN);
      folder.begin();
      while (folder.mergeFailures() == 0) {
        Thread.onSpinWait();
      }
      assertThat(made).isEmpty();
      assertThat(folder.hindrances()).isEmpty();
      assertThat(folder.sortedFiles()).isEqualTo(files);
      disk.heal();
      folder.merge();
      awaitFiles(folder, 1);
    }
  }

  @Test
  void shouldWaitLongerEachTime() {
    assertThat(Merger.pauseNanos(1)).isEqualTo(10_000_000_000L);
    assertThat(Merger.pauseNanos(2)).isEqualTo(20_000_000_000L);
    assertThat(Merger.pauseNanos(7)).isEqualTo(640_000_000_000L);
    assertThat(Merger.pauseNanos(1_000)).isEqualTo(640_000_000_000L);
  }

  @Test
  void shouldGoOnWhereASortedFileIsDamaged() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    for (int keys : new int[] {KEYS, 0, 1}) {
      try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
        fill(folder, keys);
        awaitFiles(folder, folder.sortedFiles() > 0 && keys < 2 ? 1 : folder.sortedFiles());
      }
    }
    FolderDamage.at(disk, FolderDamage.sorted(disk), 5_000);
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      assertThat(folder.manifest().sorted().getFirst().entries()).isEqualTo(KEYS);
      Log log = folder.begin();
      folder.merge();
      while (folder.hindrances().isEmpty()) {
        Thread.onSpinWait();
      }
      assertThat(folder.hindrances())
          .singleElement()
          .asString()
          .contains("sorted files cannot be merged", "the block at 4096");
      Manifest.Sorted base = folder.manifest().sorted().getFirst();
      for (int round = 0; round < 40; round++) {
        for (int key = 0; key < 100; key++) {
          put(log, key);
        }
      }
      while (largestBehindTheBase(folder) < 100) {
        Thread.onSpinWait();
      }
      assertThat(folder.manifest().sorted().getFirst()).isEqualTo(base);
      assertThat(folder.mergeFailures()).isBetween(1L, 3L);
      assertThat(folder.hindrances()).hasSize(1);
      assertThat(log.hindrance()).isEmpty();
    }
  }

  private static long largestBehindTheBase(DataFolder folder) {
    return folder.manifest().sorted().stream()
        .skip(1)
        .mapToLong(Manifest.Sorted::entries)
        .max()
        .orElse(0);
  }

  private static void fill(DataFolder folder, int keys) {
    Log log = folder.begin();
    for (int key = 0; key < keys; key++) {
      put(log, key);
    }
  }

  /** Not after a number of entries: 4,096 of a mebibyte each take seconds. */
  @Test
  void shouldStopAmidFewLargeEntries() throws Exception {
    FaultyDisk disk = new FaultyDisk();
    Manifest manifest = Manifest.ofNewFolder("byte-strings");
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    for (int i = 0; i < 10; i++) {
      model.put("key" + i, Optional.of("v".repeat(1 << 20)));
    }
    AtomicInteger asked = new AtomicInteger();
    SortedFiles files = new SortedFiles(disk, manifest);
    assertThat(
            files.write(
                0,
                manifest.logFrom(),
                EntryModel.stream(model),
                () -> asked.incrementAndGet() == 3))
        .isNull();
    assertThat(disk.list()).isEmpty();
  }

  private static Manifest.Sorted file(int number, long entries) {
    return new Manifest.Sorted(number, number - 1L, number, entries, "");
  }

  @Test
  void shouldMergeTheNewestWhereThereIsNoRoomForABase() {
    List<Manifest.Sorted> all = new ArrayList<>(List.of(file(1, 1_000)));
    for (int number = 2; number < 22; number++) {
      all.add(file(number, 100));
    }
    assertThat(Merger.next(all, false)).isEqualTo(all);
    assertThat(Merger.next(all, true)).isEqualTo(all.subList(13, 21));
    List<Manifest.Sorted> few = all.subList(0, 7);
    assertThat(Merger.next(few, true)).isEqualTo(few);
  }

  @Test
  void shouldOpenWhereTheManifestTakesNoFurtherFile() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    int files = fillManifest(disk);
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      assertThat(folder.manifest().sorted()).hasSize(files);
      assertThat(FolderScript.read(folder)).hasSize(files + 1);
      Log log = folder.begin();
      awaitFiles(folder, 1);
      while (log.hindrance().isPresent()) {
        Thread.onSpinWait();
      }
      put(log, 0);
    }
    try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
      assertThat(FolderScript.read(folder)).hasSize(files + 2);
    }
  }

  /** Makes a folder of as many sorted files as a manifest can name, and of one change more. */
  private static int fillManifest(Disk disk) throws IOException {
    Manifest manifest = Manifest.ofNewFolder("words");
    SortedFiles files = new SortedFiles(disk, manifest);
    List<Manifest.Sorted> made = new ArrayList<>();
    long to = manifest.logFrom();
    Manifest next = manifest;
    while (next.text().length() < 64 << 10) {
      next.store(disk);
      manifest = next;
      long from = made.isEmpty() ? 0 : to;
      to += RecordFormat.PAGE;
      made.add(sorted(files, made.size(), from, to));
      next = manifest.with(made, to, false);
    }
    RecordBuilder change = new RecordBuilder().putWord(-1, -1);
    try (LogSegment segment =
        LogSegment.create(disk, manifest.id(), manifest.logFrom(), LogOptions.SEGMENT_BYTES_MIN)) {
      segment.write(
          LogSegment.HEADER_BYTES,
          change,
          (int) change.bytes(),
          new RecordSum(),
          change.innerSum());
    }
    return manifest.sorted().size();
  }

  private static Manifest.Sorted sorted(SortedFiles files, int key, long from, long to)
      throws IOException {
    MemorySegment word = MemorySegment.ofArray(new byte[Long.BYTES]);
    word.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, key);
    try (NewSortedFile file = files.begin(from, to)) {
      file.writer().append(word, word);
      return file.finish();
    }
  }

  @Test
  void shouldGoOnWhereALoadRemovesWhatItIsToMerge() throws Exception {
    LogOptions options = new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);
    FaultyDisk disk = new FaultyDisk();
    OpeningDisk opening = new OpeningDisk(disk);
    for (int start = 0; start < 2; start++) {
      try (DataFolder folder = DataFolder.open(disk, "words", options, () -> {})) {
        if (start == 0) {
          Log log = folder.begin();
          for (int key = 0; key < KEYS; key++) {
            put(log, key);
          }
        }
      }
    }
    try (DataFolder folder = DataFolder.open(opening, "words", options, () -> {})) {
      assertThat(folder.manifest().sorted()).hasSizeGreaterThan(1);
      CountDownLatch loaded = new CountDownLatch(1);
      opening.afterOne(() -> {
        load(folder);
        loaded.countDown();
      });
      Log log = folder.begin();
      assertThat(loaded.await(20, TimeUnit.SECONDS)).isTrue();
      long base = folder.manifest().logFrom();
      for (int key = 0; key < KEYS; key++) {
        put(log, key);
      }
      assertThat(merging(folder, base)).succeedsWithin(Duration.ofSeconds(20));
    }
  }

  private static void load(DataFolder folder) {
    try (FolderLoad load = folder.load()) {
      load.append(1, 1);
      load.finish();
    }
  }

  /** Waits for a base that has more than the load. */
  private static FutureTask<Boolean> merging(DataFolder folder, long base) {
    FutureTask<Boolean> task =
        new FutureTask<>(() -> {
          while (folder.manifest().sorted().getFirst().to() <= base) {
            Thread.onSpinWait();
          }
          return true;
        });
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  /** A disk of which something is done right after the merger has opened a file. */
  private static final class OpeningDisk implements Disk {
    private final Disk disk;
    private final AtomicReference<Runnable> next = new AtomicReference<>(() -> {});

    OpeningDisk(Disk disk) {
      this.disk = disk;
    }

    void afterOne(Runnable action) {
      next.set(action);
    }

    @Override
    public DiskFile open(String name) throws IOException {
      DiskFile file = disk.open(name);
      if (Thread.currentThread().getName().equals("pando-log-merger")) {
        next.getAndSet(() -> {}).run();
      }
      return file;
    }

    @Override
    public List<String> list() throws IOException {
      return disk.list();
    }

    @Override
    public DiskFile create(String name) throws IOException {
      return disk.create(name);
    }

    @Override
    public long room() throws IOException {
      return disk.room();
    }

    @Override
    public void rename(String from, String to) throws IOException {
      disk.rename(from, to);
    }

    @Override
    public void remove(String name) throws IOException {
      disk.remove(name);
    }

    @Override
    public void force() throws IOException {
      disk.force();
    }
  }
}
