package pando.journal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Sets the files of a data folder aside, as the entries of another one replace its entries. They
 * stay in a folder in it, until a person removes that. The data folder may be damaged.
 */
public final class FolderReplacement {
  /*
   * The files go one after the other into a folder whose name says that not all are there. Then it
   * gets its own name, and the data folder may be made anew. A data folder of which a part has gone
   * is refused, as it has files and no manifest, or lacks what its manifest names.
   */

  private static final String PREFIX = "replaced-by-";

  private FolderReplacement() {}

  /** Returns whether a name is that of a folder of files that were set aside. */
  static boolean isSetAside(String name) {
    return name.startsWith(PREFIX) && !name.endsWith(Manifest.NEW);
  }

  /**
   * Sets the files aside, so that the folder is empty; makes it if it is not there.
   *
   * @param by names what replaces them; does nothing if they were set aside for that before
   * @return where they are now; empty if nothing was set aside
   * @throws DataFolderException if it is in use, or the system does not let this process change it
   */
  public static Optional<Path> setAside(Path folder, UUID by) {
    try {
      Path made = FolderDisk.make(folder);
      try (FolderLock _ = FolderLock.acquire(made)) {
        return setAside(new FolderDisk(made), PREFIX + by);
      }
    } catch (IOException e) {
      throw FolderAccess.failed(folder, e);
    }
  }

  private static Optional<Path> setAside(FolderDisk disk, String kept) throws IOException {
    String begun = kept + Manifest.NEW;
    List<String> names = disk.list();
    List<String> files =
        names.stream()
            .filter(name -> !FolderLock.isOwn(name) && !isSetAside(name) && !name.equals(begun))
            .toList();
    if (names.contains(kept) || (files.isEmpty() && !names.contains(begun))) {
      return Optional.empty();
    }
    Path made = FolderDisk.make(disk.folder().resolve(begun));
    for (String file : files) {
      disk.rename(file, Path.of(begun, file).toString());
    }
    new FolderDisk(made).force();
    disk.force();
    disk.rename(begun, kept);
    disk.force();
    return Optional.of(disk.folder().resolve(kept));
  }
}
