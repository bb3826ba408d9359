package pando.journal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder of a file system.
 *
 * @param folder that is there
 */
record FolderDisk(Path folder) implements Disk {
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
            StandardOpenOption.TRUNCATE_EXISTING));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new ChannelFile(
        FileChannel.open(folder.resolve(name), StandardOpenOption.READ, StandardOpenOption.WRITE));
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
    private final Arena arena = Arena.ofShared();

    ChannelFile(FileChannel channel) {
      this.channel = channel;
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
      return channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
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
