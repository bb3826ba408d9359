package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/** The sorted files of a folder: writes new ones, and reads them. Thread-safe. */
final class SortedFiles {
  private static final System.Logger LOG = System.getLogger("pando.journal");

  /** So much work is done before it is asked whether to stop: bytes, and some for each entry. */
  private static final int STOP_EVERY = 256 << 10;

  private static final int ENTRY_WORK = 64;

  private final Disk disk;
  private final UUID id;
  private final AtomicInteger lastNumber;
  private final LongAdder entriesRead = new LongAdder();

  SortedFiles(Disk disk, Manifest manifest) {
    this.disk = disk;
    this.id = manifest.id();
    this.lastNumber = new AtomicInteger(manifest.lastNumber());
  }

  /**
   * Writes a file of entries, which is on the disk then; returns {@code null} if it was stopped.
   *
   * @param from place in the log where its changes begin; where that is 0, removals are left out
   * @param to place in the log behind its changes
   * @param entries which are closed
   * @param stops asked from time to time whether to stop
   */
  Manifest.@Nullable Sorted write(long from, long to, EntryStream entries, BooleanSupplier stops)
      throws IOException {
    try (entries;
        NewSortedFile made = begin(from, to)) {
      return append(entries, from != 0, made.writer(), stops) ? made.finish() : null;
    }
  }

  /** As {@link #write(long, long, EntryStream, BooleanSupplier)}, of all entries. */
  Manifest.Sorted write(long from, long to, EntryStream entries) throws IOException {
    try (entries;
        NewSortedFile made = begin(from, to)) {
      append(entries, from != 0, made.writer(), () -> false);
      return made.finish();
    }
  }

  /** Begins a file, as {@link #write} does. */
  NewSortedFile begin(long from, long to) throws IOException {
    return new NewSortedFile(disk, id, lastNumber.incrementAndGet(), from, to);
  }

  /** Appends entries; returns {@code false} if it was stopped. */
  private static boolean append(
      EntryStream entries, boolean withRemovals, SortedFileWriter writer, BooleanSupplier stops)
      throws IOException {
    long work = 0;
    while (entries.next()) {
      MemorySegment key = entries.key();
      work += ENTRY_WORK + key.byteSize();
      if (!entries.isRemoved()) {
        MemorySegment value = entries.value();
        work += value.byteSize();
        writer.append(key, value);
      } else if (withRemovals) {
        writer.appendRemoved(key);
      }
      if (work >= STOP_EVERY) {
        if (stops.getAsBoolean()) {
          return false;
        }
        work = 0;
      }
    }
    return true;
  }

  /**
   * Returns all entries of files as one stream.
   *
   * @param files oldest first
   * @param later what is newer than the files, oldest first
   * @param withRemovals whether removals are entries
   * @throws DamagedFolderException if a file is missing or damaged
   */
  EntryStream read(List<Manifest.Sorted> files, List<EntryStream> later, boolean withRemovals)
      throws IOException {
    List<EntryStream> streams = new ArrayList<>();
    try {
      for (Manifest.Sorted file : files) {
        streams.add(open(file).entries(entriesRead));
      }
      streams.addAll(later);
      return new MergedEntries(streams, withRemovals);
    } catch (Throwable e) {
      Closing.after(
          e, streams.stream().<Runnable>map(each -> each::close).toArray(Runnable[]::new));
      throw e;
    }
  }

  /** Returns how many entries of files {@link #read} has read in all. */
  long entriesRead() {
    return entriesRead.sum();
  }

  /** Opens a file, and checks that it is the one that the manifest means. */
  SortedFile open(Manifest.Sorted named) throws IOException {
    if (!disk.list().contains(named.name())) {
      throw new DamagedFolderException(
          "a sorted file is missing: file=%s, folder=%s".formatted(named.name(), disk));
    }
    SortedFile file = SortedFile.open(disk.open(named.name()), disk + "/" + named.name());
    SortedFileHeader header = file.header();
    if (!header.isOf(id, named.from(), named.to())
        || !file.footer().sha256().equals(named.sha256())) {
      file.close();
      throw new DamagedFolderException(
          ("a sorted file is not the one that the manifest names: file=%s, folder=%s, header=%s,"
                  + " sha256=%s, manifest=%s")
              .formatted(named.name(), disk, header, file.footer().sha256(), named));
    }
    return file;
  }

  /**
   * Checks that the disk has room for some files more.
   *
   * @param some whose bytes are needed
   * @param spare bytes that are to be left then
   * @throws IOException if it has not
   */
  void checkRoom(List<Manifest.Sorted> some, long spare) throws IOException {
    long bytes = 0;
    for (Manifest.Sorted file : some) {
      bytes += disk.bytes(file.name());
    }
    long room = disk.room();
    if (room < bytes + spare) {
      throw new IOException(
          "the disk has no room to merge sorted files: files=%s, bytes=%s, spare=%s, room=%s"
              .formatted(some.size(), bytes, spare, room));
    }
  }

  /** Removes a file that the manifest does not name; where that fails, the next start does it. */
  void remove(Manifest.Sorted file) {
    try {
      disk.remove(file.name());
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "the next start removes it: " + file.name(), e);
    }
  }
}
