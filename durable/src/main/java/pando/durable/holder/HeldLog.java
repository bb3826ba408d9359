package pando.durable.holder;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.LogOptions;
import pando.journal.RecordBuilder;
import pando.journal.RecordLog;
import pando.journal.RecordStream;
import pando.journal.SyncedPlace;

/**
 * The log of one start of a compute server. Its <em>holders</em>, memory servers 0 and 1 or the
 * only one, keep it. A change is safe once all holders in force have it. Thread-safe.
 */
public final class HeldLog implements RecordLog, AutoCloseable {
  /*
   *   changes --append--> bytes that some holder lacks --pump, CALLs--> holder 0
   *                                                    --pump, CALLs--> holder 1
   *
   *   head                          synced            sent           end
   *   --+-----------------------------+----------------+--------------+
   *     | holders have it, the pool   | some holders   | none has it  |
   *     | may lack it                 | have it        |              |
   *
   * Each holder has a pump, a background task that sends what has gathered since its last CALL. So
   * many changes share a CALL when there are many, and one that is alone waits for none. A place is
   * synced once all holders in force have said that they have all before it.
   *
   * Everything before the head is in the pool; the holders forget it. The head goes on by passes:
   * the end is noted, the index writes back all that is changed in local memory alone, and then the
   * end that was noted is the head. A change takes effect before it is appended, so a pass writes
   * whatever was appended before it began.
   *
   * A compute server that is lost is fenced at all memory servers before anybody looks at its log.
   * So the log grows no more. The heir sets an end at all holders before it writes the partition
   * table, and replays the log before it serves the range (Holders, Inheritance).
   *
   * A holder that is lost is taken out of force. The log sends the new set of holders to the others.
   * Only answers to requests with that set count. So no other holder says later that the lost one
   * is in force.
   *
   * A range that goes to another compute server while both run takes nothing along: the giver makes
   * a pass first, while it changes nothing, and all holders know that head before the partition
   * table changes. So no log has changes of a range that another compute server has changed since.
   */

  private static final System.Logger LOG = System.getLogger(HeldLog.class.getName());

  /** Bytes that some holder lacks at which changes wait. */
  private static final long LACKING_MAX = 4L << 20;

  /** The longest record: data folders of holders take no longer one. */
  private static final long RECORD_BYTES_MAX = LogOptions.defaults().recordBytesMax();

  /** Bytes behind the head at which changes wait. */
  private static final long BEHIND_MAX = 64L << 20;

  /** A pass begins when so many bytes are behind the head. */
  static final long PASS_BYTES = 8L << 20;

  private final ComputeServer name;
  private final RecordStream stream;
  private final Runnable onFailure;
  private final SyncedPlace synced = new SyncedPlace(this, 0, _ -> {});
  private final List<LogPump> pumps = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();

  /** There may be room, or the log has failed. */
  private final Condition changed = lock.newCondition();

  /** What some holder in force lacks. */
  private final ByteRow lacking = new ByteRow();

  private long reserved;
  private volatile long end;
  private volatile long head;

  /** A bit for each holder that must have a change before it is acknowledged. */
  private volatile int force;

  /** Long records that wait for room. */
  private int longWaiting;

  /**
   * Why there will be no room soon: by holder, and behind them for passes; {@code null} if fine.
   */
  private final @Nullable Throwable[] stuck;

  private volatile @Nullable Throwable failure;
  private volatile @Nullable HeadTask headTask;

  private HeldLog(Fabric fabric, ComputeServer name, IntPredicate isLost, Runnable onFailure) {
    this.name = name;
    this.stream = new RecordStream(name.toString(), name.process());
    this.onFailure = onFailure;
    int holders = Holders.countOf(fabric);
    this.force = (1 << holders) - 1;
    this.stuck = new Throwable[holders + 1];
    for (int holder = 0; holder < holders; holder++) {
      pumps.add(new LogPump(this, fabric, name, holder, isLost));
    }
  }

  /**
   * Begins a log.
   *
   * @param fabric opened under the name
   * @param name of the compute server
   * @param isLost whether a memory server is known to be gone with its memory; asked where it does
   *     not answer
   * @param onFailure run when the log fails: the compute server must end then, and start anew
   * @throws pando.fabric.PandoException if a holder does not answer
   */
  public static HeldLog begin(
      Fabric fabric, ComputeServer name, IntPredicate isLost, Runnable onFailure) {
    HeldLog log = new HeldLog(fabric, name, isLost, onFailure);
    try {
      log.pumps.forEach(LogPump::begin);
      return log;
    } catch (Throwable e) {
      Closing.after(e, log::close);
      throw e;
    }
  }

  /** Sets what has the head go on. */
  void setHeadTask(HeadTask task) {
    headTask = task;
  }

  @Override
  public boolean waitsForSync() {
    return true;
  }

  @Override
  public boolean outlivesFailure() {
    return true;
  }

  @Override
  public void reserve(long bytes) {
    reserve(bytes, BEHIND_MAX);
  }

  /** {@inheritDoc} That is, for a pass. */
  @Override
  public void reserveAlone(long bytes) {
    reserve(bytes, Long.MAX_VALUE);
  }

  private void reserve(long bytes, long behindMax) {
    if (bytes > RECORD_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a change is too long for the log: bytes=%s, maximum=%s"
              .formatted(bytes, RECORD_BYTES_MAX));
    }
    boolean isLong = bytes > LACKING_MAX / 2;
    lock.lock();
    try {
      check();
      longWaiting += isLong ? 1 : 0;
      try {
        while (!hasRoom(bytes, behindMax, isLong)) {
          refuseIfStuck();
          noteIfMuch(bytes, behindMax);
          changed.awaitUninterruptibly();
          check();
        }
      } finally {
        longWaiting -= isLong ? 1 : 0;
      }
      reserved += bytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * A long record finds room once nothing else is there. Others wait while one waits, but what is
   * reserved {@linkplain #reserveAlone alone} does not: the pass that a long one may wait for waits
   * for it.
   */
  private boolean hasRoom(long bytes, long behindMax, boolean isLong) {
    if (longWaiting > 0 && !isLong && behindMax != Long.MAX_VALUE) {
      return false;
    }
    boolean isFirst = reserved == 0 && end == lacking.first();
    boolean fits = isFirst || end - lacking.first() + reserved + bytes <= LACKING_MAX;
    return fits && !isMuchBehind(bytes, behindMax) && !isAnyHolderFull();
  }

  private boolean isAnyHolderFull() {
    for (int holder = 0; holder < pumps.size(); holder++) {
      if (pumps.get(holder).isFull()) {
        return true;
      }
    }
    return false;
  }

  private boolean isMuchBehind(long bytes, long behindMax) {
    return end != head && end - head + reserved + bytes > behindMax;
  }

  private void noteIfMuch(long bytes, long behindMax) {
    HeadTask task = headTask;
    if (task != null && isMuchBehind(bytes, behindMax)) {
      task.noteMuch();
    }
  }

  /** Refuses a change that finds no room, where it would wait for too long. */
  private void refuseIfStuck() {
    for (Throwable its : stuck) {
      if (its != null) {
        throw new LogFullException(
            "the log finds no room, and nothing was changed: log=%s, bytes that the pool may lack=%s, cause=%s"
                .formatted(name, end - head, its.getMessage()),
            its);
      }
    }
  }

  @Override
  public void release(long bytes) {
    lock.lock();
    try {
      reserved -= bytes;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long append(RecordBuilder record) {
    int inner = record.innerSum();
    long behind;
    lock.lock();
    try {
      check();
      MemorySegment bytes = stream.bytes(record, end, inner);
      lacking.append(bytes, 0, bytes.byteSize());
      reserved -= bytes.byteSize();
      behind = end + bytes.byteSize();
      end = behind;
    } catch (LogFailedException e) {
      throw e;
    } catch (Throwable e) {
      fail(e);
      throw failed(e);
    } finally {
      lock.unlock();
    }
    pumps.forEach(LogPump::wake);
    noteBehind(behind - head, behind - head == record.bytes());
    return behind;
  }

  private void noteBehind(long bytes, boolean isFirst) {
    HeadTask task = headTask;
    if (task != null && bytes >= PASS_BYTES) {
      task.noteMuch();
    } else if (task != null && isFirst) {
      task.noteSome();
    }
  }

  /** Returns the place behind the last change. */
  public long end() {
    return end;
  }

  /** Returns the place before which all is in the pool. */
  long head() {
    return head;
  }

  /** Returns how many bytes the pool may lack. */
  public long bytesBehind() {
    return end - head;
  }

  /** Advances the head: all before is in the pool. Each holder learns of it with its next CALL. */
  void setHead(long to) {
    lock.lock();
    try {
      head = Math.max(head, to);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    pumps.forEach(LogPump::wake);
  }

  /**
   * Advances the head, and returns once all holders in force know.
   *
   * @throws LogFullException if the disk of one has no room for what it lacks
   */
  public void setHeadSurely(long to) {
    setHead(to);
    for (LogPump pump : pumps) {
      if (isInForce(pump.holder())) {
        pump.awaitHead(to);
      }
    }
  }

  /** Takes a holder out of force, which is lost. */
  void lose(int holder) {
    if (isInForce(holder)) {
      LOG.log(Level.WARNING, "a holder of logs is lost: holder={0}, log={1}", holder, name);
      lock.lock();
      try {
        force &= ~(1 << holder);
        stuck[holder] = null;
      } finally {
        lock.unlock();
      }
      if (force == 0) {
        fail(new IllegalStateException("all holders of the log are lost"));
      }
      pumps.forEach(LogPump::wakeWaiting);
      pumps.forEach(LogPump::wake);
    }
  }

  boolean isInForce(int holder) {
    return (force >>> holder & 1) == 1;
  }

  int force() {
    return force;
  }

  /**
   * Copies bytes that follow those that a holder has; returns how many, -1 if they are gone, as the
   * holder is not in force any more.
   *
   * @param most for which there is room
   */
  int copy(long place, MemorySegment to, long at, int most) {
    lock.lock();
    try {
      if (place < lacking.first()) {
        return -1;
      }
      int bytes = (int) Math.min(most, end - place);
      lacking.copy(place, to, at, bytes);
      return bytes;
    } finally {
      lock.unlock();
    }
  }

  /** Computes what all holders in force have, after an answer. */
  void noteAnswer() {
    long least = Long.MAX_VALUE;
    lock.lock();
    try {
      for (LogPump pump : pumps) {
        if (isInForce(pump.holder())) {
          // What it has counts once it knows who else is in force.
          least = Math.min(least, pump.force() == force ? pump.kept() : synced.get());
        }
      }
      if (least != Long.MAX_VALUE) {
        lacking.cutBefore(least);
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
    if (PlantedLogBug.ONE_HOLDER) {
      least = pumps.stream().mapToLong(LogPump::kept).max().orElseThrow();
    }
    if (least != Long.MAX_VALUE && least > synced.get()) {
      synced.advance(least);
      for (LogPump pump : pumps) {
        if (pump.lacksHead()) {
          pump.wake();
        }
      }
    }
  }

  /**
   * Notes that a holder does not answer: changes that find no room are refused. Or that it has no
   * room itself ({@link LogFullException}): all changes are refused, as they would wait for it.
   *
   * @param cause {@code null} if it answers again, and has room
   */
  void noteHolder(int holder, @Nullable Throwable cause) {
    noteStuck(holder, cause);
  }

  /**
   * Notes that a pass fails: changes that find no room are refused.
   *
   * @param cause {@code null} if one has succeeded
   */
  void notePass(@Nullable Throwable cause) {
    noteStuck(stuck.length - 1, cause);
  }

  private void noteStuck(int source, @Nullable Throwable cause) {
    lock.lock();
    try {
      stuck[source] = cause;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long synced() {
    return synced.get();
  }

  @Override
  public void awaitSynced(long lsn) {
    synced.await(lsn);
  }

  @Override
  public void whenSynced(long lsn, Runnable task) {
    synced.whenSynced(lsn, task);
  }

  @Override
  public void fail(Throwable cause) {
    boolean isFirst;
    lock.lock();
    try {
      isFirst = failure == null;
      if (isFirst) {
        failure = cause;
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    synced.wake();
    if (isFirst) {
      pumps.forEach(LogPump::wakeWaiting);
      onFailure.run();
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
        "the log has failed, and this compute server must start anew: log=%s, cause=%s"
            .formatted(name, cause),
        cause);
  }

  /**
   * Ends the pumps. What no holder has is not sent any more; all that was acknowledged stays with
   * the holders.
   */
  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    pumps.forEach(pump -> steps.add(pump::close));
    Closing.all(steps);
  }
}
