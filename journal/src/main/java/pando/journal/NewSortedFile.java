package pando.journal;

import java.io.IOException;
import java.util.UUID;
import pando.fabric.memory.Closing;

/** A sorted file that is being written. It has its name once it is on the disk. Not thread-safe. */
final class NewSortedFile implements AutoCloseable {
  private final Disk disk;
  private final int number;
  private final long from;
  private final long to;
  private final String name;
  private final SortedFileWriter writer;
  private boolean finished;

  /**
   * Begins a file.
   *
   * @param from place in the log where its changes begin, 0 for a base
   * @param to place in the log behind its changes
   */
  NewSortedFile(Disk disk, UUID id, int number, long from, long to) throws IOException {
    this.disk = disk;
    this.number = number;
    this.from = from;
    this.to = to;
    this.name = Manifest.Sorted.PREFIX + number;
    DiskFile file = disk.create(name + Manifest.NEW);
    try {
      this.writer = new SortedFileWriter(file, SortedFileHeader.ofNewFile(id, from, to));
    } catch (Throwable e) {
      Closing.after(e, file::close);
      throw e;
    }
  }

  SortedFileWriter writer() {
    return writer;
  }

  /** Ends the file. It is on the disk, under its name, when this returns. */
  Manifest.Sorted finish() throws IOException {
    SortedFileFooter footer = writer.finish();
    writer.close();
    disk.rename(name + Manifest.NEW, name);
    disk.force();
    finished = true;
    return new Manifest.Sorted(number, from, to, footer.entries(), footer.sha256());
  }

  /** Removes the file, unless it is finished. */
  @Override
  public void close() throws IOException {
    writer.close();
    if (!finished) {
      disk.remove(name + Manifest.NEW);
    }
  }
}
