package pando.durable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.journal.FolderLoad;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;

/**
 * A log in memory that a test can look into. Words are {@link Long}s in it, byte strings texts with
 * a character for each byte. Thread-safe.
 */
final class MemoryLog {
  /** A record; a key without a value was removed. */
  record Logged(long lsn, Object key, @Nullable Object value) {}

  /** What a record says of a key; without a value it was removed. */
  private record Change(Object key, @Nullable Object value) {}

  /** For an index that nobody loads. */
  static final Supplier<FolderLoad> NO_LOADS =
      () -> {
        throw new AssertionError("no load");
      };

  private final boolean waits;
  private final Map<Object, List<Logged>> histories = new HashMap<>();
  private final Map<Object, Object> state = new HashMap<>();
  private long end;
  private long reserved;
  private long room = Long.MAX_VALUE;
  private boolean holdsSync;
  private boolean breaks;
  private boolean isHeld;
  private @Nullable Throwable failure;
  private volatile long synced;
  private volatile Runnable beforeAppend = () -> {};

  /**
   * Creates an empty log.
   *
   * @param waits whether answers wait for the disk
   */
  MemoryLog(boolean waits) {
    this.waits = waits;
  }

  /** Makes a session's way to the log. */
  SessionLog session() {
    return new Appender();
  }

  /** Returns a byte string as the log has it. */
  static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
  }

  /** Has sessions that are opened from now on see a log of a cluster, whose heirs replay it. */
  void hold() {
    isHeld = true;
  }

  /** Has something happen before each record is appended. */
  void beforeAppend(Runnable action) {
    beforeAppend = action;
  }

  /** Has no room for more than so many bytes from now on. */
  synchronized void leaveRoom(long bytes) {
    room = end + reserved + bytes;
  }

  /** Has nothing get to the disk until it is to {@linkplain #goOn go on}. */
  synchronized void holdSync() {
    holdsSync = true;
  }

  /** Has the disk go on. */
  synchronized void goOn() {
    holdsSync = false;
    notifyAll();
  }

  /** Has the next record not get into the log. */
  synchronized void breakNextAppend() {
    breaks = true;
  }

  synchronized long end() {
    return end;
  }

  /** Returns the bytes that are reserved and neither used nor given back. */
  synchronized long reserved() {
    return reserved;
  }

  synchronized boolean hasFailed() {
    return failure != null;
  }

  /** Returns the entries after all records. */
  synchronized Map<Object, Object> replay() {
    return new HashMap<>(state);
  }

  /** Returns the records of a key, in their order. */
  synchronized List<Logged> history(Object key) {
    return List.copyOf(histories.getOrDefault(key, List.of()));
  }

  /**
   * Returns the first place of a key's history, from one on, at which the key had a value.
   *
   * @param from a place, -1 for that before the first record
   * @param value {@code null} if it was absent
   * @return -2 if there is none
   */
  synchronized int find(Object key, int from, @Nullable Object value) {
    List<Logged> all = histories.getOrDefault(key, List.of());
    for (int i = from; i < all.size(); i++) {
      if (Objects.equals(i < 0 ? null : all.get(i).value(), value)) {
        return i;
      }
    }
    return -2;
  }

  /** Returns whether a record is as safe as it has to be to be told of. */
  synchronized boolean isSafe(Object key, int place) {
    return !waits || place < 0 || history(key).get(place).lsn() <= synced;
  }

  private synchronized void checkOpen() {
    if (failure != null) {
      throw new LogFailedException("failed by a test", failure);
    }
  }

  private synchronized void reserve(long bytes) {
    checkOpen();
    if (bytes > room - end - reserved) {
      throw new LogFullException("full by a test", new IOException());
    }
    reserved += bytes;
  }

  private synchronized void release(long bytes) {
    reserved -= bytes;
    if (bytes < 0 || reserved < 0) {
      throw new AssertionError("more was given back than reserved: bytes=" + bytes);
    }
  }

  private long append(List<Change> changes, long bytes) {
    beforeAppend.run();
    synchronized (this) {
      release(bytes);
      if (breaks) {
        failure = new IOException("broken by a test");
      }
      checkOpen();
      end += bytes;
      changes.forEach(this::add);
      return end;
    }
  }

  private void add(Change change) {
    Object key = change.key();
    Object value = change.value();
    histories.computeIfAbsent(key, _ -> new ArrayList<>()).add(new Logged(end, key, value));
    if (value == null) {
      state.remove(key);
    } else {
      state.put(key, value);
    }
  }

  private synchronized void awaitSynced(long lsn) {
    if (!waits) {
      throw new AssertionError("nobody has to wait: lsn=" + lsn);
    }
    while (holdsSync && synced < lsn && failure == null) {
      try {
        wait();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
    if (synced < lsn) {
      checkOpen();
      synced = end;
    }
  }

  private synchronized void fail(Throwable cause) {
    failure = failure == null ? cause : failure;
    notifyAll();
  }

  /** One session's way to the log. */
  private final class Appender implements SessionLog {
    private final List<Change> changes = new ArrayList<>();
    private long unaligned;

    private void set(Object key, @Nullable Object value, long length) {
      group();
      changes.add(new Change(key, value));
      unaligned += length;
    }

    @Override
    public void group() {
      changes.clear();
      unaligned = 16;
    }

    @Override
    public void addPut(MemorySegment its, MemorySegment stored) {
      changes.add(new Change(text(its), text(stored)));
      unaligned += 8 + its.byteSize() + stored.byteSize();
    }

    @Override
    public void addRemove(MemorySegment its) {
      changes.add(new Change(text(its), null));
      unaligned += 8 + its.byteSize();
    }

    @Override
    public void put(MemorySegment its, MemorySegment stored) {
      set(text(its), text(stored), its.byteSize() + stored.byteSize());
    }

    @Override
    public void putWord(long its, long stored) {
      set(its, stored, 16);
    }

    @Override
    public void remove(MemorySegment its) {
      set(text(its), null, its.byteSize());
    }

    @Override
    public void removeWord(long its) {
      set(its, null, 8);
    }

    @Override
    public long bytes() {
      return Math.ceilDiv(unaligned, 16) * 16;
    }

    @Override
    public void reserve(long count) {
      MemoryLog.this.reserve(count);
    }

    @Override
    public void reserveAlone(long bytes) {
      reserve(bytes);
    }

    @Override
    public void release(long count) {
      MemoryLog.this.release(count);
    }

    @Override
    public long append() {
      return MemoryLog.this.append(List.copyOf(changes), bytes());
    }

    @Override
    public boolean waitsForSync() {
      return waits;
    }

    @Override
    public boolean outlivesFailure() {
      return isHeld;
    }

    @Override
    public long synced() {
      return synced;
    }

    @Override
    public void awaitSynced(long lsn) {
      MemoryLog.this.awaitSynced(lsn);
    }

    @Override
    public void whenSynced(long lsn, Runnable task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void fail(Throwable cause) {
      MemoryLog.this.fail(cause);
    }

    @Override
    public void check() {
      checkOpen();
    }
  }
}
