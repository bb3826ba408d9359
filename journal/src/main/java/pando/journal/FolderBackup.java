package pando.journal;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a data folder, taken beside the process that has it open. It is the state at one
 * moment: all that was acknowledged before the backup began is in it, and of later changes those up
 * to one record of the log. It is a data folder like any other, and no cluster's: a cluster whose
 * folder was copied does not take the copy for the newest one.
 */
public final class FolderBackup {
  /*
   * The manifest says which files count. It is read, they are copied, and it is read again: if it
   * is still the same, none of them was removed or used again meanwhile, as that comes after a new
   * manifest. If it is another one, or a file was gone, all begins anew, except that copies of
   * sorted files stay if they are still named.
   *
   * A sorted file never changes, so it gets a second name. Segments do: each is copied up to its
   * last whole record, and the rest of the copy are zeros. LogTail reads first how far the log was
   * on the disk and then its records, so a log that grows meanwhile is not taken for damaged.
   *
   * The copy's own manifest comes last. Until then the folder is none.
   */

  /**
   * What was copied.
   *
   * @param linked sorted files that got a second name
   * @param copied sorted files and segments whose bytes were copied
   * @param copiedBytes how many these were
   * @param end place in the log up to which the backup has all changes
   */
  public record Report(int linked, int copied, long copiedBytes, long end) {}

  private final Disk from;
  private final Disk to;
  private final Duration most;

  /** Sorted files that the copy has, and how many bytes of them were copied: 0 of those linked. */
  private final Map<Manifest.Sorted, Long> sorted = new LinkedHashMap<>();

  /** Segments that the copy has, by their names, and how many bytes were copied. */
  private final Map<String, Long> segments = new LinkedHashMap<>();

  private long end;

  private FolderBackup(Disk from, Disk to, Duration most) {
    this.from = from;
    this.to = to;
    this.most = most;
  }

  /**
   * Copies a folder.
   *
   * @param to folder that is not there, or has no files
   * @param most how long to try again while the folder changes too fast
   * @throws IllegalArgumentException if there is no data folder, or the other one has files
   * @throws DamagedFolderException if the manifest or the log is damaged
   * @throws DataFolderException if the system does not let this process copy it, or it changed all
   *     the time
   */
  public static Report take(Path folder, Path to, Duration most) {
    Disk from = FolderAccess.toRead(folder);
    return FolderAccess.made(to, disk -> take(from, disk, most));
  }

  /** As {@link #take(Path, Path, Duration)}, to a disk without files. */
  static Report take(Disk from, Disk to, Duration most) throws IOException {
    return new FolderBackup(from, to, most).run();
  }

  private Report run() throws IOException {
    long deadline = System.nanoTime() + most.toNanos();
    Manifest manifest = FolderAccess.manifest(from);
    int attempts = 1;
    while (true) {
      Manifest next = copy(manifest);
      if (next == null) {
        break;
      }
      if (System.nanoTime() - deadline > 0) {
        throw new DataFolderException(
            ("the folder changed all the time while it was copied: folder=%s, seconds=%s,"
                    + " attempts=%s; give more time, or take the backup while less is written")
                .formatted(from, most.toSeconds(), attempts));
      }
      manifest = next;
      attempts++;
    }
    to.force();
    manifest.ofNoCluster().store(to);
    int linked = Collections.frequency(sorted.values(), 0L);
    int copied = sorted.size() - linked + segments.size();
    long copiedBytes =
        Stream.concat(sorted.values().stream(), segments.values().stream())
            .mapToLong(Long::longValue)
            .sum();
    return new Report(linked, copied, copiedBytes, end);
  }

  /** Copies what a manifest names; returns the one that has come meanwhile, if one has. */
  private @Nullable Manifest copy(Manifest manifest) throws IOException {
    try {
      removeWhatIsNotIn(manifest);
      copySorted(manifest);
      copySegments(manifest);
    } catch (NoSuchFileException | DamagedFolderException e) {
      Manifest next = FolderAccess.manifest(from);
      if (next.equals(manifest)) {
        throw e;
      }
      return next;
    }
    Manifest next = FolderAccess.manifest(from);
    return next.equals(manifest) ? null : next;
  }

  private void removeWhatIsNotIn(Manifest manifest) throws IOException {
    for (String name : segments.keySet()) {
      to.remove(name);
    }
    segments.clear();
    for (Manifest.Sorted file : sorted.keySet()) {
      if (!manifest.sorted().contains(file)) {
        to.remove(file.name());
      }
    }
    sorted.keySet().retainAll(manifest.sorted());
  }

  private void copySorted(Manifest manifest) throws IOException {
    for (Manifest.Sorted file : manifest.sorted()) {
      if (!sorted.containsKey(file)) {
        boolean isLinked = from.link(file.name(), to);
        sorted.put(file, isLinked ? 0 : FileCopy.copy(from, file.name(), to));
      }
    }
  }

  private void copySegments(Manifest manifest) throws IOException {
    try (LogTail tail = LogTail.view(from, manifest)) {
      for (LogTail.Part part : tail.parts()) {
        String name = part.segment().name();
        FileCopy.copyStart(from, name, part.end(), to);
        segments.put(name, (long) part.end());
      }
      end = tail.end();
    }
  }
}
