package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableByteSession;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.memory.Closing;
import pando.index.bytes.ByteReceiver;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;

/**
 * One event loop's way to keys that have strings alone. Keys and values are as they are stored.
 * What a key had is returned by {@link #value} until the next operation.
 *
 * <p>The session is opened by the first operation that needs one: what fails then is the answer to
 * a request, and the next one tries again.
 */
class Store implements AutoCloseable {
  /** Keys that are collected before they are removed. */
  static final int REMOVED_AT_ONCE = 1000;

  /** What the removal of a key counts. */
  static final int REMOVAL_WORK = 4;

  private final Keyspace keyspace;
  private final Consumer<Consumer<Store>> later;
  private final Times times;
  private final TimedChanges changes;
  private @Nullable ByteSession session;

  /** The same, if changes are in a log. */
  private @Nullable DurableByteSession durable;

  /** Where in the log a request has asked that all before is on the disk; 0 if none has. */
  private long asked;

  private @Nullable RespClient client;
  private long left = Long.MAX_VALUE;
  private boolean isInBackground = true;

  /** When the request that runs has read the clock; 0 if it has not yet. */
  private long now;

  Store(Keyspace keyspace, Consumer<Consumer<Store>> later) {
    this.keyspace = keyspace;
    this.later = later;
    this.times = new Times(keyspace);
    this.changes = new TimedChanges(this, times);
  }

  /**
   * Begins a request.
   *
   * @param whose client it is from, {@code null} if from none: what only reads ends if that is gone
   * @param work what it may take; {@link Long#MAX_VALUE} in the background
   */
  final void begin(@Nullable RespClient whose, long work) {
    client = whose;
    left = work;
    isInBackground = work == Long.MAX_VALUE;
    now = 0;
  }

  /** Begins what is not the request of a client, and may take as long as it likes. */
  final void begin() {
    begin(null, Long.MAX_VALUE);
  }

  /** Returns the time at which the request sees all keys, in milliseconds since 1970. */
  final long now() {
    if (now == 0) {
      now = keyspace.clock().millis();
    }
    return now;
  }

  /** Returns whether what has a deadline, or {@link Keyspace#NEVER}, is gone. */
  final boolean isDue(long deadline) {
    return deadline != Keyspace.NEVER && deadline < now();
  }

  /** Returns whether a stored value has expired. */
  final boolean isDue(MemorySegment stored) {
    return isDue(keyspace.deadline(stored));
  }

  /** Lets the request take so much work at the most, also in the background. */
  final void limitWork(long most) {
    left = Math.min(left, most);
  }

  /**
   * Counts what a request takes, before it does it: an entry that is visited is 1.
   *
   * @throws TooLong if it takes too long here; it must not have changed anything yet
   */
  final void work(long more) {
    left -= more;
    if (left < 0) {
      throw new TooLong();
    }
  }

  /** Counts what a request takes, if there is time for it here; returns whether there is. */
  final boolean mayWork(long more) {
    boolean may = left >= more;
    left -= may ? more : 0;
    return may;
  }

  /**
   * Runs a request in the background, unless this is there.
   *
   * @throws TooLong here; the request must not have changed anything yet
   */
  final void requireBackground() {
    if (!isInBackground()) {
      throw new TooLong();
    }
  }

  /** Returns whether a request may take as long as it likes. */
  final boolean isInBackground() {
    return isInBackground;
  }

  /** Runs a task in the background. */
  final void later(Consumer<Store> task) {
    later.accept(task);
  }

  final Keyspace keyspace() {
    return keyspace;
  }

  final ByteSession session() {
    ByteSession its = session;
    if (its == null) {
      its = keyspace.strings().session();
      session = its;
      durable = its instanceof DurableByteSession logged ? logged.deferred() : null;
    }
    return its;
  }

  /**
   * Returns the place in the log before which all must be on the disk, so that what requests found
   * and did since {@link #forget} is safe; 0 if that need not be.
   */
  final long dependsOn() {
    DurableByteSession its = durable;
    return its == null ? asked : Math.max(asked, its.dependsOn());
  }

  /** Has answers wait until all before a place in the log is on the disk, whatever the policy. */
  final void dependOn(long place) {
    asked = Math.max(asked, place);
  }

  /** Forgets what requests depend on, which are answered. */
  final void forget() {
    DurableByteSession its = durable;
    asked = 0;
    if (its != null) {
      its.forget();
    }
  }

  final MemorySegment value() {
    return session().value();
  }

  /**
   * Returns the way to sets.
   *
   * @throws IllegalStateException if keys have strings alone
   */
  Sets sets() {
    throw new IllegalStateException("keys have strings alone");
  }

  /** Expects operations on keys, as {@link ByteSession#expect} does. */
  final void expect(List<MemorySegment> keys) {
    ByteSession its = session;
    if (its != null) {
      its.expect(keys);
    }
  }

  /** Finds the value of a key, whatever it is. */
  final boolean find(MemorySegment key) {
    return session().get(key) && !isDue(value());
  }

  /**
   * Finds the string of a key.
   *
   * @throws Refusal if it is a set
   */
  final boolean findString(MemorySegment key) {
    if (!session().get(key)) {
      return false;
    }
    MemorySegment found = value();
    if (isDue(found)) {
      return false;
    }
    requireString(found);
    return true;
  }

  /**
   * Checks the value that was found last.
   *
   * @throws Refusal if it is a set
   */
  final void requireString() {
    requireString(value());
  }

  private void requireString(MemorySegment value) {
    if (!keyspace.isString(value)) {
      throw Refusal.wrongType();
    }
  }

  /** Finds the entry with the greatest key at or below a key, of whatever database. */
  final boolean floor(MemorySegment key) {
    boolean found = session().floor(key);
    while (found && isDue(value())) {
      work(1);
      found = session().lower(session().key());
    }
    return found;
  }

  /** Finds the entry with the least key at or above a key, of whatever database. */
  final boolean ceiling(MemorySegment key) {
    boolean found = session().ceiling(key);
    while (found && isDue(value())) {
      work(1);
      found = session().higher(session().key());
    }
    return found;
  }

  /** Looks several strings up together; of a keyspace in which they go so. */
  final void getAll(List<MemorySegment> keys, ByteReceiver receiver) {
    session()
        .getAll(
            keys,
            (i, value, failure) ->
                receiver.receive(i, value == null || isDue(value) ? null : value, failure));
  }

  /** Stores several strings together; of a keyspace in which they go so. */
  final void storeAll(
      List<MemorySegment> keys, List<MemorySegment> strings, ByteReceiver receiver) {
    session().storeAll(keys, strings, receiver);
  }

  /** Stores a value in place of whatever a key has. */
  void put(MemorySegment key, MemorySegment value) {
    if (keyspace.deadline(value) == Keyspace.NEVER) {
      session().store(key, value); // the deadline before, if there was one, is left to the sweeper
    } else {
      boolean _ = changes.put(key, value);
    }
  }

  /** Stores a value if a key is not there; returns whether it was stored, else finds what is. */
  final boolean putIfAbsent(MemorySegment key, MemorySegment value) {
    while (!changes.putIfAbsent(key, value)) {
      if (!isDue(value())) {
        return false;
      }
      if (replace(key, value(), value)) {
        replaced(key, value());
        return true;
      }
    }
    added(key);
    return true;
  }

  /**
   * Stores a string in place of another value, compares that as it stores, and begins again if it
   * has changed meanwhile. Finds the value that it replaces.
   *
   * @param how what is wanted of the value that is there
   * @return whether the key was there
   * @throws Refusal if it is a set, and a string is wanted
   */
  final boolean exchange(MemorySegment key, MemorySegment string, Exchange how) {
    while (true) {
      boolean found = find(key);
      if (found && how.onlyString()) {
        requireString();
      }
      MemorySegment its =
          found && how.keepsDeadline()
              ? keyspace.withDeadline(string, keyspace.deadline(value()))
              : string;
      boolean done = found ? replace(key, value(), its) : !how.create() || putIfAbsent(key, its);
      if (done) {
        if (found) {
          replaced(key, value());
        }
        return found;
      }
    }
  }

  /**
   * How a string takes the place of another value.
   *
   * @param create whether it is stored, too, if the key is not there
   * @param onlyString whether that value must be a string
   * @param keepsDeadline whether the key keeps its deadline
   */
  record Exchange(boolean create, boolean onlyString, boolean keepsDeadline) {}

  /**
   * Stores a string, and finds the one that it replaces, in one step.
   *
   * @return whether the key was there
   * @throws Refusal if it is a set
   */
  boolean exchange(MemorySegment key, MemorySegment string) {
    return changes.put(key, string) && !isDue(value());
  }

  /**
   * Removes a key, and finds the string that it had, in one step; returns whether it was there.
   *
   * @throws Refusal if it is a set
   */
  boolean take(MemorySegment key) {
    return changes.remove(key) && !isDue(value());
  }

  /** Replaces a value that is expected; returns whether it was there. */
  final boolean replace(MemorySegment key, MemorySegment expected, MemorySegment value) {
    return changes.replace(key, expected, value);
  }

  /**
   * Replaces a string that is expected, whatever its deadline is, which it keeps; returns whether
   * it was there.
   *
   * @param expected without a deadline, and so is the other one
   * @throws Refusal if there is a set
   */
  final boolean compareAndSet(MemorySegment key, MemorySegment expected, MemorySegment string) {
    boolean done = replace(key, expected, string);
    while (!done) {
      MemorySegment its = value(); // empty if the key is not there
      if (its.byteSize() == 0 || isDue(its)) {
        return false;
      }
      requireString();
      if (keyspace.payload(its).mismatch(keyspace.payload(expected)) >= 0) {
        return false;
      }
      done = replace(key, its, keyspace.withDeadline(string, keyspace.deadline(its)));
    }
    return true;
  }

  /**
   * Gives a key another deadline, or {@link Keyspace#NEVER}, if it still has a value.
   *
   * @return whether it had; that value is found then
   */
  final boolean setDeadline(MemorySegment key, MemorySegment expected, long deadline) {
    return replace(key, expected, keyspace.withDeadline(expected, deadline));
  }

  /**
   * Lets a key that still has a value expire: at once, if the deadline has passed.
   *
   * @return whether it had; that value is found then
   */
  final boolean expire(MemorySegment key, MemorySegment expected, long deadline) {
    return deadline <= now() ? removeWhole(key, expected) : setDeadline(key, expected, deadline);
  }

  /**
   * Removes a value that is expected, with whatever belongs to it; returns whether it was there.
   */
  private boolean removeWhole(MemorySegment key, MemorySegment expected) {
    boolean removed = remove(key, expected);
    if (removed) {
      replaced(key, value());
    }
    return removed;
  }

  /**
   * Removes keys that are due.
   *
   * @param most how many at the most
   * @return how many deadlines were looked at, which have passed
   */
  final int removeDue(int most) {
    List<Times.Due> due = times.before(now(), most);
    for (Times.Due each : due) {
      keyspace.checkGoesOn();
      if (isExpired(each.key())) {
        boolean _ = changing(each.key(), () -> removeWhole(each.key(), value()));
      }
      times.discard(each.millis(), each.key());
    }
    return due.size();
  }

  /** Removes a value that is expected; returns whether it was there. */
  final boolean remove(MemorySegment key, MemorySegment expected) {
    boolean removed = changes.remove(key, expected);
    if (removed) {
      removed(key);
    }
    return removed;
  }

  /** Removes a key with whatever it has; returns whether it was there. */
  final boolean remove(MemorySegment key) {
    boolean found = changes.remove(key);
    boolean wasThere = found && !isDue(value());
    if (found) {
      removed(key);
      replaced(key, value());
    }
    return wasThere;
  }

  final TimedChanges changes() {
    return changes;
  }

  /** Takes note of a key that is there now. */
  void added(MemorySegment key) {}

  /** Takes note of a key that is not there any more. */
  void removed(MemorySegment key) {}

  /** Gives up what a key had, in whose place there is something else now, or nothing. */
  void replaced(MemorySegment key, MemorySegment before) {}

  /**
   * Gives a key another name: it has both for a moment. If the key changes meanwhile, the name has
   * again what it had before, and this begins again.
   *
   * @return {@code false} if that is the name of another key, and is to stay that
   * @throws Refusal if there is no such key
   */
  boolean rename(MemorySegment key, MemorySegment name, boolean onlyNew) {
    while (find(key)) {
      MemorySegment value = copy(value());
      if (key.mismatch(name) < 0) {
        return !onlyNew;
      }
      @Nullable MemorySegment before = find(name) ? copy(value()) : null;
      if (before != null && onlyNew) {
        return false;
      }
      boolean isStored = before == null ? putIfAbsent(name, value) : replace(name, before, value);
      if (isStored && removeRenamed(key, value, name, before)) {
        if (before != null) {
          replaced(name, before);
        }
        return true;
      }
    }
    throw new Refusal("ERR no such key");
  }

  /** Removes a key that has another name, too, or gives that name what it had before. */
  private boolean removeRenamed(
      MemorySegment key, MemorySegment value, MemorySegment name, @Nullable MemorySegment before) {
    boolean isRenamed = false;
    try {
      isRenamed = remove(key, value);
    } catch (UnknownOutcomeException e) {
      isRenamed = true; // perhaps, and so the name keeps what else nothing may have
      throw e;
    } finally {
      if (!isRenamed) {
        boolean _ = before == null ? remove(name, value) : replace(name, value, before);
      }
    }
    return isRenamed;
  }

  /**
   * Operates on several keys at one moment, by {@link #session}: see {@link
   * ByteSession#atomically}.
   *
   * @param keys that the action uses; {@code null} for any
   */
  void atomically(@Nullable Collection<MemorySegment> keys, Runnable action) {
    ByteSession outer = session();
    outer.atomically(
        keys,
        its -> {
          session = its;
          try {
            action.run();
          } finally {
            session = outer;
          }
        });
  }

  /** Returns whether a key is still there that has expired. */
  final boolean isExpired(MemorySegment key) {
    return session().get(key) && isDue(value());
  }

  /** Does something at once, or where several keys are operated on at one moment, behind that. */
  void afterwards(Runnable task) {
    task.run();
  }

  /** Does something if several keys are operated on at one moment, and that is undone. */
  void ifUndone(Runnable task) {}

  /** Changes a key that is no argument of the command, or in another database. */
  boolean changing(MemorySegment key, BooleanSupplier change) {
    return change.getAsBoolean();
  }

  /** Begins a command's change of some keys, for clients that watch them. */
  void beginChange(RespCall call, CommandKeys keys) {}

  /** Ends a command's change of some keys. */
  void endChange(RespCall call, CommandKeys keys) {}

  /**
   * Copies what a key has to another key.
   *
   * @return {@code false} if the key is not there, or the other one is and is not to be replaced
   */
  boolean copy(MemorySegment key, MemorySegment other, boolean replace) {
    return find(key) && put(other, copy(value()), replace);
  }

  static MemorySegment copy(MemorySegment value) {
    return MemorySegment.ofArray(value.toArray(JAVA_BYTE));
  }

  /** Stores a value, perhaps in place of what a key has; returns whether it was stored. */
  final boolean put(MemorySegment key, MemorySegment value, boolean replace) {
    if (!replace) {
      return putIfAbsent(key, value);
    }
    put(key, value);
    return true;
  }

  /** Returns the number of keys of a database. */
  long count(int database) {
    byte[] prefix = keyspace.prefix(database);
    return scan(prefix, Stored.behindAll(prefix), false, Long.MAX_VALUE, (_, _) -> true);
  }

  /**
   * Removes all keys of a database that are there throughout.
   *
   * @throws Refusal if the door closes meanwhile
   */
  final void clear(int database) {
    byte[] prefix = keyspace.prefix(database);
    byte[] behind = Stored.behindAll(prefix);
    byte[] from = prefix;
    while (from != null) {
      keyspace.checkGoesOn();
      List<byte[]> some = keys(from, behind);
      work((long) REMOVAL_WORK * some.size());
      for (byte[] key : some) {
        MemorySegment its = MemorySegment.ofArray(key);
        boolean _ = changing(its, () -> remove(its));
      }
      from = some.isEmpty() ? null : behind(some.getLast());
    }
  }

  /** Returns the least key above another one, {@code null} if there is none. */
  final byte @Nullable [] behind(byte[] key) {
    return Stored.behind(key, keyspace.strings().keyBytesMax());
  }

  /** Returns some keys of a range, the first ones, also those that are due. */
  final List<byte[]> keys(byte[] from, byte @Nullable [] to) {
    return keys(from, to, REMOVED_AT_ONCE);
  }

  /** Returns the first keys of a range, also those that are due, so many at the most. */
  final List<byte[]> keys(byte[] from, byte @Nullable [] to, int most) {
    List<byte[]> keys = new ArrayList<>();
    byte @Nullable [] end = keyspace.endOf(to);
    if (end == null || Arrays.compareUnsigned(from, end) < 0) {
      MemorySegment behind = end == null ? null : MemorySegment.ofArray(end);
      session()
          .scan(
              MemorySegment.ofArray(from),
              behind,
              most,
              (key, _) -> keys.add(key.toArray(JAVA_BYTE)));
    }
    return keys;
  }

  /**
   * Visits entries from the least key to that before {@code to}, or the other way round. Those that
   * are due are passed over.
   *
   * @param to the first key behind the range, {@code null} if it has no end
   * @return how many were visited
   * @throws Refusal if the door closes meanwhile, or the client is gone
   * @throws TooLong if there are too many for an event loop
   */
  final long scan(
      byte[] from, byte @Nullable [] to, boolean down, long limit, ByteVisitor visitor) {
    byte @Nullable [] end = keyspace.endOf(to);
    boolean isEmpty = end != null && Arrays.compareUnsigned(from, end) >= 0;
    return isEmpty ? 0 : new LiveScan(this, visitor, limit).run(from, end, down);
  }

  /**
   * Checks that a request that takes long may go on, which only reads.
   *
   * @throws HalfWay if the door closes, or the client is gone
   */
  final void checkGoesOn() {
    keyspace.checkGoesOn();
    RespClient its = client;
    if (its != null && its.isGone) {
      throw new HalfWay("ERR the client is gone");
    }
  }

  /** Closes the sessions; an operation that follows opens others. */
  @Override
  public final void close() {
    ByteSession its = session;
    session = null;
    durable = null;
    Closing.all(List.of(times::close, () -> close(its)));
  }

  private static void close(@Nullable ByteSession its) {
    if (its != null) {
      its.close();
    }
  }
}
