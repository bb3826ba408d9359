package pando.durable.holder;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.server.CallFailedException;

/**
 * The logs of all compute servers at their holders, for a compute server that ends and replays
 * them. For one thread.
 *
 * <p>Methods throw a {@link pando.fabric.PandoException} where a holder does not answer that is not
 * known to be lost, or the disk of its data folder has no room; they can be called again.
 */
public final class Holders implements AutoCloseable {
  /*
   * Each holder has a log before anything of it is acknowledged. So where one that is in force does
   * not have a log that has ended elsewhere, the log was replayed, and others missed that it was
   * dropped: because the one that dropped it was lost half-way, or because they were lost themselves,
   * and came back with what they had. A compute server that sees an ended log of this kind drops it.
   * It looks twice: the holders are asked one after the other, and the log may have begun and ended
   * between the two.
   *
   * A log ends where the holder that has most of it has it, and the others get what they lack
   * before it ends anywhere. So what was acknowledged is before the end, a second attempt finds
   * the same end, and all holders have the same changes: no change is at one of them alone. What was
   * not acknowledged may be before the end as well; then it happens when the log is replayed.
   */

  private static final System.Logger LOG = System.getLogger(Holders.class.getName());

  /** Memory servers 0 and 1 hold logs, or the one that there is. */
  public static final int HOLDERS_MAX = 2;

  private static final long CALL_NANOS_MAX = 5_000_000_000L;

  private final int count;
  private final int memoryServers;
  private final IntPredicate isLost;
  private final RegisteredMemory memory;
  private final HolderCalls calls;
  private final MemorySegment frame;

  /** What each holder says of its logs, by name; {@code null} for one that is lost. */
  private final List<@Nullable Map<ComputeServer, LogCopy>> copies = new ArrayList<>();

  /**
   * Connects to the holders.
   *
   * @param isLost whether a memory server is known to be gone with its memory; asked where it does
   *     not answer
   */
  public Holders(Fabric fabric, IntPredicate isLost) {
    this.count = countOf(fabric);
    this.memoryServers = fabric.memoryServers();
    this.isLost = isLost;
    this.memory = fabric.register(Worker.CALL_BYTES_MAX);
    this.frame = memory.segment();
    this.calls = new HolderCalls(fabric.worker(memory), frame, CALL_NANOS_MAX);
  }

  /** Returns whether a memory server is known to be gone with its memory, holder or not. */
  boolean isAnyLost() {
    return IntStream.range(0, memoryServers).anyMatch(isLost);
  }

  /** Returns how many holders there are: their numbers are those below. */
  static int countOf(Fabric fabric) {
    return Math.min(HOLDERS_MAX, fabric.memoryServers());
  }

  /**
   * Ends the logs of all starts of a compute server before an epoch, which are fenced, and whose
   * leases are over. A second attempt finds the same end.
   */
  public void end(int number, long below) {
    list();
    for (ComputeServer log : names()) {
      if (log.number() == number && log.epoch() < below) {
        end(log);
      }
    }
  }

  /**
   * Returns the logs that have ended and are still to be replayed; drops those that are replayed.
   */
  List<ComputeServer> pending() {
    list();
    Set<ComputeServer> replayed = replayed();
    if (!replayed.isEmpty()) {
      list();
      replayed.retainAll(replayed());
    }
    List<ComputeServer> pending = new ArrayList<>();
    for (ComputeServer log : names()) {
      if (replayed.contains(log)) {
        drop(log);
      } else if (ended(log) != null) {
        pending.add(log);
      }
    }
    return pending;
  }

  private Set<ComputeServer> replayed() {
    return names().stream().filter(this::isReplayed).collect(Collectors.toSet());
  }

  private SortedSet<ComputeServer> names() {
    SortedSet<ComputeServer> names =
        new TreeSet<>(Comparator.comparingLong(ComputeServer::process));
    copies.forEach(each -> {
      if (each != null) {
        names.addAll(each.keySet());
      }
    });
    return names;
  }

  private @Nullable LogCopy copy(int holder, ComputeServer log) {
    Map<ComputeServer, LogCopy> its = copies.get(holder);
    return its == null ? null : its.get(log);
  }

  /** Returns a bit for each holder that is in force for a log, as those say that have it. */
  private int force(ComputeServer log) {
    int force = -1;
    for (int holder = 0; holder < count; holder++) {
      LogCopy its = copy(holder, log);
      force &= its == null ? -1 : its.force();
    }
    return force;
  }

  /** Returns the holders that answer and are in force. */
  private List<Integer> inForce(ComputeServer log) {
    int force = force(log);
    List<Integer> some = new ArrayList<>();
    for (int holder = 0; holder < count; holder++) {
      if ((force >>> holder & 1) == 1 && copies.get(holder) != null) {
        some.add(holder);
      }
    }
    return some;
  }

  /** Returns whether a log that has ended elsewhere is missing at a holder in force. */
  private boolean isReplayed(ComputeServer log) {
    boolean isMissing = inForce(log).stream().anyMatch(holder -> copy(holder, log) == null);
    return isMissing && ended(log) != null;
  }

  private @Nullable LogCopy ended(ComputeServer log) {
    for (int holder = 0; holder < count; holder++) {
      LogCopy its = copy(holder, log);
      if (its != null && its.hasEnded()) {
        return its;
      }
    }
    return null;
  }

  /** Ends a log at the greatest place up to which a holder in force has it. */
  private void end(ComputeServer log) {
    long end = endOf(log);
    if (ended(log) == null) {
      complete(log, end);
    }
    for (int holder = 0; holder < count; holder++) {
      LogCopy its = copy(holder, log);
      if (its != null) {
        long kept = inForce(log).contains(holder) ? end : its.kept();
        long place = its.hasEnded() ? its.end() : Math.min(end, kept);
        end(holder, log, place);
      }
    }
  }

  private void end(int holder, ComputeServer log, long place) {
    LogFrame.set(frame, LogFrame.END, log, place);
    calls.call(holder);
    LogFrame.checkDiskHasRoom(frame, holder);
  }

  private long endOf(ComputeServer log) {
    List<Integer> some = inForce(log);
    if (some.isEmpty()) {
      LOG.log(
          Level.ERROR,
          "all holders of a log are lost, and with them what was acknowledged last: {0}",
          log);
    }
    long end = 0;
    for (int holder : some) {
      LogCopy its = copy(holder, log);
      if (its == null) {
        return 0; // Nothing was ever acknowledged.
      }
      if (its.hasEnded()) {
        return its.end();
      }
      end = Math.max(end, its.kept());
    }
    return end;
  }

  /** Has all holders in force have a log up to its end. */
  private void complete(ComputeServer log, long end) {
    List<Integer> some = inForce(log);
    for (int holder : some) {
      LogCopy its = copy(holder, log);
      if (its != null && its.kept() < end) {
        int whole =
            some.stream()
                .filter(other -> Objects.requireNonNull(copy(other, log)).kept() == end)
                .findFirst()
                .orElseThrow();
        copyTo(holder, its, whole, end);
      }
    }
  }

  private void copyTo(int holder, LogCopy copy, int whole, long end) {
    long kept = copy.kept();
    while (kept < end) {
      LogFrame.set(frame, LogFrame.READ, copy.log(), kept);
      int bytes = (int) Math.min(Math.min(calls.call(whole), end - kept), LogFrame.RECORDS_MAX);
      MemorySegment.copy(frame, 0, frame, LogFrame.RECORDS, bytes);
      LogFrame.set(frame, LogFrame.COMPLETE, copy.log(), kept, copy.head(), copy.force(), bytes);
      calls.call(holder);
      LogFrame.checkDiskHasRoom(frame, holder);
      long now = frame.get(LogFrame.LONG, LogFrame.KEPT);
      if (bytes <= 0 || now <= kept) {
        throw new IllegalStateException(
            "a holder does not take what it lacks of a log: holder=%s, kept=%s, end=%s, log=%s"
                .formatted(holder, now, end, copy));
      }
      kept = now;
    }
  }

  /**
   * Returns the bytes of a log from its head to its end; {@code null} if another compute server has
   * dropped it.
   */
  @Nullable Bytes read(ComputeServer log) {
    for (int holder : inForce(log)) {
      LogCopy its = copy(holder, log);
      if (its != null && its.hasEnded()) {
        try {
          return read(holder, its);
        } catch (CallFailedException e) {
          list();
          if (copy(holder, log) == null) {
            return null;
          }
          throw e;
        }
      }
    }
    return null;
  }

  /**
   * A part of a log.
   *
   * @param first place of its first byte
   */
  record Bytes(long first, MemorySegment bytes) {}

  private Bytes read(int holder, LogCopy copy) {
    long first = copy.head();
    int length = Math.toIntExact(Math.max(0, copy.end() - first));
    MemorySegment bytes = MemorySegment.ofArray(new byte[length]);
    int done = 0;
    while (done < length) {
      LogFrame.set(frame, LogFrame.READ, copy.log(), first + done);
      int some = Math.min(calls.call(holder), length - done);
      if (some <= 0) {
        throw new IllegalStateException(
            "a holder lacks bytes of a log: holder=%s, place=%s, log=%s"
                .formatted(holder, first + done, copy));
      }
      MemorySegment.copy(frame, 0, bytes, done, some);
      done += some;
    }
    return new Bytes(first, bytes);
  }

  /** Has all holders forget a log that is replayed. */
  void drop(ComputeServer log) {
    for (int holder = 0; holder < count; holder++) {
      LogCopy its = copy(holder, log);
      if (its != null) {
        if (!its.hasEnded()) {
          // It was lost when the log was ended.
          end(holder, log, its.kept());
        }
        LogFrame.set(frame, LogFrame.DROP, log, 0);
        calls.call(holder);
      }
    }
  }

  private void list() {
    copies.clear();
    for (int holder = 0; holder < count; holder++) {
      copies.add(listOrLost(holder));
    }
  }

  private @Nullable Map<ComputeServer, LogCopy> listOrLost(int holder) {
    try {
      return list(holder);
    } catch (MemoryServerLostException | StalledException e) {
      if (isLost.test(holder)) {
        return null;
      }
      throw e;
    }
  }

  private Map<ComputeServer, LogCopy> list(int holder) {
    Map<ComputeServer, LogCopy> all = new HashMap<>();
    long next = 0;
    int count;
    do {
      LogFrame.set(frame, LogFrame.LIST, LogFrame.NOBODY, next);
      calls.call(holder);
      count = (int) frame.get(LogFrame.LONG, LogFrame.COUNT);
      for (int i = 0; i < count; i++) {
        LogCopy copy = LogCopy.read(frame, LogFrame.COPIES + (long) i * LogFrame.COPY_BYTES);
        all.put(copy.log(), copy);
        next = copy.began() + 1;
      }
    } while (count == LogFrame.COPIES_MAX);
    return all;
  }

  @Override
  public void close() {
    calls.close();
    memory.close();
  }
}
