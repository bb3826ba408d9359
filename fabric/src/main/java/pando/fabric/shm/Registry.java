package pando.fabric.shm;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.EffectiveUser;
import pando.fabric.memory.ProcessLock;

/**
 * Where memory servers of one user on one machine publish how to reach them: a private directory
 * with these files.
 *
 * <pre>
 *   .lock       locked while files are made or deleted
 *   NAME        the entry, put in place whole
 *   NAME.new    the entry while it is written
 *   NAME.lock   empty; locked as long as the memory server lives
 * </pre>
 *
 * <p>A memory server deletes its files at its end, and those of all that died when it starts.
 *
 * <p>A user with write access to the directory can make a client map memory of any process of its
 * owner. So the directory must belong to the user alone and must not be a link to another.
 */
final class Registry {
  /** System property with the path of another directory. */
  static final String DIRECTORY_PROPERTY = "pando.shm.directory";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}");
  private static final String LOCK = ".lock";
  private static final long CHANGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);
  private static final long POLL_NANOS = 1_000_000;
  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rwx------");

  private final Path directory;

  private Registry(Path directory) {
    this.directory = directory;
  }

  /** Opens the user's registry, and creates the directory if there is none. */
  static Registry open() {
    Path directory = configuredDirectory();
    try {
      create(directory);
      checkPrivate(directory);
    } catch (IOException | UnsupportedOperationException e) {
      throw new RegistryException("directory of no use: directory=" + directory, e);
    }
    return new Registry(directory);
  }

  /** Reserves a name until the lock is closed or the process ends. */
  ProcessLock acquire(String name) {
    checkName(name);
    try (ProcessLock _ = lockForChange()) {
      deleteDead();
      ProcessLock lock =
          ProcessLock.tryAcquire(lockFile(name))
              .orElseThrow(() ->
                  new RegistryException(
                      "a memory server of this name runs already: name="
                          + name
                          + ", directory="
                          + directory));
      try {
        Files.deleteIfExists(entryFile(name));
        return lock;
      } catch (IOException | RuntimeException | Error e) {
        lock.close();
        throw e;
      }
    } catch (IOException e) {
      throw new RegistryException("cannot replace files: directory=" + directory, e);
    }
  }

  /** Deletes the files of a name that was acquired, and unlocks it. */
  void release(String name, ProcessLock lock) {
    if (Files.notExists(directory)) {
      lock.close();
      return;
    }
    try (lock;
        ProcessLock _ = lockForChange()) {
      delete(name);
    } catch (IOException e) {
      throw new RegistryException("cannot delete files: directory=" + directory, e);
    }
  }

  private ProcessLock lockForChange() {
    Path file = directory.resolve(LOCK);
    long start = System.nanoTime();
    Optional<ProcessLock> lock = ProcessLock.tryAcquire(file);
    while (lock.isEmpty()) {
      if (System.nanoTime() - start > CHANGE_NANOS_MAX) {
        throw new RegistryException(
            "another process keeps the registry locked: file="
                + file
                + ", waitedNanos="
                + CHANGE_NANOS_MAX);
      }
      LockSupport.parkNanos(POLL_NANOS);
      lock = ProcessLock.tryAcquire(file);
    }
    return lock.get();
  }

  /** Deletes the files that killed memory servers left behind, and nothing else. */
  private void deleteDead() throws IOException {
    try (DirectoryStream<Path> locks = Files.newDirectoryStream(directory, "?*" + LOCK)) {
      for (Path file : locks) {
        String text = file.getFileName().toString();
        String name = text.substring(0, text.length() - LOCK.length());
        if (NAME.matcher(name).matches() && isOurs(name) && !isRunning(name)) {
          delete(name);
        }
      }
    }
  }

  /**
   * Returns whether the files of a name are those of a memory server; the directory may be one that
   * also holds other files.
   */
  private boolean isOurs(String name) throws IOException {
    Path file = entryFile(name);
    if (!Files.isRegularFile(lockFile(name), LinkOption.NOFOLLOW_LINKS)
        || Files.size(lockFile(name)) > 0) {
      return false;
    }
    try {
      return Files.notExists(file, LinkOption.NOFOLLOW_LINKS)
          || RegistryEntry.parse(Files.readString(file)).number() >= 0;
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return false;
    }
  }

  private void delete(String name) throws IOException {
    Files.deleteIfExists(entryFile(name));
    Files.deleteIfExists(draftFile(name));
    Files.deleteIfExists(lockFile(name));
  }

  /** Publishes an entry under an acquired name. */
  void publish(String name, RegistryEntry entry) {
    Path file = entryFile(name);
    try {
      Files.writeString(draftFile(name), entry.toText());
      Files.move(draftFile(name), file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new RegistryException("cannot publish: file=" + file, e);
    }
  }

  /** Returns the entry of a memory server that runs. */
  RegistryEntry find(String name) {
    checkName(name);
    Path file = entryFile(name);
    try {
      RegistryEntry entry = RegistryEntry.parse(Files.readString(file));
      if (!isRunning(name)) {
        throw notRunning(name, null);
      }
      return entry;
    } catch (NoSuchFileException e) {
      throw notRunning(name, e);
    } catch (IOException | IllegalArgumentException e) {
      throw new RegistryException("unreadable entry: file=" + file, e);
    }
  }

  /** Returns whether the memory server of a name runs. */
  boolean isRunning(String name) {
    return ProcessLock.isHeld(lockFile(name));
  }

  private RegistryException notRunning(String name, @Nullable IOException cause) {
    String message =
        "no memory server of this name runs; `pando memory-server` starts one: name="
            + name
            + ", directory="
            + directory;
    return cause == null ? new RegistryException(message) : new RegistryException(message, cause);
  }

  private Path entryFile(String name) {
    return directory.resolve(name);
  }

  private Path draftFile(String name) {
    return directory.resolve(name + ".new");
  }

  private Path lockFile(String name) {
    return directory.resolve(name + LOCK);
  }

  private static Path configuredDirectory() {
    String configured = System.getProperty(DIRECTORY_PROPERTY);
    if (configured != null) {
      return Path.of(configured).toAbsolutePath();
    }
    String runtime = System.getenv("XDG_RUNTIME_DIR");
    if (runtime != null && Path.of(runtime).isAbsolute() && Files.isDirectory(Path.of(runtime))) {
      return Path.of(runtime, "pando");
    }
    String temporary = System.getProperty("java.io.tmpdir", "/tmp");
    return Path.of(temporary, "pando-" + EffectiveUser.id()).toAbsolutePath();
  }

  private static void create(Path directory) throws IOException {
    try {
      Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PRIVATE));
    } catch (FileAlreadyExistsException e) {
      // The caller checks it next.
    }
  }

  private static void checkPrivate(Path directory) throws IOException {
    boolean isDirectory = Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS);
    Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    Set<PosixFilePermission> permissions =
        Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
    if (!isDirectory || !owner.equals(EffectiveUser.id()) || !permissions.equals(PRIVATE)) {
      throw new RegistryException(
          "not a private directory of this user: directory="
              + directory
              + ", isDirectory="
              + isDirectory
              + ", owner="
              + owner
              + ", user="
              + EffectiveUser.id()
              + ", permissions="
              + PosixFilePermissions.toString(permissions)
              + ", required="
              + PosixFilePermissions.toString(PRIVATE));
    }
  }

  private static void checkName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "not a name for a memory server: name='" + name + "', required=" + NAME);
    }
  }
}
