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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.journal.DamagedFolderException;
import pando.journal.DataFolderException;
import pando.journal.EmptyFolderException;
import pando.journal.EntryStream;

/**
 * The data folders of all holders, for the compute server that begins a generation: it reads the
 * entries of one of them, and has the others get them, too. For one thread.
 *
 * <p>Methods throw a {@link pando.fabric.PandoException} where a holder does not answer, and a
 * {@link DataFolderException} where it has no folder, cannot use it, or serves a later leader; then
 * the generation has not begun. The constructor throws {@link IllegalStateException} if one was
 * begun since the holders have started: they have to start again. If a folder is damaged, it is a
 * {@link DamagedFolderException}, and if the one that is named has no entries, an {@link
 * EmptyFolderException}: a person has to restore the folder, or choose another one.
 */
public final class HolderFolders implements EntryStream {
  /*
   *   one folder --reads--> pieces --next--> the new index
   *                            '----copies--> the other folder
   *
   * A piece is what one request takes. Two background tasks read and copy, ahead of the caller.
   *
   * The folder that is read is the newest one; an older one of the same cluster is replaced. Nobody
   * knows whether that is right where folders are of different clusters, or the newest one is
   * damaged or away. Then a person says which one counts. It is read to its end before the files of
   * the other one are set aside. They are set aside once for each choice, however often the
   * generation is tried: the choice has an id, which becomes that of the cluster.
   *
   * The folder that is read begins first. If the rest fails, it is the newest one, and has
   * everything.
   */

  private static final int ID_BYTES = 2 * Long.BYTES;
  private static final int PIECES_AHEAD = 256;

  /** A folder is sorted before it is open, and what was loaded is forced to the disk. */
  private static final long CALL_NANOS_MAX = TimeUnit.HOURS.toNanos(1);

  /** In place of the holder whose folder is read. */
  public static final int NEWEST = -1;

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

  /** The folder whose entries are read. */
  private final Folder source;

  /** The cluster that the folders are of from now on. */
  private final UUID cluster;

  /** The number of the generation that begins. */
  private final long next;

  private record Folder(int holder, UUID cluster, long generation, long entries, boolean isCut) {
    boolean hasEntries() {
      return entries > 0;
    }

    boolean isEmpty() {
      return generation == 0 && !hasEntries();
    }
  }

  /** What one thread sends requests by. */
  private static final class Requests implements AutoCloseable {
    final RegisteredMemory memory;
    final MemorySegment frame;
    final Worker worker;
    final HolderCalls calls;
    final long term;

    /** The place of the next piece. */
    long place;

    /** Whether the last piece, which is empty, was sent for. */
    volatile boolean isDone;

    Requests(Fabric fabric, long term) {
      this.term = term;
      this.memory = fabric.register(Worker.CALL_BYTES_MAX);
      this.frame = memory.segment();
      this.worker = fabric.worker(memory);
      this.calls = new HolderCalls(worker, frame, CALL_NANOS_MAX);
    }

    /** Sends a request; returns the length of the answer. */
    int send(int holder, int kind, long place, MemorySegment bytes) {
      int length = (int) bytes.byteSize();
      MemorySegment.copy(bytes, 0, frame, LogFrame.RECORDS, length);
      LogFrame.set(frame, kind, LogFrame.NOBODY, place, term, 0, length);
      int response = calls.call(holder);
      int why = frame.get(LogFrame.INT, LogFrame.WHY_BYTES);
      if (why > 0) {
        throw refused(holder, frame.asSlice(LogFrame.WHY, why));
      }
      return response - LogFrame.ANSWER;
    }

    private PandoException refused(int holder, MemorySegment why) {
      String text =
          "a memory server's data folder cannot be used: memoryServer=%s, %s"
              .formatted(
                  holder, new String(why.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8));
      return frame.get(LogFrame.INT, LogFrame.DAMAGED) != 0
          ? new DamagedFolderException(text)
          : new DataFolderException(text);
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
   * @param last the last generation that is known of the cluster; 0 if there was none
   * @param from the holder whose folder is read, as a person has named it: the files of the others
   *     are set aside; {@link #NEWEST} for the newest one
   * @param begins the id of the cluster that begins with the folder that is named, the same in each
   *     attempt
   * @param term grows from leader to leader: what an earlier one asks for is refused
   */
  public HolderFolders(Fabric fabric, String kind, long last, int from, UUID begins, long term) {
    this.requests = new Requests(fabric, term);
    this.ofReader = new Requests(fabric, term);
    this.ofCopier = new Requests(fabric, term);
    this.reader = fabric.sender("pando-generation-reads", () -> unlessFailed(this::readPiece));
    this.copier = fabric.sender("pando-generation-copies", () -> unlessFailed(this::copyPiece));
    try {
      MemorySegment name = MemorySegment.ofArray(kind.getBytes(StandardCharsets.UTF_8));
      int holders = Holders.countOf(fabric);
      if (from == NEWEST) {
        IntStream.range(0, holders).forEach(holder -> open(holder, name));
        this.source = newest();
        this.cluster = source.generation == 0 ? UUID.randomUUID() : source.cluster;
        checkAreOfOneCluster();
        checkIsNotBefore(last);
      } else {
        this.source = open(from, name);
        this.cluster = begins;
        checkHasEntries();
        IntStream.range(0, holders)
            .filter(holder -> holder != from)
            .forEach(holder -> openEmpty(holder, name));
      }
      this.next = Math.max(source.generation, last) + 1;
    } catch (Throwable e) {
      Closing.after(e, this::close);
      throw e;
    }
  }

  private Folder open(int holder, MemorySegment kind) {
    int _ = requests.send(holder, LogFrame.FOLDER, 0, kind);
    checkHasNotBegun(holder);
    MemorySegment frame = requests.frame;
    Folder opened =
        new Folder(
            holder,
            new UUID(
                frame.get(LogFrame.LONG, LogFrame.CLUSTER),
                frame.get(LogFrame.LONG, LogFrame.CLUSTER + Long.BYTES)),
            frame.get(LogFrame.LONG, LogFrame.GENERATION),
            frame.get(LogFrame.LONG, LogFrame.SORTED),
            frame.get(LogFrame.LONG, LogFrame.CUT) != 0);
    folders.add(opened);
    return opened;
  }

  private void checkHasNotBegun(int holder) {
    if (requests.frame.get(LogFrame.LONG, LogFrame.BEGUN) != 0) {
      throw new IllegalStateException(
          "a generation has begun with a data folder, and not to its end: memoryServer=" + holder);
    }
  }

  private void openEmpty(int holder, MemorySegment kind) {
    int _ = requests.send(holder, LogFrame.SET_ASIDE, 0, idOf(cluster));
    checkHasNotBegun(holder);
    Folder opened = open(holder, kind);
    boolean isOfEarlierAttempt = opened.cluster.equals(cluster);
    if (!opened.isEmpty() && !isOfEarlierAttempt) {
      throw new DataFolderException(
          "a folder has entries again whose files were set aside: folder=" + opened);
    }
  }

  /** Checks that there is something to begin with, and that all of it can be read. */
  private void checkHasEntries() {
    if (source.isEmpty()) {
      throw new EmptyFolderException(
          "the data folder that the next generation is to begin with has no entries:"
              + " memoryServer="
              + source.holder);
    }
    long place = 0;
    int bytes;
    do {
      bytes = requests.send(source.holder, LogFrame.ENTRIES, place, NOTHING);
      place += bytes;
    } while (bytes > 0);
  }

  /** Checks that no folder has entries that the newest one would replace, and does not know of. */
  private void checkAreOfOneCluster() {
    for (Folder folder : folders) {
      boolean isOlder = folder.generation > 0 && folder.cluster.equals(source.cluster);
      if (!folder.isEmpty() && !folder.equals(source) && !isOlder) {
        throw new DataFolderException(
            "data folders are of different clusters; take the one away that is wrong, or say which"
                + " one counts (pando cluster rebuild --from): folders="
                + folders);
      }
    }
  }

  private void checkIsNotBefore(long last) {
    if (source.generation < last) {
      throw new DataFolderException(
          ("the data folders have an older generation than the cluster had: start the memory server"
                  + " that has the newest one, or say which one counts (pando cluster rebuild"
                  + " --from): found=%s, last=%s")
              .formatted(source.generation, last));
    }
  }

  /** Of two folders of a generation, one that was closed in order has everything. */
  private Folder newest() {
    return folders.stream()
        .max(
            Comparator.comparingLong(Folder::generation)
                .thenComparing(Folder::hasEntries)
                .thenComparing(folder -> !folder.isCut))
        .orElseThrow();
  }

  private static MemorySegment idOf(UUID cluster) {
    MemorySegment id = MemorySegment.ofArray(new byte[ID_BYTES]);
    id.set(LogFrame.LONG, 0, cluster.getMostSignificantBits());
    id.set(LogFrame.LONG, Long.BYTES, cluster.getLeastSignificantBits());
    return id;
  }

  /** {@inheritDoc} They are those of one folder, and the others get them. */
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
    int bytes = ofReader.send(source.holder, LogFrame.ENTRIES, ofReader.place, NOTHING);
    MemorySegment piece = MemorySegment.ofArray(new byte[bytes]);
    MemorySegment.copy(ofReader.frame, LogFrame.ANSWER, piece, 0, bytes);
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
      if (!folder.equals(source)) {
        int _ = ofCopier.send(folder.holder, LogFrame.LOAD, ofCopier.place, piece);
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
   * Has all folders take what is logged from now on, for the next generation, and returns its
   * number. All entries were read.
   */
  public long begin() {
    if (!isAtEnd) {
      throw new IllegalStateException("not all entries were read");
    }
    for (int attempt = 0; !ofCopier.isDone; attempt++) {
      check();
      requests.worker.backoff().pause(attempt);
    }
    // The source first: where this ends half-way, it is the newest one, and has everything.
    begin(source);
    folders.stream().filter(folder -> !folder.equals(source)).forEach(this::begin);
    return next;
  }

  private void begin(Folder folder) {
    int _ = requests.send(folder.holder, LogFrame.BEGIN, next, idOf(cluster));
  }

  @Override
  public void close() {
    closed = true;
    ofReader.calls.stop();
    ofCopier.calls.stop();
    Closing.all(reader::close, copier::close, requests::close, ofReader::close, ofCopier::close);
  }
}
