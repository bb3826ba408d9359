package pando.journal;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * The log of a data folder. Each change is one record; after a crash the state is that after some
 * record and all before it.
 *
 * <p>Thread-safe. Waits cannot be interrupted: an interrupted thread stays interrupted.
 */
public final class Log implements AutoCloseable {
  /*
   * A change is made in three steps. It reserves room for its record before it has any effect, so
   * that nothing takes effect that cannot be logged. Then it takes effect. Then its record is
   * appended: copied into the mapping of the current segment, which is the kernel's from then on. A
   * process that is killed loses nothing that was appended. What a failure of power leaves is what
   * the syncer has had written: see there.
   *
   * Room. No record crosses the end of a segment, so what is left of the current one may be lost to
   * a record that does not fit. What can be promised is therefore what is left of it but for the
   * longest record, and the same of each segment that is ready. A new one is made once the current
   * one is half full. If that fails, it is tried again each second, and a change that finds no room
   * is refused until it succeeds.
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

  private static final System.Logger LOG = System.getLogger("pando.journal");

  /** So many segments may be full and not sorted before changes wait. */
  private static final int FULL_MAX = 16;

  /** How long it takes until something is tried again that has failed. */
  private static final long RETRY_NANOS = 1_000_000_000;

  /** Under {@link SyncPolicy#EVERYSEC}: the longest force of the disk that no change waits for. */
  private static final long STALL_NANOS = 2_000_000_000;

  private final Disk disk;
  private final UUID id;
  private final LogOptions options;
  private final LogOwner owner;
  private final Syncer syncer;
  private final Thread preparer;
  private final Thread sorter;

  private final ReentrantLock lock = new ReentrantLock();

  /** Room was made, or it is known that there is none. */
  private final Condition roomChanged = lock.newCondition();

  /** There is something to prepare or to sort. */
  private final Condition work = lock.newCondition();

  private final RecordSum sums = new RecordSum();
  private final RecordBuilder marks = new RecordBuilder();
  private final Deque<LogSegment> full = new ArrayDeque<>();
  private final Deque<LogSegment> ready = new ArrayDeque<>();
  private @Nullable LogSegment current;

  /** The file of a segment that was sorted, to be used again. */
  private @Nullable LogSegment spare;

  /** Where the next segment begins that is made. */
  private long nextFirst;

  /** Place of the next record in the current segment. */
  private int at;

  private long reserved;
  private long records;

  /** Place behind the last change, or behind the last full segment. */
  private volatile long end;

  /** Why there is no room, or no full segment can be sorted; {@code null} if it is not so. */
  private @Nullable Exception noRoom;

  /** Whether a segment is wanted although there is room. */
  private boolean cuts;

  private boolean begun;
  private boolean closing;
  private volatile @Nullable Throwable failure;

  /**
   * Begins a log.
   *
   * @param first where its first segment begins
   */
  Log(Disk disk, UUID id, long first, LogOptions options, LogOwner owner) {
    this.disk = disk;
    this.id = id;
    this.options = options;
    this.owner = owner;
    this.nextFirst = first;
    this.end = first;
    this.syncer = new Syncer(this, options.sync(), first);
    this.preparer = thread("pando-log-preparer", this::prepare);
    this.sorter = thread("pando-log-sorter", this::sortFull);
  }

  /**
   * Starts the threads; returns once there is room for changes, or it is known that there is none.
   */
  void start() {
    syncer.start();
    preparer.start();
    sorter.start();
    lock.lock();
    try {
      while (!begun && noRoom == null && failure == null) {
        roomChanged.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns when a change is acknowledged. */
  public SyncPolicy sync() {
    return options.sync();
  }

  /** Returns whether a change is acknowledged only once it is on the disk. */
  public boolean waitsForSync() {
    return options.sync() == SyncPolicy.ALWAYS;
  }

  /** Returns the greatest number of bytes of a change, as {@link RecordBuilder#bytes} counts. */
  public int recordBytesMax() {
    return options.recordBytesMax();
  }

  /**
   * Reserves room for records, before the change they are of has any effect. May wait for the disk.
   *
   * @throws IllegalArgumentException if it is more than {@link #recordBytesMax}
   * @throws LogFullException if there is no room; nothing is reserved then
   * @throws LogFailedException if the log has failed; nothing is reserved then
   */
  public void reserve(long bytes) {
    if (bytes > recordBytesMax()) {
      throw new IllegalArgumentException(
          "a change is too long for the log: bytes=%s, maximum=%s"
              .formatted(bytes, recordBytesMax()));
    }
    if (options.sync() == SyncPolicy.EVERYSEC) {
      syncer.awaitNoStall(STALL_NANOS);
    }
    lock.lock();
    try {
      while (true) {
        check();
        if (full.size() <= FULL_MAX && reserved + bytes <= available(at)) {
          reserved += bytes;
          return;
        }
        checkRoom(bytes);
        checkOpen();
        work.signalAll();
        roomChanged.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Gives back what was reserved and not used. */
  public void release(long bytes) {
    lock.lock();
    try {
      reserved -= bytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how many bytes can be promised to changes.
   *
   * @param used of the current segment
   */
  private long available(int used) {
    int lost = options.recordBytesMax() + RecordFormat.PAGE;
    int left = current == null ? 0 : Math.max(0, current.bytes() - used - lost);
    int whole = options.segmentBytes() - LogSegment.HEADER_BYTES - lost;
    return left + (long) whole * ready.size();
  }

  /**
   * Appends a change, for which room was reserved.
   *
   * @return the place behind it: the change is on the disk once {@link #synced} is not below
   * @throws LogFailedException if the log has failed
   */
  public long append(RecordBuilder record) {
    int inner = record.innerSum();
    int bytes = (int) record.bytes();
    lock.lock();
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
    boolean wasRoomy = at <= segment.bytes() / 2;
    segment.write(at, record, bytes, sums, inner);
    at += bytes;
    end = segment.first() + at;
    if (wasRoomy && at > segment.bytes() / 2) {
      work.signalAll();
    }
  }

  /** Returns where changes end in a segment: its last page is for a CLOSED. */
  private static int endOfChanges(LogSegment segment) {
    return segment.bytes() - RecordFormat.PAGE;
  }

  /** Goes on to the next segment. */
  private LogSegment roll() {
    LogSegment before = current;
    LogSegment next = ready.poll();
    if (next == null) {
      throw new IllegalStateException("more was appended than was reserved: reserved=" + reserved);
    }
    if (before != null) {
      pad(before, before.bytes());
      end = before.behind();
      full.add(before);
      work.signalAll();
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
      cuts = true;
      while (true) {
        check();
        checkOpen();
        LogSegment segment = current;
        if (segment != null && at == LogSegment.HEADER_BYTES) {
          return segment.first();
        }
        if (!ready.isEmpty()) {
          return roll().first();
        }
        checkRoom(options.segmentBytes());
        work.signalAll();
        roomChanged.awaitUninterruptibly();
      }
    } finally {
      cuts = false;
      lock.unlock();
    }
  }

  private void checkRoom(long bytes) {
    Exception cause = noRoom;
    if (cause != null) {
      throw new LogFullException(
          "the log has no room: folder=%s, bytes=%s, cause=%s"
              .formatted(disk, bytes, cause.getMessage()),
          cause);
    }
  }

  /** Skips what is before a place of a segment. */
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
        pad(segment, page);
        marks.mark(kind, synced);
        segment.write(at, marks, RecordFormat.SYNCED_BYTES, sums, marks.innerSum());
        at += RecordFormat.SYNCED_BYTES;
      }
    } catch (Throwable e) {
      fail(e);
    } finally {
      lock.unlock();
    }
  }

  /** Returns a place that all changes are before that were appended. */
  public long end() {
    return end;
  }

  /** Returns the place up to which all is on the disk. */
  public long synced() {
    return syncer.synced();
  }

  /** Returns the time, in milliseconds since 1970, before which all was changed that is safe. */
  public long safeMillis() {
    long now = System.currentTimeMillis();
    return synced() >= end ? now : syncer.syncedMillis();
  }

  /**
   * Returns once all changes up to a place are on the disk.
   *
   * @throws LogFailedException if the log fails before
   */
  public void awaitSynced(long lsn) {
    syncer.await(lsn);
  }

  /**
   * Runs a task once all changes up to a place are on the disk, or the log has failed: {@link
   * #synced} says which. The task is run by this thread or by that of the log, so it must be short
   * and throw nothing.
   */
  public void whenSynced(long lsn, Runnable task) {
    syncer.whenSynced(lsn, task);
  }

  /** Returns the segments that have something between two places, in ascending order. */
  List<LogSegment> segments(long from, long to) {
    List<LogSegment> some = new ArrayList<>();
    lock.lock();
    try {
      for (LogSegment segment : full) {
        if (segment.behind() > from && segment.first() < to) {
          some.add(segment);
        }
      }
      LogSegment last = current;
      if (last != null && last.first() < to) {
        some.add(last);
      }
      return some;
    } finally {
      lock.unlock();
    }
  }

  /** Makes the log fail: a change that took effect cannot be logged as it is. */
  public void fail(Throwable cause) {
    lock.lock();
    try {
      if (failure == null) {
        failure = cause;
      }
      roomChanged.signalAll();
      work.signalAll();
    } finally {
      lock.unlock();
    }
    syncer.wake();
  }

  /** Returns why no change can be made, or soon none can; empty if all is well. */
  public Optional<String> hindrance() {
    Throwable cause = failure;
    if (cause != null) {
      return Optional.of(String.valueOf(failed(cause).getMessage()));
    }
    lock.lock();
    try {
      Exception full = noRoom;
      return Optional.ofNullable(full)
          .map(its -> "the log has no room: folder=%s, cause=%s".formatted(disk, its.getMessage()));
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many changes were appended since the log began. */
  public long records() {
    lock.lock();
    try {
      return records;
    } finally {
      lock.unlock();
    }
  }

  /** Returns how often the disk was forced since the log began. */
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

  /**
   * Checks that the log has not failed.
   *
   * @throws LogFailedException if it has
   */
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

  /**
   * Returns what keeps changes from the log or from the disk: it has failed, or there is no room.
   * Empty if nothing does.
   */
  public Optional<Throwable> trouble() {
    lock.lock();
    try {
      return Optional.ofNullable(failure == null ? noRoom : failure);
    } finally {
      lock.unlock();
    }
  }

  private LogFailedException failed(Throwable cause) {
    return new LogFailedException(
        "the log has failed: folder=%s, safe up to place=%s, cause=%s"
            .formatted(disk, Long.toHexString(synced()), cause),
        cause);
  }

  // What is done in the background.

  /** A thread's work. */
  private interface Work {
    /** Waits for something to do, and does it; returns {@code false} where the log ends. */
    boolean doSome() throws IOException;
  }

  private Thread thread(String name, Work work) {
    return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(work));
  }

  private void run(Work work) {
    boolean goesOn = true;
    while (goesOn) {
      try {
        goesOn = work.doSome();
      } catch (ForceFailedException e) {
        fail(e);
        goesOn = false;
      } catch (IOException e) {
        goesOn = awaitRetry(e);
      } catch (Throwable e) {
        fail(e);
        goesOn = false;
      }
    }
  }

  private boolean prepare() throws IOException {
    if (!begun) {
      begin();
      return true;
    }
    LogSegment file;
    lock.lock();
    try {
      while (!needsSegment()) {
        if (isEnding()) {
          return false;
        }
        work.awaitUninterruptibly();
      }
      file = spare;
      spare = null;
    } finally {
      lock.unlock();
    }
    LogSegment made =
        file == null
            ? LogSegment.create(disk, id, nextFirst, options.segmentBytes())
            : file.renew(disk, id, nextFirst);
    lock.lock();
    try {
      nextFirst = made.behind();
      ready.add(made);
      haveRoom();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void begin() throws IOException {
    owner.begin();
    LogSegment first = LogSegment.create(disk, id, nextFirst, options.segmentBytes());
    lock.lock();
    try {
      nextFirst = first.behind();
      current = first;
      at = LogSegment.HEADER_BYTES;
      begun = true;
      haveRoom();
    } finally {
      lock.unlock();
    }
  }

  private boolean needsSegment() {
    LogSegment last = current;
    return last != null && ready.isEmpty() && (cuts || at > last.bytes() / 2);
  }

  private boolean sortFull() throws IOException {
    LogSegment oldest;
    lock.lock();
    try {
      while (full.isEmpty()) {
        if (isEnding()) {
          return false;
        }
        work.awaitUninterruptibly();
      }
      oldest = full.getFirst();
      if (isEnding()) {
        return false;
      }
    } finally {
      lock.unlock();
    }
    syncer.await(end);
    owner.sort(oldest);
    boolean isSpare;
    lock.lock();
    try {
      full.remove();
      isSpare = spare == null && oldest.bytes() == options.segmentBytes();
      if (isSpare) {
        spare = oldest;
      }
      haveRoom();
    } finally {
      lock.unlock();
    }
    if (!isSpare) {
      oldest.remove(disk);
    }
    return true;
  }

  private boolean isEnding() {
    return closing || failure != null;
  }

  private void haveRoom() {
    noRoom = null;
    roomChanged.signalAll();
  }

  /** Waits after a failure; returns {@code false} where the log ends. */
  private boolean awaitRetry(IOException cause) {
    lock.lock();
    try {
      noRoom = cause;
      roomChanged.signalAll();
      long left = RETRY_NANOS;
      while (left > 0 && !isEnding()) {
        left = work.awaitNanos(left);
      }
      return !isEnding();
    } catch (InterruptedException e) {
      fail(e); // Nobody interrupts the threads of a log.
      return false;
    } finally {
      lock.unlock();
    }
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
      roomChanged.signalAll();
      work.signalAll();
    } finally {
      lock.unlock();
    }
    Closing.join(preparer);
    Closing.join(sorter);
    Closing.all(syncer::close, this::removeSpare, this::closeFiles, this::check);
  }

  private void removeSpare() {
    LogSegment unused = spare;
    spare = null;
    if (unused != null) {
      try {
        unused.remove(disk);
      } catch (IOException e) {
        LOG.log(System.Logger.Level.WARNING, "the next start removes it: " + unused.name(), e);
      }
    }
  }

  private void closeFiles() {
    lock.lock();
    try {
      List<Runnable> closings = new ArrayList<>();
      full.forEach(segment -> closings.add(segment::close));
      ready.forEach(segment -> closings.add(segment::close));
      LogSegment last = current;
      if (last != null) {
        closings.add(last::close);
      }
      full.clear();
      ready.clear();
      current = null;
      Closing.all(closings);
    } finally {
      lock.unlock();
    }
  }
}
