package pando.durable.holder;

import static pando.durable.holder.LogFrame.INT;
import static pando.durable.holder.LogFrame.LONG;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.journal.DamagedFolderException;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;
import pando.journal.EntryStream;
import pando.journal.FolderLoad;
import pando.journal.FolderReplacement;
import pando.journal.Log;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.LogOptions;
import pando.journal.RecordBuilder;

/** The data folder of a holder of logs, which has all entries of the cluster. Thread-safe. */
final class HolderFolder implements AutoCloseable {
  /*
   * A cluster's pool ends with any of its memory servers. Then all processes end, and start again
   * with empty memory: the next generation. Its first compute server reads all entries from one
   * holder's folder into the new pool (ENTRIES), writes them to the other's (LOAD), and begins both
   * (BEGIN). From then on a holder appends to its folder what comes to the logs, in that order,
   * before it says that it has it. A change is acknowledged once both holders have it, so either
   * folder of the newest generation has everything.
   *
   *   closed --FOLDER--> open --LOAD--> loading --BEGIN--> begun --APPEND-->
   *                       '-------------BEGIN--------------'
   *
   * A request that is repeated, as its answer was lost, is known by its place. Where a person has
   * chosen a folder, the other one is empty before it is opened (SET_ASIDE).
   *
   * A leader that stood still may wake up while the next one reads or loads. So each request has its
   * leader's term, and those of an earlier term are refused.
   */

  private static final System.Logger LOG = System.getLogger(HolderFolder.class.getName());

  private final Path path;
  private final LogOptions options;
  private final Runnable onFailure;

  private volatile @Nullable DataFolder folder;
  private @Nullable Log log;

  /** The latest term of a leader that asked for something. */
  private long latestTerm;

  // While it is read.

  private @Nullable EntryStream entries;
  private final EntryBytes read = new EntryBytes();

  /** The last piece: of a size that {@link #load} takes, too. */
  private final byte[] last = new byte[LogFrame.RECORDS_MAX];

  private int lastBytes;

  private long lastPlace;

  // While it is loaded.

  private @Nullable FolderLoad load;
  private final EntryBytes loading = new EntryBytes();
  private long loadedBytes;

  /**
   * Prepares a folder.
   *
   * @param onFailure run when its log has failed: nothing can be logged until it is opened again
   */
  HolderFolder(Path path, LogOptions options, Runnable onFailure) {
    this.path = path;
    this.options = options;
    this.onFailure = onFailure;
  }

  /** Returns whether a compute server has opened it; if not, the cluster has no data folders. */
  boolean isOpen() {
    return folder != null;
  }

  /** Serves a request; where it fails, the response says why. */
  synchronized int serve(int kind, MemorySegment frame) {
    try {
      checkTerm(frame.get(LONG, LogFrame.TERM));
      int bytes =
          switch (kind) {
            case LogFrame.FOLDER -> open(frame);
            case LogFrame.ENTRIES -> read(frame);
            case LogFrame.LOAD -> load(frame);
            case LogFrame.BEGIN -> begin(frame);
            case LogFrame.SET_ASIDE -> setAside(frame);
            default -> throw new IllegalArgumentException("no such request: kind=" + kind);
          };
      frame.set(INT, LogFrame.WHY_BYTES, 0);
      frame.set(INT, LogFrame.DAMAGED, 0);
      return LogFrame.ANSWER + bytes;
    } catch (RuntimeException e) {
      Level level = e instanceof PandoException ? Level.DEBUG : Level.WARNING;
      LOG.log(level, "the data folder does not do what it was asked for: " + path, e);
      boolean isDamaged = e instanceof DamagedFolderException of && !of.isOfOtherPando();
      return refuse(frame, String.valueOf(e.getMessage()), isDamaged);
    }
  }

  private void checkTerm(long term) {
    if (term < latestTerm) {
      throw new DataFolderException(
          "a later leader begins the generation: folder=%s, term=%s, latest=%s"
              .formatted(path, term, latestTerm));
    }
    latestTerm = term;
  }

  /** Says why a folder does not do what it was asked for. */
  static int refuse(MemorySegment frame, String why, boolean isDamaged) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    int bytes = Math.min(text.length, Worker.CALL_BYTES_MAX - LogFrame.WHY);
    frame.set(INT, LogFrame.WHY_BYTES, bytes);
    frame.set(INT, LogFrame.DAMAGED, isDamaged ? 1 : 0);
    MemorySegment.copy(MemorySegment.ofArray(text), 0, frame, LogFrame.WHY, bytes);
    return LogFrame.WHY + bytes;
  }

  /** Opens the folder for a kind of entries; says which generation has them. */
  private int open(MemorySegment frame) {
    String kind = kindIn(frame);
    if (hasBegun(frame)) {
      return Long.BYTES;
    }
    DataFolder its = folder;
    if (its == null) {
      its = DataFolder.open(path, kind, options);
      folder = its;
    }
    if (!its.kind().equals(kind)) {
      throw new IllegalArgumentException(
          "the folder has entries of another kind: folder=%s, kind=%s, wanted=%s"
              .formatted(its, its.kind(), kind));
    }
    frame.set(LONG, LogFrame.GENERATION, its.generation());
    frame.set(LONG, LogFrame.SORTED, its.sortedEntries());
    UUID cluster = its.cluster();
    frame.set(LONG, LogFrame.CLUSTER, cluster.getMostSignificantBits());
    frame.set(LONG, LogFrame.CLUSTER + Long.BYTES, cluster.getLeastSignificantBits());
    frame.set(LONG, LogFrame.CUT, its.isCut() ? 1 : 0);
    return LogFrame.FOLDER_BYTES - LogFrame.ANSWER;
  }

  /** Returns whether a generation was begun with it, perhaps in part; says so, too. */
  private boolean hasBegun(MemorySegment frame) {
    boolean hasBegun = log != null;
    frame.set(LONG, LogFrame.BEGUN, hasBegun ? 1 : 0);
    return hasBegun;
  }

  private static String kindIn(MemorySegment frame) {
    int bytes = frame.get(INT, LogFrame.BYTES);
    byte[] name = new byte[bytes];
    MemorySegment.copy(frame, LogFrame.RECORDS, MemorySegment.ofArray(name), 0, bytes);
    return new String(name, StandardCharsets.UTF_8);
  }

  private static UUID clusterIn(MemorySegment frame) {
    return new UUID(
        frame.get(LONG, LogFrame.RECORDS), frame.get(LONG, LogFrame.RECORDS + Long.BYTES));
  }

  /** Keeps the folder's files under other names; it is empty then. */
  private int setAside(MemorySegment frame) {
    UUID cluster = clusterIn(frame);
    if (hasBegun(frame)) {
      return Long.BYTES;
    }
    close();
    folder = null;
    FolderReplacement.setAside(path, cluster)
        .ifPresent(kept ->
            LOG.log(
                Level.WARNING,
                "another folder''s entries replace those of {0}, whose files are in {1} now",
                path,
                kept));
    return Long.BYTES;
  }

  private DataFolder opened() {
    DataFolder its = folder;
    if (its == null) {
      throw new IllegalStateException("the folder is not open: folder=" + path);
    }
    return its;
  }

  private DataFolder notBegun() {
    DataFolder its = opened();
    if (log != null && load == null) {
      throw new IllegalStateException("the folder has begun: folder=" + path);
    }
    return its;
  }

  /** Returns the piece of the entries that is at a place: none behind the last. */
  private int read(MemorySegment frame) {
    DataFolder its = notBegun();
    long wanted = frame.get(LONG, LogFrame.PLACE);
    if (wanted == 0) {
      closeEntries();
      EntryStream opened = its.entries();
      entries = opened;
      readNext(opened, 0);
    } else if (entries != null && wanted == lastPlace + lastBytes) {
      readNext(entries, wanted);
    } else if (wanted != lastPlace) {
      throw new IllegalArgumentException(
          "entries are read one piece after the other: place=%s, last=%s, bytes=%s"
              .formatted(wanted, lastPlace, lastBytes));
    }
    MemorySegment.copy(MemorySegment.ofArray(last), 0, frame, LogFrame.ANSWER, lastBytes);
    return lastBytes;
  }

  private void readNext(EntryStream its, long wanted) {
    try {
      while (read.size() < last.length && its.next()) {
        read.add(its.key(), its.value());
      }
    } catch (IOException e) {
      throw new DataFolderException(
          "the folder cannot be read: folder=%s, cause=%s".formatted(path, e), e);
    }
    lastBytes = (int) Math.min(read.size(), last.length);
    read.take(MemorySegment.ofArray(last), 0, lastBytes);
    lastPlace = wanted;
  }

  private void closeEntries() {
    EntryStream its = entries;
    entries = null;
    read.clear();
    if (its != null) {
      its.close();
    }
  }

  /** Takes a piece of entries that replace those of the folder. */
  private int load(MemorySegment frame) {
    DataFolder its = notBegun();
    long at = frame.get(LONG, LogFrame.PLACE);
    int bytes = frame.get(INT, LogFrame.BYTES);
    FolderLoad loaded = at == 0 ? beginLoad(its) : load;
    if (loaded == null || at > loadedBytes || (at < loadedBytes && at + bytes != loadedBytes)) {
      throw new IllegalArgumentException(
          "entries are loaded one piece after the other: place=%s, bytes=%s, expected=%s"
              .formatted(at, bytes, loadedBytes));
    }
    if (at == loadedBytes) {
      loading.add(frame, LogFrame.RECORDS, bytes);
      loadedBytes += bytes;
      while (loading.hasEntry()) {
        loaded.append(loading.key(), loading.value());
        loading.removeEntry();
      }
    }
    return 0;
  }

  private FolderLoad beginLoad(DataFolder its) {
    closeEntries();
    closeLoad();
    if (log == null) {
      log = its.begin();
    }
    loadedBytes = 0;
    loading.clear();
    FolderLoad begun = its.load();
    load = begun;
    return begun;
  }

  private void closeLoad() {
    FolderLoad its = load;
    load = null;
    if (its != null) {
      its.close();
    }
  }

  /** Has the folder take what is logged, for a generation. */
  private int begin(MemorySegment frame) {
    DataFolder its = opened();
    long generation = frame.get(LONG, LogFrame.PLACE);
    FolderLoad loaded = load;
    if (loaded != null) {
      if (loading.size() > 0) {
        throw new IllegalArgumentException("the last entry is not whole: bytes=" + loading.size());
      }
      // At the same time: nobody could know which cluster has entries of no generation.
      loaded.finish(clusterIn(frame), generation);
      closeLoad();
    }
    if (its.generation() < generation) {
      its.setGeneration(clusterIn(frame), generation);
    }
    if (log == null) {
      closeEntries();
      log = its.begin();
    }
    return 0;
  }

  /**
   * Appends a record.
   *
   * @return whether there was room
   * @throws pando.journal.LogFailedException if the log has failed
   */
  synchronized boolean append(RecordBuilder record) {
    Log its = log;
    if (its == null || load != null) {
      throw new IllegalStateException("the folder has not begun: folder=" + path);
    }
    try {
      its.reserve(record.bytes());
      its.append(record);
      return true;
    } catch (LogFullException e) {
      return false;
    } catch (LogFailedException e) {
      onFailure.run();
      throw e;
    }
  }

  /** Returns whether the disk has no room for more than what the log has room for already. */
  boolean isShortOfRoom() {
    DataFolder its = folder;
    return its != null && its.log().hindrance().isPresent();
  }

  /** Returns once what was appended is as safe as the folder's {@code sync} says. */
  void awaitSafe() {
    Log its;
    synchronized (this) {
      its = log;
    }
    if (its != null && its.waitsForSync()) {
      try {
        its.awaitSynced(its.end());
      } catch (LogFailedException e) {
        onFailure.run();
        throw e;
      }
    }
  }

  @Override
  public synchronized void close() {
    DataFolder its = folder;
    Closing.all(this::closeEntries, this::closeLoad, its == null ? () -> {} : its::close);
  }
}
