package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Verifies every byte of a data folder: its manifest, its sorted files with their SHA-256, and all
 * records of its log. Nothing is opened for writing.
 */
public final class FolderCheck {
  private final Disk disk;
  private final Manifest manifest;
  private final List<String> problems = new ArrayList<>();
  private OptionalLong cutAt = OptionalLong.empty();

  private FolderCheck(Disk disk, Manifest manifest) {
    this.disk = disk;
    this.manifest = manifest;
  }

  /**
   * Checks a folder. Nobody else may open it meanwhile.
   *
   * @throws IllegalArgumentException if it is no data folder
   * @throws DamagedFolderException if its manifest is damaged: without it nothing is known of the
   *     rest
   * @throws DataFolderException if it is in use, or the system does not let this process use it
   */
  public static FolderReport of(Path folder) {
    return FolderAccess.locked(folder, true, FolderCheck::of);
  }

  /** As {@link #of(Path)}. */
  static FolderReport of(Disk disk) throws IOException {
    return new FolderCheck(disk, FolderAccess.manifest(disk)).run();
  }

  private FolderReport run() throws IOException {
    checkSortedFiles();
    checkLog();
    return problems.isEmpty() ? whole() : report(0, 0, 0, false, 0);
  }

  private void checkSortedFiles() {
    SortedFiles files = new SortedFiles(disk, manifest);
    for (Manifest.Sorted named : manifest.sorted()) {
      try (SortedFile file = files.open(named)) {
        file.verify();
      } catch (DamagedFolderException e) {
        problems.add(e.getMessage());
      } catch (IOException e) {
        problems.add(
            "a sorted file cannot be read: file=%s, folder=%s, cause=%s"
                .formatted(named.name(), disk, e));
      }
    }
  }

  private void checkLog() {
    try {
      LogTail.view(disk, manifest).close();
    } catch (DamagedFolderException e) {
      problems.add(e.getMessage());
      cutAt = e.cutAt();
    } catch (IOException | InternalError e) { // The latter: a page of a mapping cannot be read.
      problems.add("the log cannot be read: folder=%s, cause=%s".formatted(disk, e));
    }
  }

  private FolderReport whole() throws IOException {
    try (FolderReader reader = FolderReader.open(disk, () -> {})) {
      LogTail tail = reader.tail();
      RecordCount records = new RecordCount();
      reader.records(records);
      long entries = 0;
      try (EntryStream all = reader.entries()) {
        while (all.next()) {
          entries++;
        }
      }
      return report(entries, records.changes, tail.end(), tail.isClosed(), tail.recordsBehind());
    }
  }

  private FolderReport report(
      long entries, long records, long end, boolean isClosed, int recordsBehind)
      throws IOException {
    int segments = 0;
    long bytes = 0;
    for (String name : disk.list()) {
      boolean isSegment = LogSegment.firstOf(name) >= manifest.logFrom();
      segments += isSegment ? 1 : 0;
      boolean counts =
          isSegment
              || name.equals(Manifest.NAME)
              || manifest.sorted().stream().anyMatch(sorted -> sorted.name().equals(name));
      bytes += counts ? disk.bytes(name) : 0;
    }
    return new FolderReport(
        manifest.kind(),
        manifest.codecs(),
        manifest.cluster(),
        manifest.generation(),
        manifest.sorted().size(),
        segments,
        bytes,
        entries,
        records,
        end,
        isClosed,
        recordsBehind,
        problems,
        cutAt);
  }

  /** Counts changes. */
  private static final class RecordCount implements RecordVisitor {
    private long changes;

    @Override
    public void visit(long place, Kind kind, MemorySegment key, MemorySegment value) {
      changes += kind == Kind.PUT || kind == Kind.REMOVE ? 1 : 0;
    }
  }
}
