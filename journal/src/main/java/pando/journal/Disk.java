package pando.journal;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.List;

/**
 * The files of one folder. All work with files goes through this, so tests can lose what a crash
 * loses, and fail where a disk fails.
 *
 * <p>What was written to a file is safe once {@link DiskFile#force} has returned. New names, and
 * that old ones are gone, are safe once {@link #force} has returned.
 *
 * <p>Thread-safe. A thread that is interrupted in one of these methods, or calls one while it is
 * interrupted, may find a file closed: threads of callers must not come here while a log is open.
 */
interface Disk {
  /** Returns the names of all files, in no order. */
  List<String> list() throws IOException;

  /** Creates a file without bytes, and opens it. A file that has the name loses its bytes. */
  DiskFile create(String name) throws IOException;

  /**
   * Opens a file.
   *
   * @throws NoSuchFileException if there is none
   */
  DiskFile open(String name) throws IOException;

  /** Returns the number of a file's bytes. */
  default long bytes(String name) throws IOException {
    try (DiskFile file = open(name)) {
      return file.bytes();
    }
  }

  /** Returns how many bytes there is room for, as far as the system knows. */
  long room() throws IOException;

  /** Gives a file another name, in one step. A file that had this name is gone. */
  void rename(String from, String to) throws IOException;

  /** Removes a file, if it is there. */
  void remove(String name) throws IOException;

  /**
   * Gives a file the same name on another disk, too, if the two can share its bytes.
   *
   * @return whether they can
   * @throws NoSuchFileException if there is no such file
   */
  default boolean link(String name, Disk other) throws IOException {
    return false;
  }

  /**
   * Forces all names to the disk, as they are now.
   *
   * @throws ForceFailedException if the disk has not kept them
   */
  void force() throws IOException;

  /** Returns the folder's place, for messages. */
  @Override
  String toString();
}
