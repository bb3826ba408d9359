package pando.journal;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * The log of a data folder. Each change is one record. After a crash the folder has all changes up
 * to one record, and none behind it.
 *
 * <p>Thread-safe. Waits cannot be interrupted: an interrupted thread stays interrupted.
 */
public final class Log implements RecordLog, AutoCloseable {
  /*
   * A change is made in three steps. It reserves room for its record before it has any effect, so
   * that nothing takes effect that cannot be logged. Then it takes effect. Then its record is
   * appended: copied into the mapping of the current segment, which is the kernel's from then on. A
   * process that is killed loses nothing that was appended. After a failure of power the log has
   * what was forced to the disk: the syncer's story.
   *
   * Room. No record crosses the end of a segment, so a record that does not fit wastes what is left
   * of the current one. That can be as much as the longest record. So changes are promised what is
   * left of the current segment and of each one that is ready, less the longest record each. A new
   * segment is made once the current one is half full. If that fails, it is tried again each
   * second, and a change that finds no room is refused until it succeeds.
   *
   *   full, to be sorted           current              ready
   *  +-----------+-----------+    +-----------+-----+  +------------+
   *  | records   | records   |    | records   |     |  | zeros      |
   *  +-----------+-----------+    +-----------+-----+  +------------+
   *        synced ^                        end ^
   *
   * A full segment is synced, and sorted by the folder, which does not need it afterwards. Its file
   * becomes the next segment. If more than 16 are full, changes wait in their reservation.
   */

  /** Under {@link SyncPolicy#EVERYSEC}: the longest force of the disk that no change waits for. */
  private static final long STALL_NANOS = 2_000_000_000;

  private static final int SPINS = 100;

  private final Disk disk;
  private final LogOptions options;
  private final Syncer syncer;
  private final ReentrantLock lock = new ReentrantLock();
  private final Segments segments;
  private final RecordSum sums = new RecordSum();
  private final RecordBuilder marks = new RecordBuilder();

  /** The segment that records go to; {@code null} before the first one, and at the end. */
  private @Nullable LogSegment current;

  /** Where the next record begins in the current segment. */
  private int at;

  private long reserved;
  private long records;

  /** Place behind the last change, or behind the last full segment. */
  private volatile long end;

  private boolean closing;
  private volatile @Nullable Throwable failure;

  /**
   * Begins a log.
   *
   * @param first where its first segment begins
   */
  Log(Disk disk, UUID id, long first, LogOptions options, LogOwner owner) {
    this.disk = disk;
    this.options = options;
    this.end = first;
    this.syncer = new Syncer(this, options.sync(), first);
    this.segments = new Segments(this, lock, disk, id, first, options.segmentBytes(), owner);
  }

  /**
   * Starts the threads; returns once there is room for changes, or it is known that there is none.
   */
  void start() {
    syncer.start();
    segments.start();
  }

  /** Returns when a change is acknowledged. */
  public SyncPolicy sync() {
    return options.sync();
  }

  /** {@inheritDoc} That is, on the disk. */
  @Override
  public boolean waitsForSync() {
    return options.sync() == SyncPolicy.ALWAYS;
  }

  /** {@inheritDoc} It takes {@link LogOptions#recordBytesMax}. May wait for the disk. */
  @Override
  public void reserve(long bytes) {
    if (bytes > options.recordBytesMax()) {
      throw new IllegalArgumentException(
          "a change is too long for the log: bytes=%s, maximum=%s"
              .formatted(bytes, options.recordBytesMax()));
    }
    if (options.sync() == SyncPolicy.EVERYSEC) {
      syncer.awaitNoStall(STALL_NANOS);
    }
    lockSoon();
    try {
      while (true) {
        check();
        boolean hasRoom = reserved + bytes <= available(at);
        if (hasRoom && !segments.areTooManyFull()) {
          reserved += bytes;
          return;
        }
        checkOpen();
        segments.awaitRoom(bytes, !hasRoom);
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void reserveAlone(long bytes) {
    reserve(bytes);
  }

  @Override
  public boolean outlivesFailure() {
    return false;
  }

  @Override
  public void release(long bytes) {
    lockSoon();
    try {
      reserved -= bytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how many bytes can be promised to changes.
   *
   * @param used bytes of the current segment
   */
  private long available(int used) {
    int lost = options.recordBytesMax() + RecordFormat.PAGE;
    int left = current == null ? 0 : Math.max(0, current.bytes() - used - lost);
    int whole = options.segmentBytes() - LogSegment.HEADER_BYTES - lost;
    return left + (long) whole * segments.ready();
  }

  @Override
  public long append(RecordBuilder record) {
    int inner = record.innerSum();
    int bytes = (int) record.bytes();
    lockSoon();
    try {
      check();
      checkOpen();
      try {
        write(record, bytes, inner);
      } catch (Throwable e) {
        fail(e);
        throw failed(e);
      }
      reserved -= bytes;
      records++;
      return end;
    } finally {
      lock.unlock();
    }
  }

  /** Takes the lock. Spins first, as a change has it for less time than a thread takes to park. */
  private void lockSoon() {
    for (int i = 0; i < SPINS; i++) {
      if (!lock.isLocked() && lock.tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    lock.lock();
  }

  private void checkOpen() {
    if (closing) {
      throw new IllegalStateException("the log is closed: folder=" + disk);
    }
  }

  private void write(RecordBuilder record, int bytes, int inner) {
    LogSegment segment = current;
    if (segment == null || endOfChanges(segment) - at < bytes) {
      segment = roll();
    }
    int before = at;
    segment.write(at, record, bytes, sums, inner);
    at += bytes;
    end = segment.first() + at;
    wantNext(segment, before);
  }

  /** Asks for the next segment, if this one has become more than half full. */
  private void wantNext(LogSegment segment, int before) {
    int half = segment.bytes() / 2;
    if (before <= half && at > half) {
      segments.want();
    }
  }

  /** Returns where changes end in a segment: its last page is for a CLOSED. */
  private static int endOfChanges(LogSegment segment) {
    return segment.bytes() - RecordFormat.PAGE;
  }

  /** Goes on to the next segment. */
  private LogSegment roll() {
    LogSegment before = current;
    LogSegment next = segments.poll();
    if (next == null) {
      throw new IllegalStateException("more was appended than was reserved: reserved=" + reserved);
    }
    if (before != null) {
      pad(before, before.bytes());
      end = before.behind();
      segments.addFull(before);
    }
    current = next;
    at = LogSegment.HEADER_BYTES;
    return next;
  }

  /**
   * Goes on to a new segment, unless the current one is empty; returns the place where it begins.
   *
   * @throws LogFullException if there is no room for one
   */
  long cut() {
    lock.lock();
    try {
      while (true) {
        check();
        checkOpen();
        LogSegment segment = current;
        if (segment != null && at == LogSegment.HEADER_BYTES) {
          return segment.first();
        }
        if (segments.ready() > 0) {
          return roll().first();
        }
        segments.awaitRoom(options.segmentBytes(), true);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Fills a segment up to a place of it with a PAD. */
  private void pad(LogSegment segment, int to) {
    int bytes = to - at;
    if (bytes > 0) {
      segment.write(at, marks.pad(bytes), bytes, sums, marks.innerSum());
      at = to;
    }
  }

  /** Appends that the log is on the disk up to a place, if there is room. */
  void mark(byte kind, long synced) {
    lock.lock();
    try {
      LogSegment segment = current;
      if (failure != null || segment == null) {
        return;
      }
      int page = (at + RecordFormat.PAGE - 1) & -RecordFormat.PAGE;
      int behind = page + RecordFormat.SYNCED_BYTES;
      boolean fits = kind == RecordFormat.CLOSED || behind <= endOfChanges(segment);
      if (fits && reserved <= available(behind)) {
        int before = at;
        pad(segment, page);
        marks.mark(kind, synced);
        segment.write(at, marks, RecordFormat.SYNCED_BYTES, sums, marks.innerSum());
        at += RecordFormat.SYNCED_BYTES;
        wantNext(segment, before);
      }
    } catch (Throwable e) {
      fail(e);
    } finally {
      lock.unlock();
    }
  }

  /** Returns the place behind the last change that was appended, or a later one. */
  public long end() {
    return end;
  }

  /** Returns the place up to which all is on the disk. */
  @Override
  public long synced() {
    return syncer.synced().get();
  }

  /** Returns a time, in milliseconds since 1970: all changes before it are on the disk. */
  public long safeMillis() {
    long now = System.currentTimeMillis();
    return synced() >= end ? now : syncer.syncedMillis();
  }

  @Override
  public void awaitSynced(long lsn) {
    syncer.synced().await(lsn);
  }

  @Override
  public void whenSynced(long lsn, Runnable task) {
    syncer.synced().whenSynced(lsn, task);
  }

  /** Returns the segments that have something between two places, in ascending order. */
  List<LogSegment> segments(long from, long to) {
    lock.lock();
    try {
      List<LogSegment> some = segments.full(from, to);
      LogSegment last = current;
      if (last != null && last.first() < to) {
        some.add(last);
      }
      return some;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void fail(Throwable cause) {
    lock.lock();
    try {
      if (failure == null) {
        failure = cause;
      }
      segments.wake();
    } finally {
      lock.unlock();
    }
    syncer.wake();
  }

  /** Returns why no change can be made, or soon none can; empty if all is well. */
  public Optional<String> hindrance() {
    lock.lock();
    try {
      Throwable cause = failure;
      return cause != null
          ? Optional.of(String.valueOf(failed(cause).getMessage()))
          : segments.hindrance();
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many changes were appended since the folder was opened. */
  public long records() {
    lock.lock();
    try {
      return records;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how often the disk was forced since the folder was opened. */
  public long syncs() {
    return syncer.syncs();
  }

  /** Returns the bytes that are left before the log needs another segment of the disk. */
  public long room() {
    lock.lock();
    try {
      return Math.max(0, available(at) - reserved);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void check() {
    Throwable cause = failure;
    if (cause != null) {
      throw failed(cause);
    }
  }

  /** Returns whether the log has failed. */
  public boolean hasFailed() {
    return failure != null;
  }

  private LogFailedException failed(Throwable cause) {
    return new LogFailedException(
        "the log has failed: folder=%s, safe up to place=%s, cause=%s"
            .formatted(disk, Long.toHexString(synced()), cause),
        cause);
  }

  /**
   * Ends the log: all that was appended is on the disk when this returns. Nothing may be appended
   * any more. A second call does nothing.
   *
   * @throws LogFailedException if the log has failed
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (closing) {
        return;
      }
      closing = true;
    } finally {
      lock.unlock();
    }
    Closing.all(segments::close, syncer::close, this::closeFiles, this::check);
  }

  private void closeFiles() {
    lock.lock();
    try {
      LogSegment last = current;
      current = null;
      Closing.all(segments::closeFiles, last == null ? () -> {} : last::close);
    } finally {
      lock.unlock();
    }
  }
}
