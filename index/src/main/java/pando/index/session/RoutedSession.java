package pando.index.session;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.StackRoom;
import pando.index.EntryVisitor;
import pando.index.Lease;
import pando.index.NotServedHereException;
import pando.index.Session;

/**
 * A session that sends each operation to a worker of a compute server. A worker is opened when it
 * is first needed.
 *
 * @param <W> executes operations at one compute server
 */
public abstract class RoutedSession<W> implements Session {
  /** Entries that are counted, before their number is estimated. */
  private static final long COUNTED = 1_000;

  private final @Nullable W[] workers;
  private final @Nullable Lease lease;
  private final SessionState state = new SessionState(StackRoom.WORDS);
  private final KeyGroups groups = new KeyGroups();
  private final Request request = new Request();
  private long key;
  private long value;

  /**
   * Creates a session without workers.
   *
   * @param servers maximum number of compute servers
   * @param lease while which it answers, {@code null} for always
   */
  @SuppressWarnings("unchecked") // The array holds workers only.
  protected RoutedSession(int servers, @Nullable Lease lease) {
    this.lease = lease;
    this.workers = (W[]) new Object[servers];
  }

  /**
   * Executes an operation on one key, and records the {@linkplain #setEntry entry}.
   *
   * @return whether the key was there before; undefined for {@link Operation#STORE} and {@link
   *     Operation#DISCARD}
   */
  protected abstract boolean operate(Request wanted);

  /**
   * Has the compute server of the next key find or store it, and those others that are its as well.
   *
   * @param wanted some are left
   */
  protected abstract void operate(KeyGroups wanted);

  /**
   * Finds the entry of a key or, if there is none, the one next to it, and records it.
   *
   * @param down {@code true} for the entry with the greatest key &lt;= {@code wanted}, {@code
   *     false} for the one with the least key &gt;= {@code wanted}
   */
  protected abstract boolean neighbour(long wanted, boolean down);

  /**
   * Visits entries as {@link #scan} does. The arguments have been checked; the limit is positive.
   *
   * @param down {@code true} for descending order, from {@code from} down to {@code to}
   */
  protected abstract long visit(long from, long to, boolean down, long limit, EntryVisitor visitor);

  /**
   * Returns about how many entries a compute server serves.
   *
   * @param low least key of its range
   * @throws NotServedHereException if it is of another process
   */
  protected abstract double estimateSize(long low);

  /** Returns the greatest key of the range that a key is in; all keys are in one without ranges. */
  protected abstract long highOfRange(long wanted);

  /**
   * Checks that the index is open. For what needs no worker, such as a scan of no entries.
   *
   * @throws IllegalStateException if it is closed
   */
  protected abstract void checkIndexOpen();

  /**
   * Runs an action while no other thread operates on the index in this process.
   *
   * @throws IllegalStateException if other processes could change the same keys
   */
  protected abstract void runAlone(Runnable action);

  /** Closes a worker of this session. Does nothing if it is closed already. */
  protected abstract void retire(W worker);

  /** Records the entry that an operation found. */
  protected final void setEntry(long foundKey, long foundValue) {
    key = foundKey;
    value = foundValue;
  }

  /** Returns the worker of a compute server, {@code null} if none is open. */
  protected final @Nullable W opened(int server) {
    return workers[server];
  }

  /** Sets the worker of a compute server, possibly to {@code null}, and closes the previous one. */
  protected final void setWorker(int server, @Nullable W worker) {
    W before = workers[server];
    workers[server] = worker;
    if (before != null) {
      retire(before);
    }
  }

  /** Checks that the session is open, and none of its scans runs. */
  protected final void checkUsable() {
    state.checkUsable();
  }

  /**
   * Runs an action for every open worker, even if it fails for some. Throws the first failure at
   * the end.
   */
  protected final void forEach(Consumer<W> action) {
    Failures failures = null;
    for (W worker : workers) {
      try {
        if (worker != null) {
          action.accept(worker);
        }
      } catch (Throwable e) {
        failures = failures == null ? new Failures() : failures;
        failures.add(e);
      }
    }
    if (failures != null) {
      failures.rethrow();
    }
  }

  @Override
  public final long key() {
    return key;
  }

  @Override
  public final long value() {
    return value;
  }

  @Override
  public final boolean get(long wanted) {
    return carryOut(Operation.GET, wanted, 0);
  }

  @Override
  public final boolean put(long wanted, long stored) {
    return carryOut(Operation.PUT, wanted, stored);
  }

  @Override
  public final boolean putIfAbsent(long wanted, long stored) {
    return !carryOut(Operation.PUT_IF_ABSENT, wanted, stored);
  }

  @Override
  public final boolean update(long wanted, long stored) {
    return carryOut(Operation.UPDATE, wanted, stored);
  }

  @Override
  public final boolean remove(long wanted) {
    return carryOut(Operation.REMOVE, wanted, 0);
  }

  @Override
  public final boolean replace(long wanted, long expected, long stored) {
    return compare(Operation.REPLACE, wanted, stored, expected);
  }

  @Override
  public final boolean remove(long wanted, long expected) {
    return compare(Operation.REMOVE_EXPECTED, wanted, 0, expected);
  }

  @Override
  public final void store(long wanted, long stored) {
    carryOut(Operation.STORE, wanted, stored);
  }

  @Override
  public final void discard(long wanted) {
    carryOut(Operation.DISCARD, wanted, 0);
  }

  private boolean compare(Operation operation, long wanted, long stored, long expected) {
    boolean found = carryOut(operation, wanted, stored, expected);
    value = found ? value : 0;
    return found && value == expected;
  }

  private boolean carryOut(Operation operation, long wanted, long stored) {
    return carryOut(operation, wanted, stored, 0);
  }

  private boolean carryOut(Operation operation, long wanted, long stored, long expected) {
    checkUsable();
    boolean found = operate(request.set(operation, wanted, stored, expected));
    awaitLease(operation);
    return found;
  }

  /** Returns after an operation, once the lease is held. */
  private void awaitLease(Operation operation) {
    if (lease == null) {
      return;
    }
    if (operation == Operation.GET) {
      lease.await();
    } else {
      lease.awaitAfterChange();
    }
  }

  @Override
  public final int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    checkPlaces("keys", Objects.requireNonNull(keys, "keys").length, from, count);
    checkPlaces("values", Objects.requireNonNull(values, "values").length, from, count);
    checkPlaces("found", Objects.requireNonNull(found, "found").length, from, count);
    checkDifferent(keys, values);
    return carryOut(Operation.GET, keys, from, count, values, found);
  }

  @Override
  public final void putAll(long[] keys, int from, int count, long[] values) {
    checkPlaces("keys", Objects.requireNonNull(keys, "keys").length, from, count);
    checkPlaces("values", Objects.requireNonNull(values, "values").length, from, count);
    carryOut(Operation.STORE, keys, from, count, values, KeyGroups.NO_BOOLEANS);
  }

  /** Finds or stores several keys; returns how many were found. */
  private int carryOut(
      Operation operation, long[] keys, int from, int count, long[] values, boolean[] found) {
    checkUsable();
    if (count == 0) {
      checkIndexOpen();
    }
    int present = 0;
    try {
      for (int left = count; left > 0; left -= KeyGroups.KEYS_MAX) {
        int next = from + count - left;
        int some = Math.min(left, KeyGroups.KEYS_MAX);
        groups.begin(operation, keys, next, some, values, found);
        while (groups.areLeft()) {
          operate(groups);
        }
        present += groups.present();
      }
    } finally {
      groups.end();
    }
    awaitLease(operation);
    return present;
  }

  private static void checkPlaces(String name, int length, int from, int count) {
    if (from < 0 || count < 0 || count > length - from) {
      throw new IndexOutOfBoundsException(
          "no such places: array=%s, length=%s, from=%s, count=%s"
              .formatted(name, length, from, count));
    }
  }

  @SuppressWarnings("ReferenceEquality") // Different arrays may be equal.
  private static void checkDifferent(long[] keys, long[] values) {
    if (keys == values) {
      throw new IllegalArgumentException(
          "keys and values are the same array: length=" + keys.length);
    }
  }

  @Override
  public final boolean floor(long wanted) {
    checkUsable();
    return answered(neighbour(wanted, true));
  }

  @Override
  public final boolean ceiling(long wanted) {
    checkUsable();
    return answered(neighbour(wanted, false));
  }

  /** Returns an answer once the lease is held: that nothing is there is an answer, too. */
  private boolean answered(boolean found) {
    awaitLease(Operation.GET);
    return found;
  }

  @Override
  public final boolean lower(long wanted) {
    return wanted == Long.MIN_VALUE ? none() : floor(wanted - 1);
  }

  @Override
  public final boolean higher(long wanted) {
    return wanted == Long.MAX_VALUE ? none() : ceiling(wanted + 1);
  }

  @Override
  public final boolean first() {
    return ceiling(Long.MIN_VALUE);
  }

  @Override
  public final boolean last() {
    return floor(Long.MAX_VALUE);
  }

  /** Answers that there is no entry, without a worker. */
  private boolean none() {
    checkUsable();
    checkIndexOpen();
    return answered(false);
  }

  @Override
  public final long scan(long from, long to, long limit, EntryVisitor visitor) {
    return scan(from, to, false, limit, visitor);
  }

  @Override
  public final long scanDown(long from, long to, long limit, EntryVisitor visitor) {
    return scan(from, to, true, limit, visitor);
  }

  private long scan(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    if (down ? from < to : from > to) {
      throw new IllegalArgumentException("range is reversed: from=" + from + ", to=" + to);
    }
    if (limit < 0) {
      throw new IllegalArgumentException("limit is negative: limit=" + limit);
    }
    checkUsable();
    if (limit == 0) {
      checkIndexOpen();
      return 0;
    }
    state.beginScan();
    try {
      long visited = visit(from, to, down, limit, lease == null ? visitor : leased(visitor));
      awaitLease(Operation.GET);
      return visited;
    } finally {
      state.endScan();
    }
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private EntryVisitor leased(EntryVisitor visitor) {
    return (foundKey, foundValue) -> {
      awaitLease(Operation.GET);
      return visitor.visit(foundKey, foundValue);
    };
  }

  @Override
  public final long sizeEstimate() {
    long counted = scan(Long.MIN_VALUE, Long.MAX_VALUE, COUNTED, (_, _) -> true);
    return counted < COUNTED ? counted : Math.max(COUNTED, estimateSize(false));
  }

  @Override
  public final long servedSizeEstimate() {
    checkUsable();
    return estimateSize(true);
  }

  /**
   * Returns about how many entries there are.
   *
   * @param servedOnly whether those that other processes serve do not count
   * @throws NotServedHereException if they do, and there are some
   */
  private long estimateSize(boolean servedOnly) {
    double size = 0;
    for (long low = Long.MIN_VALUE; ; ) {
      long high = highOfRange(low);
      try {
        size += estimateSize(low);
      } catch (NotServedHereException e) {
        if (!servedOnly) {
          throw e;
        }
      }
      if (high == Long.MAX_VALUE) {
        awaitLease(Operation.GET);
        return Math.round(size);
      }
      low = high + 1;
    }
  }

  @Override
  public final void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    checkUsable();
    runAlone(action);
  }

  @Override
  public final void close() {
    state.close();
    try {
      forEach(this::retire);
    } finally {
      Arrays.fill(workers, null);
    }
  }
}
