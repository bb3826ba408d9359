package pando.durable.holder;

import static pando.durable.holder.LogFrame.INT;
import static pando.durable.holder.LogFrame.LONG;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Worker;
import pando.journal.RecordBuilder;
import pando.journal.RecordStream;

/** The logs that one memory server holds, in local memory, and in its data folder. Thread-safe. */
final class HeldLogs {
  /** Logs that there can be, most of them of compute servers that have ended. */
  private static final int LOGS_MAX = 4096;

  private final long bytesMax;
  private final @Nullable HolderFolder folder;
  private final RecordBuilder record = new RecordBuilder();

  /** Bytes of a log that are to go to the folder. */
  private MemorySegment unfiled = MemorySegment.ofArray(new byte[Worker.CALL_BYTES_MAX]);

  private boolean hasFolderRoom;
  private final Map<ComputeServer, Held> byName = new HashMap<>();

  /** By the number of logs that had begun before. */
  private final TreeMap<Long, Held> byBegin = new TreeMap<>();

  private long began;

  /** What all logs take. */
  private long memoryBytes;

  /** A log. */
  private static final class Held {
    final ComputeServer name;
    final long began;
    final ByteRow bytes = new ByteRow();
    final RecordStream stream;
    int force = -1;
    long end = LogCopy.OPEN;

    /** Up to where the folder has it, if there is one. */
    long filed;

    Held(ComputeServer name, long began) {
      this.name = name;
      this.began = began;
      this.stream = new RecordStream(name.toString(), name.process());
    }

    boolean hasEnded() {
      return end != LogCopy.OPEN;
    }

    LogCopy copy() {
      return new LogCopy(name, force, bytes.first(), bytes.end(), end, began);
    }
  }

  /**
   * Begins without logs.
   *
   * @param bytesMax of all logs together
   * @param folder gets all that is appended; {@code null} if there is none
   */
  HeldLogs(long bytesMax, @Nullable HolderFolder folder) {
    this.bytesMax = bytesMax;
    this.folder = folder;
  }

  /**
   * Serves a request; all of it is checked before anything is changed.
   *
   * @return the length of the response, which is in the place of the request
   */
  int serve(MemorySegment frame, int requestBytes) {
    check(frame, requestBytes);
    int kind = frame.get(INT, LogFrame.KIND);
    if (LogFrame.isForFolder(kind)) {
      return serveFolder(kind, frame);
    }
    int bytes = serveLog(frame);
    if (folder != null && kind != LogFrame.LIST && kind != LogFrame.READ) {
      folder.awaitSafe();
    }
    return bytes;
  }

  private int serveFolder(int kind, MemorySegment frame) {
    if (folder == null) {
      return HolderFolder.refuse(frame, "the memory server has no data folder", false);
    }
    return folder.serve(kind, frame);
  }

  private synchronized int serveLog(MemorySegment frame) {
    ComputeServer name =
        new ComputeServer(frame.get(INT, LogFrame.WRITER), frame.get(LONG, LogFrame.EPOCH));
    return switch (frame.get(INT, LogFrame.KIND)) {
      case LogFrame.APPEND, LogFrame.COMPLETE -> append(name, frame);
      case LogFrame.LIST -> list(frame);
      case LogFrame.READ -> read(held(name), frame);
      case LogFrame.END -> end(name, frame);
      case LogFrame.DROP -> drop(name);
      default -> throw refused("no such request", name, frame);
    };
  }

  private static void check(MemorySegment frame, int requestBytes) {
    if (requestBytes < LogFrame.RECORDS || requestBytes > Worker.CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a request of the wrong length: bytes=%s, least=%s, greatest=%s"
              .formatted(requestBytes, LogFrame.RECORDS, Worker.CALL_BYTES_MAX));
    }
    int sum = LogFrame.sum(frame, requestBytes);
    int bytes = frame.get(INT, LogFrame.BYTES);
    if (frame.get(INT, LogFrame.SUM) != sum || bytes != requestBytes - LogFrame.RECORDS) {
      throw new IllegalArgumentException(
          "a damaged request: bytes=%s, records=%s, sum=%s, expected=%s"
              .formatted(requestBytes, bytes, frame.get(INT, LogFrame.SUM), sum));
    }
    int writer = frame.get(INT, LogFrame.WRITER);
    long epoch = frame.get(LONG, LogFrame.EPOCH);
    if (!ComputeServer.isName(writer, epoch) || frame.get(LONG, LogFrame.PLACE) < 0) {
      throw new IllegalArgumentException(
          "no such log or place: writer=%s, epoch=%s, place=%s"
              .formatted(writer, epoch, frame.get(LONG, LogFrame.PLACE)));
    }
  }

  private static IllegalArgumentException refused(
      String why, ComputeServer log, MemorySegment frame) {
    return new IllegalArgumentException(
        "%s: log=%s, kind=%s, place=%s, force=%s"
            .formatted(
                why,
                log,
                frame.get(INT, LogFrame.KIND),
                frame.get(LONG, LogFrame.PLACE),
                frame.get(INT, LogFrame.FORCE)));
  }

  private Held held(ComputeServer name) {
    Held found = byName.get(name);
    if (found == null) {
      throw new IllegalArgumentException("no such log: " + name);
    }
    return found;
  }

  private int append(ComputeServer name, MemorySegment frame) {
    long place = frame.get(LONG, LogFrame.PLACE);
    long head = frame.get(LONG, LogFrame.HEAD);
    int bytes = frame.get(INT, LogFrame.BYTES);
    @Nullable Held found = byName.get(name);
    long kept = found == null ? 0 : found.bytes.end();
    if (place > kept) {
      throw refused("bytes before the place are missing: kept=" + kept, name, frame);
    }
    if (head > kept + (place == kept ? bytes : 0) || head < 0) {
      throw refused("the head is behind the end: head=" + head + ", kept=" + kept, name, frame);
    }
    if (found == null ? hasLater(name) : found.hasEnded()) {
      throw refused("the log has ended", name, frame);
    }
    Held log = found == null ? begin(name) : found;
    log.force &= frame.get(INT, LogFrame.FORCE);
    boolean isNew = place == kept;
    boolean isFiled = true;
    boolean mustFit = frame.get(INT, LogFrame.KIND) == LogFrame.COMPLETE;
    boolean hasRoom = bytes == 0 || mustFit || memoryBytes + bytes <= bytesMax;
    memoryBytes -= log.bytes.memoryBytes();
    try {
      if (isNew && hasRoom) {
        log.bytes.append(frame, LogFrame.RECORDS, bytes);
      }
      isFiled = isFiled(log);
      log.bytes.cutBefore(hasFolder() ? Math.min(head, log.filed) : head);
    } finally {
      memoryBytes += log.bytes.memoryBytes();
    }
    if (!isFiled) {
      return answer(frame, place, LogFrame.FULL_DISK);
    }
    // Early, so that what is on its way finds room.
    boolean isShort = !mustFit && folder != null && folder.isShortOfRoom();
    int memory = hasRoom ? 0 : LogFrame.FULL_MEMORY;
    return answer(frame, log.bytes.end(), isShort ? LogFrame.FULL_DISK : memory);
  }

  private static int answer(MemorySegment frame, long kept, int full) {
    frame.set(LONG, LogFrame.KEPT, kept);
    frame.set(LONG, LogFrame.FULL, full);
    return LogFrame.APPENDED_BYTES;
  }

  private boolean hasFolder() {
    return folder != null && folder.isOpen();
  }

  /** Returns whether the folder has all whole records, if there is one; appends what it lacks. */
  private boolean isFiled(Held log) {
    return folder == null || !folder.isOpen() || PlantedLogBug.UNFILED || file(log, folder);
  }

  private boolean file(Held log, HolderFolder to) {
    long bytes = log.bytes.end() - log.filed;
    // A long record comes in many requests: it is copied once, when it is whole.
    if (bytes < Integer.BYTES || bytes < lengthAt(log, log.filed)) {
      return true;
    }
    if (bytes > unfiled.byteSize()) {
      unfiled = MemorySegment.ofArray(new byte[Math.toIntExact(2 * bytes)]);
    }
    log.bytes.copy(log.filed, unfiled, 0, bytes);
    hasFolderRoom = true;
    log.stream.forEach(unfiled.asSlice(0, bytes), log.filed, record, () -> file(log, to, record));
    return hasFolderRoom;
  }

  private void file(Held log, HolderFolder to, RecordBuilder whole) {
    hasFolderRoom = hasFolderRoom && to.append(whole);
    log.filed += hasFolderRoom ? whole.bytes() : 0;
  }

  /** Returns the length of the record that begins at a place. */
  private int lengthAt(Held log, long place) {
    log.bytes.copy(place, unfiled, 0, Integer.BYTES);
    return unfiled.get(INT, 0);
  }

  /** Returns whether a later start of the same compute server has a log. */
  private boolean hasLater(ComputeServer name) {
    return byName.keySet().stream()
        .anyMatch(other -> other.number() == name.number() && other.epoch() > name.epoch());
  }

  private Held begin(ComputeServer name) {
    if (byName.size() == LOGS_MAX) {
      throw new IllegalArgumentException("too many logs: log=" + name + ", maximum=" + LOGS_MAX);
    }
    Held log = new Held(name, began++);
    byName.put(name, log);
    byBegin.put(log.began, log);
    return log;
  }

  private int list(MemorySegment frame) {
    List<LogCopy> some =
        byBegin.tailMap(frame.get(LONG, LogFrame.PLACE)).values().stream()
            .limit(LogFrame.COPIES_MAX)
            .map(Held::copy)
            .toList();
    frame.set(LONG, LogFrame.COUNT, some.size());
    for (int i = 0; i < some.size(); i++) {
      some.get(i).write(frame, LogFrame.COPIES + (long) i * LogFrame.COPY_BYTES);
    }
    return LogFrame.COPIES + some.size() * LogFrame.COPY_BYTES;
  }

  private static int read(Held log, MemorySegment frame) {
    long place = frame.get(LONG, LogFrame.PLACE);
    if (place < log.bytes.first() || place > log.bytes.end()) {
      throw refused(
          "no such place: head=" + log.bytes.first() + ", kept=" + log.bytes.end(),
          log.name,
          frame);
    }
    int bytes = (int) Math.min(Worker.CALL_BYTES_MAX, log.bytes.end() - place);
    log.bytes.copy(place, frame, 0, bytes);
    return bytes;
  }

  private int end(ComputeServer name, MemorySegment frame) {
    long place = frame.get(LONG, LogFrame.PLACE);
    @Nullable Held log = byName.get(name);
    if (log == null) {
      return answer(frame, place, 0); // It was replayed and dropped.
    }
    long kept = log.bytes.end();
    if (log.hasEnded() ? place != log.end : place > kept) {
      throw refused("the log has another end: kept=" + kept, name, frame);
    }
    if (!log.hasEnded()) {
      if (!isFiled(log)) {
        return answer(frame, kept, LogFrame.FULL_DISK);
      }
      log.end = place;
      memoryBytes -= log.bytes.memoryBytes();
      log.bytes.cutBehind(Math.max(place, log.bytes.first()));
      memoryBytes += log.bytes.memoryBytes();
    }
    return answer(frame, log.bytes.end(), 0);
  }

  private int drop(ComputeServer name) {
    @Nullable Held found = byName.get(name);
    if (found != null && !found.hasEnded()) {
      throw new IllegalArgumentException("the log has not ended: " + name);
    }
    if (found != null) {
      byName.remove(name);
      byBegin.remove(found.began);
      memoryBytes -= found.bytes.memoryBytes();
    }
    return 0;
  }
}
