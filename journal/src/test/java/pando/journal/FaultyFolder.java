package pando.journal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/** A data folder on a {@link FaultyDisk}, for tests of other modules. Thread-safe. */
public final class FaultyFolder {
  private final FaultyDisk disk;

  /** Held while no force may begin. */
  private final ReentrantLock forces = new ReentrantLock(true);

  /** Makes an empty folder. */
  public FaultyFolder() {
    this(new FaultyDisk());
  }

  private FaultyFolder(FaultyDisk disk) {
    this.disk =
        disk.withHook((_, _) -> {
          if (Thread.currentThread().getName().equals("pando-log-syncer")) {
            awaitForces();
          }
        });
  }

  private void awaitForces() {
    forces.lock();
    try {
      // Forces may go on.
    } finally {
      forces.unlock();
    }
  }

  /** Opens the folder. */
  public DataFolder open(String kind, LogOptions options) throws IOException {
    return DataFolder.open(disk, kind, options, () -> {});
  }

  /** Has forces of the log wait from now on; called by the thread that lets them go on. */
  public void holdForces() {
    forces.lock();
  }

  /** Lets forces go on. */
  public void letForcesGo() {
    forces.unlock();
  }

  /** Has each force fail from now on. */
  public void failForces() {
    disk.failForces();
  }

  /** Has the disk take no more bytes. */
  public void fillUp() {
    disk.fillUp();
  }

  /** Lets all succeed again. */
  public void heal() {
    disk.heal();
  }

  /** Returns the folder as it is found after this process was killed now. */
  public FaultyFolder kill() {
    return new FaultyFolder(disk.kill());
  }

  /** Returns the folder as it is found after the power was lost now. */
  public FaultyFolder crash(RandomGenerator random) {
    return new FaultyFolder(disk.crash(random));
  }

  /** Returns how many records the log has, which is one segment. */
  public int records() throws IOException {
    return ends(disk.kill()).size();
  }

  /** Returns the folder as it is found after this process was killed when it had some records. */
  public FaultyFolder cut(int records) throws IOException {
    FaultyDisk killed = disk.kill();
    int end = records == 0 ? LogSegment.HEADER_BYTES : ends(killed).get(records - 1);
    DiskFile file = killed.open(segment(killed));
    try {
      MemorySegment memory = file.map();
      memory.asSlice(end).fill((byte) 0);
    } finally {
      file.close();
    }
    return new FaultyFolder(killed);
  }

  /** Returns where the records of the first segment end. */
  private static List<Integer> ends(FaultyDisk disk) throws IOException {
    Manifest manifest = Objects.requireNonNull(Manifest.load(disk));
    List<Integer> ends = new ArrayList<>();
    try (LogSegment segment = LogSegment.open(disk, segment(disk), manifest.id())) {
      RecordWalk walk = new RecordWalk(segment);
      while (walk.next()) {
        ends.add(walk.end());
      }
    }
    return ends;
  }

  private static String segment(FaultyDisk disk) {
    return disk.list().stream()
        .filter(name -> LogSegment.firstOf(name) >= 0)
        .findFirst()
        .orElseThrow();
  }

  /** Returns the entries, each byte a character. */
  public Map<String, String> entries(String kind) throws IOException {
    Map<String, String> all = new TreeMap<>();
    try (DataFolder folder = open(kind, LogOptions.defaults());
        EntryStream entries = folder.entries()) {
      while (entries.next()) {
        all.put(text(entries.key()), text(entries.value()));
      }
    }
    return all;
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), ISO_8859_1);
  }
}
