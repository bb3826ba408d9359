package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A disk on which nothing changes any more once a force has failed. Later files may build on bytes
 * that were lost: so if the force of one thread fails, another one cannot remove what is still
 * needed.
 */
final class FailStopDisk implements Disk {
  private final Disk disk;
  private final Object names = new Object();
  private @Nullable ForceFailedException failure;

  FailStopDisk(Disk disk) {
    this.disk = disk;
  }

  private synchronized void check() throws ForceFailedException {
    if (failure != null) {
      throw new ForceFailedException(
          "an earlier force has failed: " + failure.getMessage(), failure);
    }
  }

  /** A force of a file or of names. */
  private interface Force {
    void run() throws IOException;
  }

  /** Forces. If another force fails meanwhile, this one has failed, too. */
  private void force(Force force) throws IOException {
    check();
    try {
      force.run();
    } catch (ForceFailedException e) {
      fail(e);
      throw e;
    }
    check();
  }

  private synchronized void fail(ForceFailedException cause) {
    if (failure == null) {
      failure = cause;
    }
  }

  @Override
  public List<String> list() throws IOException {
    return disk.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    check();
    return new FailStopFile(disk.create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new FailStopFile(disk.open(name));
  }

  @Override
  public long room() throws IOException {
    return disk.room();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    check();
    disk.rename(from, to);
  }

  @Override
  public void remove(String name) throws IOException {
    check();
    disk.remove(name);
  }

  /** {@inheritDoc} One at a time, as all stand on the same names. */
  @Override
  public void force() throws IOException {
    synchronized (names) {
      force(disk::force);
    }
  }

  @Override
  public String toString() {
    return disk.toString();
  }

  private final class FailStopFile implements DiskFile {
    private final DiskFile file;

    FailStopFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public long bytes() throws IOException {
      return file.bytes();
    }

    @Override
    public int read(long at, ByteBuffer into) throws IOException {
      return file.read(at, into);
    }

    @Override
    public void write(long at, ByteBuffer from) throws IOException {
      file.write(at, from);
    }

    @Override
    public MemorySegment map() throws IOException {
      return file.map();
    }

    @Override
    public void force() throws IOException {
      FailStopDisk.this.force(file::force);
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
