package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableByteSession;
import pando.fabric.UnknownOutcomeException;
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

  /** So many bytes count as much as another entry. */
  private static final int BYTES_OF_WORK = 4096;

  private final Keyspace keyspace;
  private final Consumer<Consumer<Store>> later;
  private @Nullable ByteSession session;

  /** The same, if changes are in a log. */
  private @Nullable DurableByteSession durable;

  /** The place of the log that a request has asked to be on the disk. */
  private long asked;

  private @Nullable RespClient client;
  private long left = Long.MAX_VALUE;
  private boolean isInBackground = true;

  Store(Keyspace keyspace, Consumer<Consumer<Store>> later) {
    this.keyspace = keyspace;
    this.later = later;
  }

  /**
   * Begins a request.
   *
   * @param whose it is: what only reads ends if that client is gone
   * @param work what it may take; {@link Long#MAX_VALUE} in the background
   */
  final void begin(RespClient whose, long work) {
    client = whose;
    left = work;
    isInBackground = work == Long.MAX_VALUE;
  }

  /** Gives the request, which is in the background, no longer than so much work. */
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
   * Returns the place of the log before which all must be on the disk, so that what requests found
   * and did since {@link #forget} is safe; 0 if that need not be.
   */
  final long dependsOn() {
    DurableByteSession its = durable;
    return its == null ? asked : Math.max(asked, its.dependsOn());
  }

  /** Has all before a place of the log be on the disk, whether answers need that or not. */
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

  /** Finds the value of a key, whatever it is. */
  final boolean find(MemorySegment key) {
    return session().get(key);
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
    requireString();
    return true;
  }

  /**
   * Checks the value that was found last.
   *
   * @throws Refusal if it is a set
   */
  final void requireString() {
    if (!keyspace.isString(value())) {
      throw Refusal.wrongType();
    }
  }

  /** Looks several strings up together; of a keyspace in which they go so. */
  final void getAll(List<MemorySegment> keys, ByteReceiver receiver) {
    session().getAll(keys, receiver);
  }

  /** Stores several strings together; of a keyspace in which they go so. */
  final void storeAll(
      List<MemorySegment> keys, List<MemorySegment> strings, ByteReceiver receiver) {
    session().storeAll(keys, strings, receiver);
  }

  /** Stores a string in place of whatever a key has. */
  void put(MemorySegment key, MemorySegment string) {
    session().store(key, string);
  }

  /** Stores a string if a key is not there; returns whether it was stored. */
  boolean putIfAbsent(MemorySegment key, MemorySegment string) {
    return session().putIfAbsent(key, string);
  }

  /** Stores a string if a key is there, whatever it has; returns whether it was stored. */
  boolean update(MemorySegment key, MemorySegment string) {
    return session().update(key, string);
  }

  /**
   * Stores a string, and finds the one that it replaces, in one step.
   *
   * @param create whether it is stored, too, if the key is not there
   * @return whether the key was there
   * @throws Refusal if it is a set
   */
  boolean exchange(MemorySegment key, MemorySegment string, boolean create) {
    return create ? session().put(key, string) : session().update(key, string);
  }

  /**
   * Removes a key, and finds the string that it had, in one step; returns whether it was there.
   *
   * @throws Refusal if it is a set
   */
  boolean take(MemorySegment key) {
    return session().remove(key);
  }

  /** Replaces a string that is expected; returns whether it was there. */
  final boolean replace(MemorySegment key, MemorySegment expected, MemorySegment string) {
    return session().replace(key, expected, string);
  }

  /** Removes a value that is expected; returns whether it was there. */
  boolean remove(MemorySegment key, MemorySegment expected) {
    return session().remove(key, expected);
  }

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

  /** Begins a command's change of some keys, for clients that watch them. */
  void beginChange(RespCall call, CommandKeys keys) {}

  /** Ends a command's change of some keys. */
  void endChange(RespCall call, CommandKeys keys) {}

  /** Gives up what a key had, in whose place there is something else now. */
  void replaced(MemorySegment key, MemorySegment before) {}

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

  /** Removes a key with whatever it has; returns whether it was there. */
  boolean remove(MemorySegment key) {
    return session().remove(key);
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
  void clear(int database) {
    clear(database, session()::discard);
  }

  /** Removes all keys of a database, each in a way of its own. */
  final void clear(int database, Consumer<MemorySegment> remove) {
    byte[] prefix = keyspace.prefix(database);
    byte[] behind = Stored.behindAll(prefix);
    byte[] from = prefix;
    while (from != null) {
      keyspace.checkGoesOn();
      List<byte[]> some = keys(from, behind);
      work((long) REMOVAL_WORK * some.size());
      some.forEach(key -> remove.accept(MemorySegment.ofArray(key)));
      from = some.isEmpty() ? null : behind(some.getLast());
    }
  }

  /** Returns the least key above another one, {@code null} if there is none. */
  final byte @Nullable [] behind(byte[] key) {
    return Stored.behind(key, keyspace.strings().keyBytesMax());
  }

  /** Returns some keys of a range, the first ones. */
  final List<byte[]> keys(byte[] from, byte @Nullable [] to) {
    return keys(from, to, REMOVED_AT_ONCE);
  }

  /** Returns the first keys of a range, so many at the most. */
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
   * Visits entries from the least key to that before {@code to}, or the other way round.
   *
   * @param to the first key behind the range, {@code null} if it has no end
   * @throws Refusal if the door closes meanwhile, or the client is gone
   * @throws TooLong if there are too many for an event loop
   */
  final long scan(
      byte[] from, byte @Nullable [] to, boolean down, long limit, ByteVisitor visitor) {
    byte @Nullable [] end = keyspace.endOf(to);
    if (end != null && Arrays.compareUnsigned(from, end) >= 0) {
      return 0;
    }
    MemorySegment least = MemorySegment.ofArray(from);
    MemorySegment behind = end == null ? null : MemorySegment.ofArray(end);
    ByteVisitor whileOpen =
        (key, value) -> {
          keyspace.checkGoesOn();
          checkClient();
          work(1 + (key.byteSize() + value.byteSize()) / BYTES_OF_WORK);
          return visitor.visit(key, value);
        };
    return down
        ? session().scanDown(behind, least, limit, whileOpen)
        : session().scan(least, behind, limit, whileOpen);
  }

  private void checkClient() {
    RespClient its = client;
    if (its != null && its.isGone) {
      throw new HalfWay("ERR the client is gone");
    }
  }

  /** Closes the session; an operation that follows opens another one. */
  @Override
  public final void close() {
    ByteSession its = session;
    session = null;
    durable = null;
    if (its != null) {
      its.close();
    }
  }
}
