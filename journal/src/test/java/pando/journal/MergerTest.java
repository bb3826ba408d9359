package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
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
      next = manifest.with(made, to);
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
