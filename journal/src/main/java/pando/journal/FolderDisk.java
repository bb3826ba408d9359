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
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
   * this returns the folder's real path. Links and {@code ..} lead where the system has them lead.
   */
  static Path make(Path folder) throws IOException {
    Path absolute = folder.toAbsolutePath();
    Path parent = absolute.getParent();
    if (parent == null || Files.isDirectory(absolute)) {
      return absolute.toRealPath();
    }
    Path in = make(parent);
    Path made = in.resolve(absolute.getFileName());
    if (!Files.isDirectory(made)) {
      try {
        Files.createDirectories(made);
      } catch (FileAlreadyExistsException e) {
        throw new NotDirectoryException(made.toString());
      } catch (NoSuchFileException e) { // as in /proc
        throw new FileSystemException(made.toString(), null, "no folder can be made there");
      }
      new FolderDisk(in).force();
    }
    return made.toRealPath();
  }

  /** Checks that a file is no symbolic link: it might lead to what is not of the folder. */
  static void checkNoLink(Path file) throws IOException {
    if (Files.isSymbolicLink(file)) {
      throw new FileSystemException(file.toString(), null, "it is a symbolic link");
    }
  }

  /** Opens a file that is no symbolic link. */
  private FileChannel channel(String name, Set<StandardOpenOption> options) throws IOException {
    Path file = folder.resolve(name);
    checkNoLink(file);
    Set<OpenOption> all = new HashSet<>(options);
    all.add(LinkOption.NOFOLLOW_LINKS);
    return FileChannel.open(file, all);
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
        channel(
            name,
            EnumSet.of(
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING)),
        FileChannel.MapMode.READ_WRITE);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new ChannelFile(
        channel(
            name,
            isReadOnly
                ? EnumSet.of(StandardOpenOption.READ)
                : EnumSet.of(StandardOpenOption.READ, StandardOpenOption.WRITE)),
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
    checkNoLink(folder.resolve(name));
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
