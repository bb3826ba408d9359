package pando.journal;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import pando.fabric.memory.ProcessLock;

/** The lock of a folder, which one process has at a time. It ends with the process, however. */
final class FolderLock implements AutoCloseable {
  static final String NAME = "lock";

  /** The file that says which process has the lock. */
  static final String OWNER = "owner";

  private final ProcessLock lock;

  private FolderLock(ProcessLock lock) {
    this.lock = lock;
  }

  /** Returns whether a name is that of a file of this lock. */
  static boolean isOwn(String name) {
    return name.equals(NAME) || name.equals(OWNER);
  }

  /**
   * Locks a folder.
   *
   * @throws DataFolderException if another process, or another part of this one, has it open
   * @throws AccessDeniedException if this process has no right to lock it
   */
  static FolderLock acquire(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new AccessDeniedException(file.toString());
    }
    Optional<ProcessLock> lock = ProcessLock.tryAcquire(file);
    Path owner = folder.resolve(OWNER);
    if (lock.isEmpty()) {
      String process = Files.exists(owner) ? Files.readString(owner).strip() : "unknown";
      throw new DataFolderException(
          ("the folder is in use: folder=%s, process=%s;"
                  + " end that process first, as only a backup is taken beside it")
              .formatted(folder, process));
    }
    FolderLock made = new FolderLock(lock.get());
    try {
      Files.writeString(owner, ProcessHandle.current().pid() + "\n");
      return made;
    } catch (Throwable e) {
      made.close();
      throw e;
    }
  }

  @Override
  public void close() {
    lock.close();
  }
}
