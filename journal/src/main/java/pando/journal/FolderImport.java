package pando.journal;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a data folder of entries that come in any order. Of entries with the same key the last one
 * counts. The folder is none before all have come. Not thread-safe.
 */
public final class FolderImport implements AutoCloseable {
  /*
   * Entries are gathered in memory. When it is full they are sorted into a file, a run. Of runs
   * about the same size eight become one, so a byte is written about once for each factor of eight.
   * At the end all become the base of the folder, and the manifest that names it comes last. Runs
   * are sorted files like others, whose places in the log are numbers of runs.
   */

  private static final int RUN_BYTES = 64 << 20;

  /** Gives entries. */
  @FunctionalInterface
  public interface Entries {
    /** Adds all entries to a folder. */
    void addTo(FolderImport folder) throws IOException;
  }

  private final SortedFiles files;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment memory;
  private final List<Manifest.Sorted> runs = new ArrayList<>();
  private SegmentSorter sorter;
  private long used;
  private int written;

  private FolderImport(SortedFiles files, int runBytes) {
    this.files = files;
    this.memory = arena.allocate(runBytes);
    this.sorter = new SegmentSorter(memory);
  }

  /**
   * Makes a folder. Its entries are on the disk when this returns.
   *
   * @param to folder that is not there, or has no files
   * @param kind of the entries, as in {@link DataFolder#open}
   * @param codecs their names, empty if there are none
   * @return the number of entries
   * @throws IllegalArgumentException if the folder has files
   * @throws DataFolderException if the system does not let this process write it
   */
  public static long make(Path to, String kind, String codecs, Entries entries) {
    Manifest empty = Manifest.ofNewFolder(kind, codecs);
    return FolderAccess.made(to, disk -> make(disk, empty, entries, RUN_BYTES));
  }

  /**
   * As {@link #make(Path, String, String, Entries)}.
   *
   * @param runBytes that are gathered in memory, more than the longest entry takes
   */
  static long make(Disk disk, Manifest empty, Entries entries, int runBytes) throws IOException {
    try (FolderImport made = new FolderImport(new SortedFiles(disk, empty), runBytes)) {
      entries.addTo(made);
      Manifest.Sorted base = made.base(empty.logFrom());
      empty.of(base).store(disk);
      made.removeRuns(made.runs);
      return base.entries();
    }
  }

  /**
   * Adds an entry. If there was one with its key, this one counts.
   *
   * @throws IllegalArgumentException if it is too long for a folder
   */
  public void add(MemorySegment key, MemorySegment value) throws IOException {
    SortedFileFormat.check(key.byteSize(), value.byteSize());
    long bytes = RecordBuilder.bytesOf(key.byteSize(), value.byteSize());
    if (used + bytes > memory.byteSize()) {
      writeRun();
    }
    long valueAt = used + key.byteSize();
    MemorySegment.copy(key, 0, memory, used, key.byteSize());
    MemorySegment.copy(value, 0, memory, valueAt, value.byteSize());
    sorter.add(used, (int) key.byteSize(), (int) value.byteSize());
    used += bytes;
  }

  private void writeRun() throws IOException {
    written++;
    runs.add(files.write(written, written + 1L, sorter.sorted()));
    sorter = new SegmentSorter(memory);
    used = 0;
    List<Manifest.Sorted> some = Merger.newest(runs);
    if (some != null) {
      merge(some);
    }
  }

  private void merge(List<Manifest.Sorted> some) throws IOException {
    Manifest.Sorted made =
        files.write(
            some.getFirst().from(), some.getLast().to(), files.read(some, List.of(), false));
    removeRuns(some);
    some.clear();
    runs.add(made);
  }

  private Manifest.Sorted base(long to) throws IOException {
    return files.write(0, to, files.read(runs, List.of(sorter.sorted()), false));
  }

  private void removeRuns(List<Manifest.Sorted> some) {
    for (Manifest.Sorted run : some) {
      files.remove(run);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
