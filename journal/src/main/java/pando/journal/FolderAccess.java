package pando.journal;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;

/** How tools open folders: those that are there, and those that they make. */
final class FolderAccess {
  /**
   * Is there while a folder is made. A process that is killed meanwhile leaves it there, so that
   * nobody takes the folder for a new one.
   */
  static final String UNFINISHED = "unfinished";

  /** Works with a folder. */
  @FunctionalInterface
  interface FolderWork<T> {
    T run(Disk disk) throws IOException;
  }

  private FolderAccess() {}

  /**
   * Returns a folder's files, to be read.
   *
   * @throws IllegalArgumentException if it is no data folder
   * @throws DamagedFolderException if its manifest is damaged
   * @throws DataFolderException if the system does not let this process read it
   */
  static Disk toRead(Path folder) {
    try {
      Disk disk = new FolderDisk(folder.toRealPath(), true);
      manifest(disk);
      return disk;
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("there is no such folder: folder=" + folder, e);
    } catch (NotDirectoryException e) {
      throw new IllegalArgumentException("it is no folder: folder=" + folder, e);
    } catch (IOException e) {
      throw failed(folder, e);
    }
  }

  /** Returns the manifest of a folder that has one. */
  static Manifest manifest(Disk disk) throws IOException {
    Manifest manifest = Manifest.load(disk);
    if (manifest == null) {
      throw new IllegalArgumentException(
          "it is no data folder, as it has no file %s: folder=%s%s"
              .formatted(Manifest.NAME, disk, advice(disk.list())));
    }
    return manifest;
  }

  /** Returns what to do about a folder with these files that is not empty, if that is known. */
  static String advice(List<String> names) {
    return names.contains(UNFINISHED) && !names.contains(Manifest.NAME)
        ? "; what fills it still runs, or was cut off: then remove the folder, and make it again"
        : "";
  }

  /**
   * Works with a data folder that nobody else may open meanwhile.
   *
   * @throws IllegalArgumentException if it is no data folder
   * @throws DataFolderException if it is in use, or the work fails
   */
  static <T> T locked(Path folder, boolean isReadOnly, FolderWork<T> work) {
    Disk _ = toRead(folder);
    try (FolderLock _ = FolderLock.acquire(folder.toRealPath())) {
      return work.run(new FolderDisk(folder.toRealPath(), isReadOnly));
    } catch (IOException e) {
      throw failed(folder, e);
    }
  }

  /**
   * Makes a folder that is not there, or takes one without files, for work that makes it a data
   * folder.
   *
   * @throws IllegalArgumentException if it has files
   * @throws DataFolderException if the work fails; what it has made is removed
   */
  static <T> T made(Path folder, FolderWork<T> work) {
    boolean isNew = Files.notExists(folder);
    try {
      Path path = FolderDisk.make(folder);
      checkIsEmpty(new FolderDisk(path)); // else the lock's files would come into it
      try (FolderLock _ = FolderLock.acquire(path)) {
        return made(new FolderDisk(path), work);
      } catch (Throwable e) {
        if (isNew) {
          removeFolder(path, e);
        }
        throw e;
      }
    } catch (IOException e) {
      throw failed(folder, e);
    }
  }

  private static void removeFolder(Path path, Throwable failure) {
    try {
      Files.deleteIfExists(path.resolve(FolderLock.NAME));
      Files.deleteIfExists(path.resolve(FolderLock.OWNER));
      Files.delete(path);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /** As {@link #made(Path, FolderWork)}. */
  static <T> T made(Disk disk, FolderWork<T> work) throws IOException {
    checkIsEmpty(disk);
    try {
      disk.create(UNFINISHED).close();
      disk.force();
      T made = work.run(disk);
      disk.remove(UNFINISHED);
      disk.force();
      return made;
    } catch (Throwable e) {
      clear(disk, e);
      throw e;
    }
  }

  private static void checkIsEmpty(Disk disk) throws IOException {
    List<String> names = disk.list();
    for (String name : names) {
      if (!FolderLock.isOwn(name)) {
        throw new IllegalArgumentException(
            "the folder is not empty: folder=%s, file=%s%s".formatted(disk, name, advice(names)));
      }
    }
  }

  private static void clear(Disk disk, Throwable failure) {
    try {
      disk.remove(Manifest.NAME);
      for (String name : disk.list()) {
        if (!FolderLock.isOwn(name)) {
          disk.remove(name);
        }
      }
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  static DataFolderException unreadable(Object folder, IOException cause) {
    return new DataFolderException(
        "the folder cannot be read: folder=%s, cause=%s".formatted(folder, cause), cause);
  }

  static DataFolderException failed(Path folder, IOException cause) {
    return new DataFolderException(
        switch (cause) {
          case AccessDeniedException e ->
              "this user has no right to use the folder: folder=%s, file=%s"
                  .formatted(folder, e.getMessage());
          case NotDirectoryException e ->
              "it is no folder: folder=%s, file=%s".formatted(folder, e.getMessage());
          default ->
              "the folder cannot be used: folder=%s, cause=%s%s"
                  .formatted(folder, cause, wayOut(cause));
        },
        cause);
  }

  /** Returns what to do about a full disk; nothing about another failure. */
  private static String wayOut(IOException cause) {
    return String.valueOf(cause.getMessage()).contains("No space left")
        ? "; make room on its disk"
        : "";
  }
}
