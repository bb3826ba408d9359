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
 * The segments of a log, without the one that records go to: those that are ready to be used, and
 * those that are full. One thread makes them ready and another one has them sorted, so that neither
 * waits for the other. Methods that do not say otherwise are called with the log's lock held.
 */
final class Segments {
  private static final System.Logger LOG = System.getLogger("pando.journal");

  /** So many segments may be full and not sorted before changes wait. */
  private static final int FULL_MAX = 16;

  /** The time after which something that has failed is tried again. */
  private static final long RETRY_NANOS = 1_000_000_000;

  private final Log log;
  private final ReentrantLock lock;
  private final Disk disk;
  private final UUID id;
  private final int segmentBytes;
  private final LogOwner owner;

  private final Thread preparer = thread("pando-log-preparer", this::prepare);
  private final Thread sorter = thread("pando-log-sorter", this::sort);

  /** Room was made, or it is known that there is none. */
  private final Condition roomChanged;

  /** There is something to prepare or to sort. */
  private final Condition work;

  private final Deque<LogSegment> full = new ArrayDeque<>();
  private final Deque<LogSegment> ready = new ArrayDeque<>();

  /** The file of a segment that was sorted, or not used yet, to be used again. */
  private @Nullable LogSegment spare;

  /** Where the next segment that is made begins. */
  private long nextFirst;

  /** Whether a segment is to be made ready. */
  private boolean wanted = true;

  private boolean begun;

  /** Whether the owner has noted that there is a segment. */
  private boolean noted;

  private boolean closing;

  /** Why there is no room, or no full segment can be sorted; {@code null} if all is well. */
  private @Nullable Exception noRoom;

  /** A thread's work. */
  private interface Work {
    /** Waits for something to do, and does it; returns {@code false} where the log ends. */
    boolean doSome() throws IOException;
  }

  /**
   * Creates segments of a log.
   *
   * @param lock of the log
   * @param first where the first one begins
   */
  Segments(
      Log log,
      ReentrantLock lock,
      Disk disk,
      UUID id,
      long first,
      int segmentBytes,
      LogOwner owner) {
    this.log = log;
    this.lock = lock;
    this.disk = disk;
    this.id = id;
    this.nextFirst = first;
    this.segmentBytes = segmentBytes;
    this.owner = owner;
    this.roomChanged = lock.newCondition();
    this.work = lock.newCondition();
  }

  private Thread thread(String name, Work its) {
    return Thread.ofPlatform().daemon().name(name).unstarted(() -> run(its));
  }

  /**
   * Starts the threads; returns once a segment is ready, or it is known that none can be. Without
   * the lock.
   */
  void start() {
    preparer.start();
    sorter.start();
    lock.lock();
    try {
      while (ready.isEmpty() && noRoom == null && !log.hasFailed()) {
        roomChanged.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns how many segments are ready. */
  int ready() {
    return ready.size();
  }

  /** Takes a segment that is ready; {@code null} if none is. */
  @Nullable LogSegment poll() {
    return ready.poll();
  }

  /** Asks for a segment, unless one is ready. */
  void want() {
    wanted |= ready.isEmpty();
    work.signalAll();
  }

  /** Has a segment sorted to which nothing is appended any more. */
  void addFull(LogSegment segment) {
    full.add(segment);
    work.signalAll();
  }

  boolean areTooManyFull() {
    return full.size() > FULL_MAX;
  }

  /** Returns the full segments that have something between two places, in ascending order. */
  List<LogSegment> full(long from, long to) {
    List<LogSegment> some = new ArrayList<>();
    for (LogSegment segment : full) {
      if (segment.behind() > from && segment.first() < to) {
        some.add(segment);
      }
    }
    return some;
  }

  /**
   * Waits until there may be more room: the caller looks whether there is enough.
   *
   * @param bytes that are needed, for the message
   * @param needsSegment whether another segment has to be made, also where some are ready: others
   *     have reserved what these have, and may never use it
   * @throws LogFullException if the disk has none
   */
  @SuppressWarnings("WaitNotInLoop") // The callers look again.
  void awaitRoom(long bytes, boolean needsSegment) {
    wanted |= needsSegment;
    work.signalAll();
    Exception cause = noRoom;
    if (cause != null) {
      throw new LogFullException(
          "the log has no room: folder=%s, bytes=%s, cause=%s"
              .formatted(disk, bytes, cause.getMessage()),
          cause);
    }
    roomChanged.awaitUninterruptibly();
  }

  /** Returns why there is no room; empty if there is. */
  Optional<String> hindrance() {
    return Optional.ofNullable(noRoom)
        .map(its -> "the log has no room: folder=%s, cause=%s".formatted(disk, its.getMessage()));
  }

  /** Has all that wait look whether the log has failed. */
  void wake() {
    roomChanged.signalAll();
    work.signalAll();
  }

  // The threads, without the lock.

  private void run(Work its) {
    boolean goesOn = true;
    while (goesOn) {
      try {
        goesOn = its.doSome();
      } catch (ForceFailedException e) {
        log.fail(e);
        goesOn = false;
      } catch (IOException e) {
        goesOn = awaitRetry(e);
      } catch (Throwable e) {
        log.fail(e);
        goesOn = false;
      }
    }
  }

  private boolean prepare() throws IOException {
    if (!begun) {
      owner.begin();
      begun = true;
    }
    LogSegment file;
    lock.lock();
    try {
      while (!wanted) {
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
            ? LogSegment.create(disk, id, nextFirst, segmentBytes)
            : file.renew(disk, id, nextFirst);
    note(made);
    lock.lock();
    try {
      nextFirst = made.behind();
      ready.add(made);
      wanted = false;
      haveRoom();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Has the owner note that there is a segment, once. */
  private void note(LogSegment made) throws IOException {
    if (noted) {
      return;
    }
    try {
      owner.begun();
      noted = true;
    } catch (IOException e) {
      lock.lock();
      try {
        spare = made;
      } finally {
        lock.unlock();
      }
      throw e;
    }
  }

  private boolean sort() throws IOException {
    LogSegment oldest;
    lock.lock();
    try {
      while (full.isEmpty() && !isEnding()) {
        work.awaitUninterruptibly();
      }
      if (isEnding()) {
        return false;
      }
      oldest = full.getFirst();
    } finally {
      lock.unlock();
    }
    log.awaitSynced(log.end());
    owner.sort(oldest);
    boolean isSpare;
    lock.lock();
    try {
      full.remove();
      isSpare = spare == null;
      if (isSpare) {
        spare = oldest;
      }
      haveRoom();
    } finally {
      lock.unlock();
    }
    if (!isSpare) {
      remove(oldest);
    }
    return true;
  }

  private boolean isEnding() {
    return closing || log.hasFailed();
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
      log.fail(e); // Nobody interrupts these threads.
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the threads. Without the lock. */
  void close() {
    lock.lock();
    try {
      closing = true;
      wake();
    } finally {
      lock.unlock();
    }
    Closing.join(preparer);
    Closing.join(sorter);
  }

  /** Closes all files, once nothing is written any more. */
  void closeFiles() {
    List<Runnable> closings = new ArrayList<>();
    full.forEach(segment -> closings.add(segment::close));
    ready.forEach(segment -> closings.add(segment::close));
    LogSegment unused = spare;
    if (unused != null) {
      closings.add(() -> remove(unused));
    }
    full.clear();
    ready.clear();
    spare = null;
    Closing.all(closings);
  }

  private void remove(LogSegment unused) {
    try {
      unused.remove(disk);
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "the next start removes it: " + unused.name(), e);
    }
  }
}
