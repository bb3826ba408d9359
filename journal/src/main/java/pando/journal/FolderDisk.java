package pando.journal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of a file system.
 *
 * @param folder that is there
 * @param isReadOnly whether no file is opened for writing
 */
record FolderDisk(Path folder, boolean isReadOnly) implements Disk {
  /** A folder whose files are read and written. */
  FolderDisk(Path folder) {
    this(folder, false);
  }

  /**
   * Makes a folder, if it is not there, and those that it is in. Their names are on the disk when
   * this returns the folder's real path.
   */
  static Path make(Path folder) throws IOException {
    Path absolute = folder.toAbsolutePath().normalize();
    Path parent = absolute.getParent();
    if (parent != null && Files.notExists(absolute)) {
      Path made = make(parent);
      Files.createDirectories(absolute);
      new FolderDisk(made).force();
    }
    return Files.createDirectories(absolute).toRealPath();
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> String.valueOf(file.getFileName())).toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new ChannelFile(
        FileChannel.open(
            folder.resolve(name),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING),
        FileChannel.MapMode.READ_WRITE);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    Path path = folder.resolve(name);
    return new ChannelFile(
        isReadOnly
            ? FileChannel.open(path, StandardOpenOption.READ)
            : FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE),
        isReadOnly ? FileChannel.MapMode.READ_ONLY : FileChannel.MapMode.READ_WRITE);
  }

  @Override
  public long room() throws IOException {
    return Files.getFileStore(folder).getUsableSpace();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(folder.resolve(from), folder.resolve(to), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void remove(String name) throws IOException {
    Files.deleteIfExists(folder.resolve(name));
  }

  @Override
  public boolean link(String name, Disk other) throws IOException {
    if (!(other instanceof FolderDisk to)) {
      return false;
    }
    try {
      Files.createLink(to.folder.resolve(name), folder.resolve(name));
      return true;
    } catch (NoSuchFileException | FileAlreadyExistsException e) {
      throw e;
    } catch (UnsupportedOperationException | FileSystemException e) {
      return false; // Another file system, one without links, or no rights to make one.
    }
  }

  @Override
  public void force() throws IOException {
    try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
      names.force(true);
    } catch (IOException e) {
      throw new ForceFailedException(
          "names are not forced: folder=%s, cause=%s".formatted(folder, e), e);
    }
  }

  @Override
  public String toString() {
    return folder.toString();
  }

  /** A file behind a channel, which stays open from the first access to the last. */
  private static final class ChannelFile implements DiskFile {
    private final FileChannel channel;
    private final FileChannel.MapMode mode;
    private final Arena arena = Arena.ofShared();

    ChannelFile(FileChannel channel, FileChannel.MapMode mode) {
      this.channel = channel;
      this.mode = mode;
    }

    @Override
    public long bytes() throws IOException {
      return channel.size();
    }

    @Override
    public int read(long at, ByteBuffer into) throws IOException {
      int count = 0;
      while (into.hasRemaining()) {
        int some = channel.read(into, at + count);
        if (some < 0) {
          break;
        }
        count += some;
      }
      return count;
    }

    @Override
    public void write(long at, ByteBuffer from) throws IOException {
      long next = at;
      while (from.hasRemaining()) {
        next += channel.write(from, next);
      }
    }

    @Override
    public MemorySegment map() throws IOException {
      return channel.map(mode, 0, channel.size(), arena);
    }

    @Override
    public void force() throws IOException {
      try {
        channel.force(false);
      } catch (IOException e) {
        throw new ForceFailedException("a file is not forced: " + e, e);
      }
    }

    @Override
    public void close() {
      if (arena.scope().isAlive()) {
        arena.close();
      }
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException("a file is not closed", e);
      }
    }
  }
}
