package pando.journal;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * A folder that keeps all changes of an index. A program uses it in this order:
 *
 * <ol>
 *   <li>{@link #open} finds what was kept, and checks the log.
 *   <li>{@link #entries} returns all of it, in ascending order, for a new index.
 *   <li>{@link #begin} starts the {@link Log}, to which each change is appended from then on.
 *   <li>{@link #close}.
 * </ol>
 *
 * <p>A process that is killed leaves the folder as it is, and {@link #open} finds all again. What
 * lies in the folder is drawn in {@code Manifest}, {@code LogSegment}, {@code RecordFormat} and
 * {@code SortedFileFormat}.
 *
 * <p>Thread-safe, but {@link #entries} must be read to its end before {@link #begin}.
 */
public final class DataFolder implements AutoCloseable {
  /** In place of the id of a cluster: there is none. */
  public static final UUID NO_CLUSTER = new UUID(0, 0);

  private static final System.Logger LOG = System.getLogger("pando.journal");

  private final Disk disk;
  private final Runnable unlock;
  private final SortedFiles files;
  private final Log log;
  private final Merger merger;

  /** Guards the manifest, in memory and in the folder. */
  private final Object lock = new Object();

  /** Held while the folder is closed, so that a second call waits for the first. */
  private final Object closing = new Object();

  private Manifest manifest;

  /** What was found in the log, until it is in sorted files. */
  private @Nullable LogTail tail;

  private DataFolder(
      Disk disk, LogOptions options, Runnable unlock, Manifest manifest, LogTail tail) {
    this.disk = disk;
    this.unlock = unlock;
    this.manifest = manifest;
    this.tail = tail;
    this.files = new SortedFiles(disk, manifest);
    this.log = new Log(disk, manifest.id(), tail.behind(), options, new Owner());
    this.merger = new Merger(this, files, options.segmentBytes());
  }

  /**
   * Opens a folder, and makes it if it is not there.
   *
   * @param kind of the index: entries of another kind mean something else
   * @throws IllegalArgumentException if it is of another kind, or has other files and is no data
   *     folder
   * @throws DamagedFolderException if a file is damaged, or a newer Pando wrote it
   * @throws DataFolderException if it is in use, or the system does not let this process use it
   */
  public static DataFolder open(Path folder, String kind, LogOptions options) {
    try {
      Path made = FolderDisk.make(folder);
      checkHasNoOthers(new FolderDisk(made)); // else the lock's files would come into it
      FolderLock lock = FolderLock.acquire(made);
      try {
        return open(new FolderDisk(made), kind, options, lock::close);
      } catch (Throwable e) {
        Closing.after(e, lock::close);
        throw e;
      }
    } catch (IOException e) {
      throw FolderAccess.failed(folder, e);
    }
  }

  /**
   * Returns the kind of a folder's entries; empty if there is no data folder yet.
   *
   * @throws DamagedFolderException if its manifest is damaged
   */
  public static Optional<String> kindOf(Path folder) {
    try {
      Manifest found = Files.isDirectory(folder) ? Manifest.load(new FolderDisk(folder)) : null;
      return Optional.ofNullable(found).map(Manifest::kind);
    } catch (IOException e) {
      throw FolderAccess.unreadable(folder, e);
    }
  }

  /** As {@link #open(Path, String, LogOptions)}; {@code unlock} is run at its end. */
  static DataFolder open(Disk given, String kind, LogOptions options, Runnable unlock)
      throws IOException {
    Disk disk = new FailStopDisk(given);
    Manifest found = Manifest.load(disk);
    Manifest manifest = found == null ? create(disk, kind) : found;
    if (!manifest.kind().equals(kind)) {
      throw new IllegalArgumentException(
          "the folder has another kind of entries: folder=%s, kind=%s, expected=%s"
              .formatted(disk, manifest.kind(), kind));
    }
    removeLeftovers(disk, manifest);
    LogTail tail = LogTail.open(disk, manifest);
    Manifest now = tail.saysClosed() ? manifest : manifest.cut();
    DataFolder opened = new DataFolder(disk, options, unlock, now, tail);
    int lost = tail.recordsBehind();
    if (lost > 0) {
      LOG.log(
          Level.WARNING,
          "a crash has cut the log off, and what is behind is lost: folder={0}, place={1}, whole"
              + " records behind={2}",
          disk,
          Long.toHexString(tail.end()),
          lost);
    }
    try {
      if (!now.equals(manifest)) {
        storeIfThereIsRoom(disk, now);
      }
      opened.checkFiles();
      opened.sortTailIfThereIsRoom();
      return opened;
    } catch (Throwable e) {
      Closing.after(e, opened::closeTail);
      throw e;
    }
  }

  /** If the disk is full, the next start finds out again what it says. */
  private static void storeIfThereIsRoom(Disk disk, Manifest manifest) throws IOException {
    try {
      manifest.store(disk);
    } catch (ForceFailedException e) {
      throw e;
    } catch (IOException e) {
      LOG.log(Level.WARNING, "the manifest cannot be written yet: folder={0}, cause={1}", disk, e);
    }
  }

  private static Manifest create(Disk disk, String kind) throws IOException {
    checkHasNoOthers(disk);
    Manifest made = Manifest.ofNewFolder(kind);
    made.store(disk);
    return made;
  }

  /** Checks that a folder is a data folder, or may become one. */
  private static void checkHasNoOthers(Disk disk) throws IOException {
    List<String> names = disk.list();
    for (String name : names) {
      boolean isOfOthers =
          !FolderLock.isOwn(name) && !isLeftover(name) && !FolderReplacement.isSetAside(name);
      if (isOfOthers && !names.contains(Manifest.NAME)) {
        throw new IllegalArgumentException(
            "the folder has files, but no manifest: folder=%s, file=%s%s"
                .formatted(disk, name, FolderAccess.advice(names)));
      }
    }
  }

  private static boolean isLeftover(String name) {
    boolean isOurs =
        name.startsWith(Manifest.NAME)
            || name.startsWith(Manifest.Sorted.PREFIX)
            || name.startsWith(LogSegment.PREFIX);
    return isOurs && name.endsWith(Manifest.NEW);
  }

  private static void removeLeftovers(Disk disk, Manifest manifest) throws IOException {
    List<String> named = manifest.sorted().stream().map(Manifest.Sorted::name).toList();
    for (String name : disk.list()) {
      long first = LogSegment.firstOf(name);
      boolean isSorted = Manifest.Sorted.isName(name) && !named.contains(name);
      if (isLeftover(name) || isSorted || (first >= 0 && first < manifest.logFrom())) {
        disk.remove(name);
      }
    }
  }

  /** Checks that all sorted files are there, and are those that the manifest names. */
  private void checkFiles() throws IOException {
    for (Manifest.Sorted file : manifest().sorted()) {
      files.open(file).close();
    }
  }

  /** If the disk is full, entries can be read anyway, and the log tries again. */
  private void sortTailIfThereIsRoom() throws IOException {
    try {
      sortTail();
    } catch (ForceFailedException e) {
      throw e;
    } catch (IOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the log cannot be sorted yet: folder={0}, cause={1}",
          disk,
          e);
    }
  }

  /** Makes what was found in the log independent of its segments, and removes them. */
  private void sortTail() throws IOException {
    LogTail found = tail;
    if (found == null) {
      return;
    }
    List<LogTail.Part> parts = found.parts();
    for (int i = 0; i < parts.size(); i++) {
      LogTail.Part part = parts.get(i);
      boolean isLast = i == parts.size() - 1;
      long to = isLast ? found.behind() : part.segment().behind();
      sort(part.segment(), part.end(), to, !isLast);
    }
    found.remove();
    tail = null;
  }

  /**
   * Writes a sorted file of a segment, and enters it into the manifest.
   *
   * @param end place in the segment behind its records
   * @param to place in the log where the next segment begins
   * @param hasNext whether it is there
   */
  private void sort(LogSegment segment, int end, long to, boolean hasNext) throws IOException {
    Manifest before = manifest();
    if (to <= before.logFrom()) {
      return;
    }
    SegmentSorter entries = RecordWalk.changes(segment, end);
    Manifest.Sorted made =
        entries.isEmpty() ? null : files.write(before.sortedTo(), to, entries.sorted());
    boolean isNamed = false;
    try {
      isNamed = change(its -> its.sortedTo(to, made, hasNext)).logFrom() < to;
    } finally {
      if (made != null && !isNamed) {
        files.remove(made);
      }
    }
    merger.look();
  }

  /**
   * Replaces some sorted files by one that has all their entries.
   *
   * @return whether all were still there
   */
  boolean replace(List<Manifest.Sorted> some, Manifest.Sorted by) throws IOException {
    return change(its -> its.merged(some, by)).indexOf(some) >= 0;
  }

  /** Changes the manifest; returns the one that was there before. */
  private Manifest change(UnaryOperator<Manifest> change) throws IOException {
    synchronized (lock) {
      Manifest before = manifest;
      Manifest next = change.apply(before);
      if (!next.equals(before)) {
        next.store(disk);
        manifest = next;
      }
      return before;
    }
  }

  Manifest manifest() {
    synchronized (lock) {
      return manifest;
    }
  }

  /** Returns the kind of its entries. */
  public String kind() {
    return manifest().kind();
  }

  /** Returns which generation of a cluster has its entries; 0 if none has. */
  public long generation() {
    return manifest().generation();
  }

  /**
   * Returns whether the generation's log was not closed in order: the folder may lack what was not
   * forced to the disk.
   */
  public boolean isCut() {
    return manifest().isCut();
  }

  /** Returns the id of the cluster that has its entries; {@link #NO_CLUSTER} if none has. */
  public UUID cluster() {
    return manifest().cluster();
  }

  /** Keeps which generation of a cluster has its entries. */
  public void setGeneration(UUID cluster, long generation) {
    store(its -> its.withGeneration(cluster, generation));
  }

  /** Returns the names of the codecs that {@link #setCodecs} has set; empty if none has. */
  public String codecs() {
    return manifest().codecs();
  }

  /**
   * Keeps the names of the codecs of keys and values.
   *
   * @param names without line breaks
   */
  public void setCodecs(String names) {
    store(its -> its.withCodecs(names));
  }

  private void store(UnaryOperator<Manifest> change) {
    try {
      CallersWork.run(() -> change(change));
    } catch (IOException e) {
      throw new DataFolderException(
          "the manifest cannot be written: folder=%s, cause=%s".formatted(disk, e), e);
    }
  }

  /**
   * Returns all entries that are kept, without removals. To be called and closed before {@link
   * #begin}.
   *
   * @throws DamagedFolderException if a file is damaged; also from {@link EntryStream#next}
   */
  public EntryStream entries() {
    try {
      Manifest now = manifest();
      LogTail unsorted = tail;
      List<EntryStream> later = unsorted == null ? List.of() : unsorted.entries(now.logFrom());
      return files.read(now.sorted(), later, false);
    } catch (IOException e) {
      throw FolderAccess.unreadable(disk, e);
    }
  }

  /** Returns how many sorted files there are. */
  public int sortedFiles() {
    return manifest().sorted().size();
  }

  /** Returns how many entries and removals all sorted files have together. */
  public long sortedEntries() {
    return manifest().sorted().stream().mapToLong(Manifest.Sorted::entries).sum();
  }

  /**
   * Returns how many of the {@link #sortedEntries} were read so far: their share says how far an
   * index is loaded. Of no meaning after {@link #begin}.
   */
  public long entriesRead() {
    return files.entriesRead();
  }

  /** Starts the log, once the index has all {@link #entries}. */
  public Log begin() {
    log.start();
    merger.start();
    return log;
  }

  /** Returns the log, to which changes are appended after {@link #begin}. */
  public Log log() {
    return log;
  }

  /** Merges all sorted files into one in the background, once {@link #begin} was called. */
  public void merge() {
    merger.mergeAll();
  }

  /** Returns how many merges have failed: the disk had no room, or a file was damaged. */
  public long mergeFailures() {
    return merger.failures();
  }

  /**
   * Returns what somebody has to mend, so that changes are kept, or will be; empty if all is well.
   */
  public List<String> hindrances() {
    return Stream.of(log.hindrance(), merger.hindrance()).flatMap(Optional::stream).toList();
  }

  /**
   * Begins to write all entries anew. Nothing may be appended to the log until the load is finished
   * or closed.
   *
   * @throws LogFullException if the disk has no room
   */
  public FolderLoad load() {
    try {
      return new FolderLoad(this, files.begin(0, log.cut()));
    } catch (IOException e) {
      throw full(e);
    }
  }

  /** Puts a file in place of all that was logged up to its end, and changes the manifest else. */
  void finish(Manifest.Sorted base, UnaryOperator<Manifest> more) throws IOException {
    List<Manifest.Sorted> unused = List.of(base);
    try {
      unused = change(its -> more.apply(its.loaded(base))).sorted();
    } finally {
      unused.forEach(files::remove);
    }
  }

  LogFullException full(IOException cause) {
    return new LogFullException(
        "the folder cannot be written: folder=%s, cause=%s".formatted(disk, cause.getMessage()),
        cause);
  }

  /** Returns where the folder is. */
  @Override
  public String toString() {
    return disk.toString();
  }

  private void closeTail() {
    LogTail unsorted = tail;
    if (unsorted != null) {
      unsorted.close();
    }
  }

  /**
   * Ends the log and unlocks the folder. All that was appended is on the disk then. A second call
   * waits for the first.
   *
   * @throws LogFailedException if the log has failed
   */
  @Override
  public void close() {
    synchronized (closing) {
      Closing.all(merger::close, log::close, this::closeTail, unlock);
    }
  }

  /** What the log asks for. */
  private final class Owner implements LogOwner {
    @Override
    public void begin() throws IOException {
      sortTail();
    }

    @Override
    public void begun() throws IOException {
      Manifest _ = change(Manifest::begun);
    }

    @Override
    public void sort(LogSegment full) throws IOException {
      DataFolder.this.sort(full, full.bytes(), full.behind(), true);
    }
  }
}
