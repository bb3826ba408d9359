package pando.durable;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.durable.holder.HeadTask;
import pando.durable.holder.HeldLog;
import pando.durable.holder.Holders;
import pando.durable.holder.Inheritance;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.CorruptNodeException;
import pando.index.Lease;
import pando.index.Meters;
import pando.index.MovablePartitions;
import pando.index.Partitioned;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;
import pando.journal.EntryWords;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.RecordVisitor;

/**
 * The log of a compute server of a cluster, which memory servers hold, and what has to be done with
 * it: passes, ranges that are given away, and those that are inherited. Thread-safe.
 */
public final class ClusterLog {
  private static final System.Logger LOG = System.getLogger(ClusterLog.class.getName());

  /** Attempts to replay a log. */
  private static final int REPLAYS_MAX = 3;

  private final Fabric fabric;
  private final ComputeServer name;
  private final Partitioned inner;
  private final IntPredicate isLost;
  private final Supplier<? extends Replay> replays;
  private final HeldLog log;
  private final HeadTask head;
  final Stripes stripes = new Stripes();

  /** Whether it was logged that nodes are damaged. */
  private volatile boolean isDamageKnown;

  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile @Nullable Lease lease;

  /** Replays changes by a session of the index. */
  interface Replay extends RecordVisitor, AutoCloseable {
    @Override
    void close();
  }

  /**
   * Replays what earlier starts of the compute server have logged, and begins a log.
   *
   * @param replays opens sessions that replay
   */
  private ClusterLog(
      Fabric fabric,
      ComputeServer name,
      Partitioned inner,
      IntPredicate isLost,
      Supplier<? extends Replay> replays,
      Duration rest,
      Runnable onFailure) {
    this.fabric = fabric;
    this.name = name;
    this.inner = inner;
    this.isLost = isLost;
    this.replays = replays;
    replayOwn();
    this.log = HeldLog.begin(fabric, name, isLost, onFailure);
    this.head = new HeadTask(fabric, log, this::flush, rest);
  }

  /**
   * An index, and its log.
   *
   * @param index logs what changes it, and closes the log when it is closed
   */
  public record Opened(Partitioned index, ClusterLog log) {}

  /**
   * Has an index log what changes it from now on. What earlier starts of the compute server have
   * logged, and is not in the pool, is in the index when this returns.
   *
   * @param index with one compute server in this process, which has no sessions yet
   * @param name of the compute server, under which its fabric is open; all earlier starts are
   *     fenced, and their leases over
   * @param isLost whether a memory server is known to be gone with its memory
   * @param rest longest time from a change to when the pool begins to get it, so that an heir need
   *     not replay it
   * @param onFailure run when the log fails: the compute server must end then, and start anew
   * @throws pando.fabric.PandoException if a holder does not answer; the index stays open
   */
  public static Opened open(
      Partitioned index,
      ComputeServer name,
      IntPredicate isLost,
      Duration rest,
      Runnable onFailure) {
    return switch (index) {
      case RangeIndex words -> {
        ClusterLog log =
            new ClusterLog(
                words.fabric(),
                name,
                words,
                isLost,
                () -> replay(words.session()),
                rest,
                onFailure);
        yield new Opened(new DurableIndex(words, log), log);
      }
      case ByteStrings strings -> {
        ClusterLog log =
            new ClusterLog(
                strings.fabric(),
                name,
                strings,
                isLost,
                () -> replay(strings.session()),
                rest,
                onFailure);
        yield new Opened(new DurableStrings(strings, log), log);
      }
      default -> throw new IllegalArgumentException("no index of entries: name=" + index.name());
    };
  }

  private static Replay replay(Session session) {
    return new Replay() {
      @Override
      public void visit(long place, Kind kind, MemorySegment key, MemorySegment value) {
        switch (kind) {
          case PUT -> session.store(EntryWords.key(key), EntryWords.value(value));
          case REMOVE -> session.discard(EntryWords.key(key));
          default -> {}
        }
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }

  private static Replay replay(ByteSession session) {
    return new Replay() {
      @Override
      public void visit(long place, Kind kind, MemorySegment key, MemorySegment value) {
        switch (kind) {
          case PUT -> session.store(key, value);
          case REMOVE -> session.discard(key);
          default -> {}
        }
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }

  private void replayOwn() {
    try (Holders holders = new Holders(fabric, isLost)) {
      holders.end(name.number(), name.epoch());
      replay(new Inheritance(holders));
    }
  }

  private void replay(Inheritance inheritance) {
    try (Replay replay = replays.get()) {
      inheritance.replay(this::isOwn, replay, this::flushWhatIsLeft);
    }
  }

  /** Writes all to the pool but what needs damaged nodes, which nobody can read any more. */
  private void flush() {
    try {
      inner.flush();
    } catch (CorruptNodeException e) {
      if (!isDamageKnown) {
        isDamageKnown = true;
        LOG.log(Level.ERROR, "changes of damaged nodes are not written to the pool", e);
      }
    }
  }

  /**
   * As {@link #flush}, but what needs a lost memory server is left in local memory: with it in the
   * log no other compute server could take the range over.
   */
  private void flushWhatIsLeft() {
    try {
      flush();
    } catch (MemoryServerLostException e) {
      if (!isAnyLost()) {
        throw e;
      }
      LOG.log(Level.ERROR, "changes that need a lost memory server are in local memory alone", e);
    }
  }

  private boolean isAnyLost() {
    return IntStream.range(0, fabric.memoryServers()).anyMatch(isLost);
  }

  private boolean isOwn(MemorySegment key) {
    Partitioning table = inner.partitioning();
    int owner =
        table.hasFences()
            ? table.ownerOfRange(KeyBounds.rangeOfKey(table, key))
            : table.ownerOfKey(EntryWords.key(key));
    return owner == name.number();
  }

  SessionLog session() {
    return new JournalLog(log);
  }

  @Nullable Lease lease() {
    return lease;
  }

  void answerWhile(Lease held) {
    lease = Objects.requireNonNull(held, "held");
  }

  MovablePartitions partitions() {
    return new LoggedPartitions(inner.partitions().orElseThrow(), this);
  }

  /** Takes a step that gives a range away, once the pool has all that the log has. */
  <T> T afterPass(Supplier<T> giving) {
    // Most is written while changes go on.
    flush();
    List<T> result = new ArrayList<>();
    stripes.alone(() -> {
      log.check();
      HeadTask.passSurely(log, this::flush);
      result.add(giving.get());
    });
    return result.getFirst();
  }

  /**
   * Takes the range of a compute server over, and replays its log. What is read meanwhile is read
   * again, and changes wait. The log fails if the range is here and its last changes may be
   * missing.
   *
   * @param below the starts of the lost one before this epoch are fenced, and their leases over
   */
  public void inherit(int lost, long below) {
    MovablePartitions partitions = inner.partitions().orElseThrow();
    try (Holders holders = new Holders(fabric, isLost)) {
      holders.end(lost, below);
      Inheritance inheritance = new Inheritance(holders);
      stripes.alone(() -> {
        log.check();
        stripes.beginInheritance();
        boolean isWhole = false;
        try {
          takeOver(partitions, lost);
          replaySurely(inheritance);
          isWhole = true;
        } catch (Throwable e) {
          isWhole = isStillWith(partitions, lost, e);
          throw e;
        } finally {
          if (isWhole) {
            stripes.endInheritance();
          }
        }
      });
    }
  }

  /** Writes the partition table, if it is not written. A failure after that does not count. */
  private void takeOver(MovablePartitions partitions, int lost) {
    try {
      partitions.takeOver(lost, name.number());
    } catch (FencedException e) {
      throw e;
    } catch (PandoException e) {
      if (inner.partitioning().hasServer(lost) || partitions.readPartitions().hasServer(lost)) {
        throw e;
      }
      LOG.log(Level.DEBUG, "the range is taken over, but a step behind that has failed", e);
    }
  }

  private void replaySurely(Inheritance inheritance) {
    for (int attempt = 1; ; attempt++) {
      try {
        replay(inheritance);
        return;
      } catch (FencedException e) {
        throw e;
      } catch (PandoException e) {
        if (attempt == REPLAYS_MAX) {
          throw e;
        }
        LOG.log(Level.DEBUG, "a log is replayed again", e);
      }
    }
  }

  /** Returns whether the lost one has its range still; else the log fails. */
  private boolean isStillWith(MovablePartitions partitions, int lost, Throwable failure) {
    boolean isThere = false;
    try {
      isThere = partitions.readPartitions().hasServer(lost);
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
    if (!isThere) {
      log.fail(failure);
    }
    return isThere;
  }

  /** Has all fail that waits for the log: the compute server ends. */
  public void fail(Throwable cause) {
    log.fail(cause);
  }

  void meters(Meters to) {
    to.count("pando.log.bytes", "Bytes by which the log has grown.", log::end);
    to.gauge(
        "pando.log.behind.bytes",
        "Bytes of the log that not all memory servers have that hold it.",
        () -> log.end() - log.synced());
    to.gauge(
        "pando.log.head.bytes",
        "Bytes of the log that the pool may lack, so that an heir replays them.",
        log::bytesBehind);
  }

  /** Closes the index, and then the log: the pool has all of it. */
  void close(Runnable index) {
    Closing.all(head::close, () -> closeIndex(index));
  }

  private void closeIndex(Runnable index) {
    boolean isWritten = false;
    try {
      boolean wasOpen = !inner.isClosed();
      stripes.alone(index);
      isWritten = wasOpen;
    } finally {
      if (inner.isClosed() && ended.compareAndSet(false, true)) {
        end(isWritten);
      }
    }
  }

  private void end(boolean isWritten) {
    try {
      if (isWritten && !log.hasFailed()) {
        log.setHeadSurely(log.end());
      }
    } catch (LogFailedException | LogFullException e) {
      LOG.log(Level.DEBUG, "the next start replays what is in the pool already", e);
    } finally {
      log.close();
    }
  }
}
