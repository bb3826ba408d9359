package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.journal.DataFolderException;
import pando.journal.EntryStream;

/**
 * The data folders of all holders, for the compute server that begins a generation: it reads the
 * entries of the newest one, and has the others get them, too. For one thread.
 *
 * <p>Methods throw a {@link pando.fabric.PandoException} where a holder does not answer, and a
 * {@link DataFolderException} where it has no folder or cannot use it; then the generation has not
 * begun.
 */
public final class HolderFolders implements EntryStream {
  /*
   *   newest folder --reads--> pieces --next--> the new index
   *                               '----copies--> the other folder
   *
   * A piece is what one request takes. Two background tasks read and copy, ahead of the caller.
   */

  private static final int ID_BYTES = 2 * Long.BYTES;
  private static final int PIECES_AHEAD = 256;

  /** A folder is sorted before it is open, and what was loaded is forced to the disk. */
  private static final long CALL_NANOS_MAX = TimeUnit.HOURS.toNanos(1);

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final Requests requests;
  private final Requests ofReader;
  private final Requests ofCopier;
  private final List<Folder> folders = new ArrayList<>();
  private final BackgroundTask reader;
  private final BackgroundTask copier;
  private final BlockingQueue<MemorySegment> read = new ArrayBlockingQueue<>(PIECES_AHEAD);
  private final BlockingQueue<MemorySegment> toCopy = new ArrayBlockingQueue<>(PIECES_AHEAD);
  private final EntryBytes entries = new EntryBytes();
  private boolean isAtEnd;
  private volatile boolean closed;
  private volatile @Nullable Throwable failure;

  private record Folder(int holder, UUID cluster, long generation, long entries) {
    boolean hasEntries() {
      return entries > 0;
    }
  }

  /** What one thread sends requests by. */
  private static final class Requests implements AutoCloseable {
    final RegisteredMemory memory;
    final MemorySegment frame;
    final Worker worker;
    final HolderCalls calls;

    /** The place of the next piece. */
    long place;

    /** Whether the last piece, which is empty, was sent for. */
    volatile boolean isDone;

    Requests(Fabric fabric) {
      this.memory = fabric.register(Worker.CALL_BYTES_MAX);
      this.frame = memory.segment();
      this.worker = fabric.worker(memory);
      this.calls = new HolderCalls(worker, frame, CALL_NANOS_MAX);
    }

    int send(int holder, int kind, MemorySegment bytes) {
      int length = (int) bytes.byteSize();
      MemorySegment.copy(bytes, 0, frame, LogFrame.RECORDS, length);
      LogFrame.set(frame, kind, LogFrame.NOBODY, place, 0, 0, length);
      return calls.call(holder);
    }

    @Override
    public void close() {
      Closing.all(calls::close, memory::close);
    }
  }

  /**
   * Opens the folders.
   *
   * @param kind of the entries
   */
  public HolderFolders(Fabric fabric, String kind) {
    this.requests = new Requests(fabric);
    this.ofReader = new Requests(fabric);
    this.ofCopier = new Requests(fabric);
    this.reader = fabric.sender("pando-generation-reads", () -> unlessFailed(this::readPiece));
    this.copier = fabric.sender("pando-generation-copies", () -> unlessFailed(this::copyPiece));
    try {
      MemorySegment name = MemorySegment.ofArray(kind.getBytes(StandardCharsets.UTF_8));
      for (int holder = 0; holder < Holders.countOf(fabric); holder++) {
        folders.add(open(holder, name));
      }
      checkAreOfOneCluster();
    } catch (Throwable e) {
      Closing.after(e, this::close);
      throw e;
    }
  }

  private Folder open(int holder, MemorySegment kind) {
    MemorySegment frame = requests.frame;
    int _ = requests.send(holder, LogFrame.FOLDER, kind);
    int bytes = (int) frame.get(LogFrame.LONG, LogFrame.WHY_BYTES);
    if (bytes > 0) {
      byte[] why = frame.asSlice(LogFrame.WHY, bytes).toArray(ValueLayout.JAVA_BYTE);
      throw new DataFolderException(
          "a memory server's data folder cannot be used: memoryServer=%s, %s"
              .formatted(holder, new String(why, StandardCharsets.UTF_8)));
    }
    return new Folder(
        holder,
        new UUID(
            frame.get(LogFrame.LONG, LogFrame.CLUSTER),
            frame.get(LogFrame.LONG, LogFrame.CLUSTER + Long.BYTES)),
        frame.get(LogFrame.LONG, LogFrame.GENERATION),
        frame.get(LogFrame.LONG, LogFrame.SORTED));
  }

  /** Checks that no folder has entries that the newest one would replace, and does not know of. */
  private void checkAreOfOneCluster() {
    Folder newest = newest();
    for (Folder folder : folders) {
      boolean isEmpty = folder.generation == 0 && !folder.hasEntries();
      boolean isNewest = folder.holder == newest.holder;
      if (!isEmpty && !isNewest && !isOlder(folder, newest)) {
        throw new DataFolderException(
            "data folders are of different clusters; take away the one that is wrong: folders="
                + folders);
      }
    }
  }

  private static boolean isOlder(Folder folder, Folder newest) {
    return folder.generation > 0 && folder.cluster.equals(newest.cluster);
  }

  /** Returns the id of the cluster that has the newest folder; a new one if none has it. */
  public UUID cluster() {
    return newest().generation == 0 ? UUID.randomUUID() : newest().cluster;
  }

  /** Returns the greatest generation that a folder has the entries of; 0 if none has any. */
  public long generation() {
    return newest().generation;
  }

  private Folder newest() {
    return folders.stream()
        .max(Comparator.comparingLong(Folder::generation).thenComparing(Folder::hasEntries))
        .orElseThrow();
  }

  /** {@inheritDoc} They are those of the newest folder, and the others get them. */
  @Override
  public boolean next() {
    if (entries.hasEntry()) {
      entries.removeEntry();
    }
    while (!entries.hasEntry() && !isAtEnd) {
      MemorySegment piece = take();
      isAtEnd = piece.byteSize() == 0;
      entries.add(piece, 0, piece.byteSize());
    }
    if (!entries.hasEntry() && entries.size() > 0) {
      throw new IllegalStateException("the last entry is not whole: bytes=" + entries.size());
    }
    return entries.hasEntry();
  }

  private MemorySegment take() {
    for (int attempt = 0; ; attempt++) {
      MemorySegment piece = read.poll();
      reader.wake();
      if (piece != null) {
        return piece;
      }
      check();
      requests.worker.backoff().pause(attempt);
    }
  }

  /** Takes a step of a task; one that fails is the last. */
  private boolean unlessFailed(BooleanSupplier step) {
    if (closed || failure != null) {
      return false;
    }
    try {
      return step.getAsBoolean();
    } catch (RuntimeException e) {
      failure = e;
      return false;
    } catch (Error e) {
      failure = e;
      throw e;
    }
  }

  /** Reads the next piece; returns whether it did. */
  private boolean readPiece() {
    if (ofReader.isDone || read.remainingCapacity() == 0 || toCopy.remainingCapacity() == 0) {
      return false;
    }
    int bytes = ofReader.send(newest().holder, LogFrame.ENTRIES, NOTHING);
    MemorySegment piece = MemorySegment.ofArray(new byte[bytes]);
    MemorySegment.copy(ofReader.frame, 0, piece, 0, bytes);
    ofReader.place += bytes;
    ofReader.isDone = bytes == 0;
    toCopy.add(piece);
    read.add(piece);
    copier.wake();
    return true;
  }

  /** Copies the next piece; returns whether it did. */
  private boolean copyPiece() {
    MemorySegment piece = toCopy.poll();
    if (piece == null) {
      return false;
    }
    reader.wake();
    // An empty folder empties the others.
    boolean hasNews = piece.byteSize() > 0 || ofCopier.place == 0;
    if (hasNews && !PlantedLogBug.UNCOPIED) {
      copy(piece);
    }
    ofCopier.place += piece.byteSize();
    ofCopier.isDone = piece.byteSize() == 0;
    return true;
  }

  private void copy(MemorySegment piece) {
    for (Folder folder : folders) {
      if (folder.holder != newest().holder) {
        int _ = ofCopier.send(folder.holder, LogFrame.LOAD, piece);
      }
    }
  }

  private void check() {
    Throwable cause = failure;
    if (cause instanceof PandoException of) {
      throw of;
    }
    if (cause != null || closed) {
      throw new DataFolderException("data folders were not read to the end", cause);
    }
  }

  @Override
  public MemorySegment key() {
    return entries.key();
  }

  @Override
  public boolean isRemoved() {
    return false;
  }

  @Override
  public MemorySegment value() {
    return entries.value();
  }

  /**
   * Has all folders take what is logged from now on, for a generation of a cluster. All entries
   * were read.
   */
  public void begin(UUID cluster, long generation) {
    if (!isAtEnd) {
      throw new IllegalStateException("not all entries were read");
    }
    for (int attempt = 0; !ofCopier.isDone; attempt++) {
      check();
      requests.worker.backoff().pause(attempt);
    }
    MemorySegment id = MemorySegment.ofArray(new byte[ID_BYTES]);
    id.set(LogFrame.LONG, 0, cluster.getMostSignificantBits());
    id.set(LogFrame.LONG, Long.BYTES, cluster.getLeastSignificantBits());
    requests.place = generation;
    for (Folder folder : folders) {
      int _ = requests.send(folder.holder, LogFrame.BEGIN, id);
    }
  }

  @Override
  public void close() {
    closed = true;
    ofReader.calls.stop();
    ofCopier.calls.stop();
    Closing.all(reader::close, copier::close, requests::close, ofReader::close, ofCopier::close);
  }
}
