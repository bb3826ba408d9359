package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
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
