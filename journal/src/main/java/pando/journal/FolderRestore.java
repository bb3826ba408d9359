package pando.journal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A new data folder that has the entries of another one, such as a backup. It gets an id of its
 * own, so files of the two are never taken for each other's.
 */
public final class FolderRestore {
  private FolderRestore() {}

  /**
   * Checks every byte of a folder, and makes another one of its entries, which are on the disk
   * then.
   *
   * @param to folder that is not there, or has no files
   * @return what was found in the first one, and is in the other one now
   * @throws IllegalArgumentException if there is no data folder, or the other one has files or is
   *     the same one
   * @throws DamagedFolderException if a byte is not as it was written
   * @throws DataFolderException if the first one is in use, or the system does not let this process
   *     read or write
   */
  public static FolderReport restore(Path from, Path to) {
    if (isSame(from, to)) {
      throw new IllegalArgumentException(
          "a folder cannot be restored onto itself: folder=%s; give another one that is not there"
              .formatted(to));
    }
    return FolderAccess.locked(
        from, true, disk -> FolderAccess.made(to, made -> restore(disk, made)));
  }

  private static boolean isSame(Path from, Path to) {
    try {
      return Files.isSameFile(from, to);
    } catch (IOException e) {
      return false; // One of them is not there, or is refused where it is used.
    }
  }

  /** As {@link #restore(Path, Path)}, to a disk without files. */
  static FolderReport restore(Disk from, Disk to) throws IOException {
    FolderReport report = FolderCheck.of(from);
    if (!report.isWhole()) {
      throw new DamagedFolderException(String.join("; ", report.problems()));
    }
    try (FolderReader reader = FolderReader.open(from, () -> {})) {
      Manifest empty = Manifest.ofNewFolder(reader.kind(), reader.codecs());
      SortedFiles files = new SortedFiles(to, empty);
      Manifest.Sorted base = files.write(0, empty.logFrom(), reader.entries());
      empty.of(base).store(to);
    }
    return report;
  }
}
