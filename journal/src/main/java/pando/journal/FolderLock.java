package pando.journal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import pando.fabric.memory.ProcessLock;

/** The lock of a folder, which one process has at a time. However a process ends, it is free. */
final class FolderLock implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("pando.journal");

  static final String NAME = "lock";

  /** The file that says which process has the lock. */
  static final String OWNER = "owner";

  private static final int NAME_MAX = 20;

  private final ProcessLock lock;

  private FolderLock(ProcessLock lock) {
    this.lock = lock;
  }

  /** Returns whether a name is that of a file of this lock. */
  static boolean isOwn(String name) {
    return name.equals(NAME) || name.equals(OWNER);
  }

  /**
   * Locks a folder. The lock is that of the file, whatever way leads to it.
   *
   * @throws DataFolderException if another process, or another part of this one, has it open
   * @throws AccessDeniedException if this process has no right to lock it
   */
  static FolderLock acquire(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    FolderDisk.checkNoLink(file);
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new AccessDeniedException(file.toString());
    }
    Optional<ProcessLock> lock = ProcessLock.tryAcquire(file);
    Path owner = folder.resolve(OWNER);
    if (lock.isEmpty()) {
      throw new DataFolderException(
          ("the folder is in use: folder=%s, process=%s;"
                  + " end that process first, as only a backup is taken beside it")
              .formatted(folder, nameIn(owner)));
    }
    writeName(owner);
    return new FolderLock(lock.get());
  }

  private static String nameIn(Path owner) {
    try (InputStream file = Files.newInputStream(owner, LinkOption.NOFOLLOW_LINKS)) {
      String name = new String(file.readNBytes(NAME_MAX), US_ASCII).strip();
      return name.matches("[0-9]+") ? name : "unknown"; // It may be anybody's file.
    } catch (IOException e) {
      return "unknown"; // It is for this message alone.
    }
  }

  /** Says which process has the lock, unless the disk has no room for that. */
  private static void writeName(Path owner) {
    try {
      Files.writeString(
          owner,
          ProcessHandle.current().pid() + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.WRITE,
          StandardOpenOption.TRUNCATE_EXISTING,
          LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "others are not told who has the folder: " + owner, e);
    }
  }

  @Override
  public void close() {
    lock.close();
  }
}
