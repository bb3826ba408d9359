package pando.durable.holder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
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
  private static final int ID_BYTES = 2 * Long.BYTES;

  /** A folder is sorted before it is open, and what was loaded is forced to the disk. */
  private static final long CALL_NANOS_MAX = TimeUnit.HOURS.toNanos(1);

  private static final ComputeServer NOBODY = new ComputeServer(0, 1);

  private final RegisteredMemory memory;
  private final HolderCalls calls;
  private final MemorySegment frame;
  private final List<Folder> folders = new ArrayList<>();
  private final EntryBytes read = new EntryBytes();
  private final EntryBytes copied = new EntryBytes();
  private long readBytes;
  private long copiedBytes;
  private boolean isAtEnd;

  private record Folder(int holder, UUID cluster, long generation, long entries) {}

  /**
   * Opens the folders.
   *
   * @param kind of the entries
   */
  public HolderFolders(Fabric fabric, String kind) {
    this.memory = fabric.register(Worker.CALL_BYTES_MAX);
    Worker worker = fabric.worker(memory);
    this.frame = memory.segment();
    this.calls = new HolderCalls(worker, frame, CALL_NANOS_MAX);
    try {
      for (int holder = 0; holder < Holders.countOf(fabric); holder++) {
        folders.add(open(holder, kind.getBytes(StandardCharsets.UTF_8)));
      }
      checkAreOfOneCluster();
    } catch (Throwable e) {
      Closing.after(e, this::close);
      throw e;
    }
  }

  private Folder open(int holder, byte[] kind) {
    MemorySegment.copy(MemorySegment.ofArray(kind), 0, frame, LogFrame.RECORDS, kind.length);
    LogFrame.set(frame, LogFrame.FOLDER, NOBODY, 0, 0, 0, kind.length);
    calls.call(holder);
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
      boolean isEmpty = folder.generation == 0 && folder.entries == 0;
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
        .max(Comparator.comparingLong(Folder::generation).thenComparingLong(Folder::entries))
        .orElseThrow();
  }

  /** {@inheritDoc} They are those of the newest folder, and the others get them. */
  @Override
  public boolean next() {
    if (read.hasEntry()) {
      read.removeEntry();
    }
    while (!read.hasEntry() && !isAtEnd) {
      LogFrame.set(frame, LogFrame.ENTRIES, NOBODY, readBytes, 0, 0, 0);
      int bytes = calls.call(newest().holder);
      read.add(frame, 0, bytes);
      copied.add(frame, 0, bytes);
      readBytes += bytes;
      isAtEnd = bytes == 0;
      copyToOthers();
    }
    if (!read.hasEntry() && read.size() > 0) {
      throw new IllegalStateException("the last entry is not whole: bytes=" + read.size());
    }
    return read.hasEntry();
  }

  /** Sends what was read to all other folders. */
  private void copyToOthers() {
    while (copied.size() >= LogFrame.RECORDS_MAX || (isAtEnd && copied.size() > 0)) {
      int bytes = (int) Math.min(copied.size(), LogFrame.RECORDS_MAX);
      MemorySegment piece = MemorySegment.ofArray(new byte[bytes]);
      copied.take(piece, 0, bytes);
      load(piece);
    }
    if (isAtEnd && copiedBytes == 0) {
      load(MemorySegment.ofArray(new byte[0]));
    }
  }

  private void load(MemorySegment piece) {
    int bytes = (int) piece.byteSize();
    for (Folder folder : folders) {
      if (folder.holder != newest().holder) {
        MemorySegment.copy(piece, 0, frame, LogFrame.RECORDS, bytes);
        LogFrame.set(frame, LogFrame.LOAD, NOBODY, copiedBytes, 0, 0, bytes);
        calls.call(folder.holder);
      }
    }
    copiedBytes += bytes;
  }

  @Override
  public boolean isRemoved() {
    return false;
  }

  @Override
  public MemorySegment key() {
    return read.key();
  }

  @Override
  public MemorySegment value() {
    return read.value();
  }

  /**
   * Has all folders take what is logged from now on, for a generation of a cluster. All entries
   * were read.
   */
  public void begin(UUID cluster, long generation) {
    if (!isAtEnd) {
      throw new IllegalStateException("not all entries were read");
    }
    for (Folder folder : folders) {
      frame.set(LogFrame.LONG, LogFrame.RECORDS, cluster.getMostSignificantBits());
      frame.set(LogFrame.LONG, LogFrame.RECORDS + Long.BYTES, cluster.getLeastSignificantBits());
      LogFrame.set(frame, LogFrame.BEGIN, NOBODY, generation, 0, 0, ID_BYTES);
      calls.call(folder.holder);
    }
  }

  @Override
  public void close() {
    calls.close();
    memory.close();
  }
}
