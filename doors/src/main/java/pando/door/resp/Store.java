package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;

/**
 * One event loop's way to the keys of all databases. A key here has its database in front. What a
 * key had is returned by {@link #value} until the next operation, with its kind in front.
 */
final class Store implements AutoCloseable {
  /** Keys that are collected before they are removed. */
  private static final int REMOVED_AT_ONCE = 1000;

  private final Keyspace keyspace;
  private final ByteSession session;

  Store(Keyspace keyspace) {
    this.keyspace = keyspace;
    this.session = keyspace.index().session();
  }

  Keyspace keyspace() {
    return keyspace;
  }

  ByteSession session() {
    return session;
  }

  MemorySegment value() {
    return session.value();
  }

  /** Finds the value of a key, whatever it is. */
  boolean find(MemorySegment key) {
    return session.get(key);
  }

  /**
   * Finds the string of a key.
   *
   * @throws Refusal if it is a set
   */
  boolean findString(MemorySegment key) {
    if (!session.get(key)) {
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
  void requireString() {
    if (!Stored.isString(session.value())) {
      throw Refusal.wrongType();
    }
  }

  /** Stores a string in place of whatever a key has; returns whether it was there. */
  boolean put(MemorySegment key, MemorySegment string) {
    boolean found = session.put(key, string);
    if (found) {
      removeMembers(key, session.value());
    } else {
      keyspace.added(database(key));
    }
    return found;
  }

  /** Stores a string if a key is not there; returns whether it was stored. */
  boolean putIfAbsent(MemorySegment key, MemorySegment string) {
    boolean stored = session.putIfAbsent(key, string);
    if (stored) {
      keyspace.added(database(key));
    }
    return stored;
  }

  /** Stores a string if a key is there, whatever it has; returns whether it was stored. */
  boolean update(MemorySegment key, MemorySegment string) {
    boolean found = session.update(key, string);
    if (found) {
      removeMembers(key, session.value());
    }
    return found;
  }

  /** Replaces a string that is expected; returns whether it was there. */
  boolean replace(MemorySegment key, MemorySegment expected, MemorySegment string) {
    return session.replace(key, expected, string);
  }

  /** Removes a string that is expected; returns whether it was there. */
  boolean remove(MemorySegment key, MemorySegment expected) {
    boolean removed = session.remove(key, expected);
    if (removed) {
      keyspace.removed(database(key));
    }
    return removed;
  }

  /** Removes a key with whatever it has; returns whether it was there. */
  boolean remove(MemorySegment key) {
    boolean found = session.remove(key);
    if (found) {
      keyspace.removed(database(key));
      removeMembers(key, session.value());
    }
    return found;
  }

  /** Removes the members of what a key had, if that was a set. */
  private void removeMembers(MemorySegment key, MemorySegment before) {
    if (Stored.isString(before)) {
      return;
    }
    byte[] members = Stored.membersOf(database(key), Stored.set(before));
    Lock lock = keyspace.changeSet(database(key), key);
    try {
      removeAll(members, session::discard);
    } finally {
      lock.unlock();
    }
  }

  /** Removes all keys of a database that are there throughout. */
  void clear(int database) {
    removeAll(new byte[] {(byte) database}, this::remove);
  }

  private void removeAll(byte[] prefix, Consumer<MemorySegment> remove) {
    byte[] behind = Stored.behindAll(prefix);
    List<byte[]> some = keys(prefix, behind);
    while (!some.isEmpty()) {
      some.forEach(key -> remove.accept(MemorySegment.ofArray(key)));
      some = keys(Stored.behind(some.getLast()), behind);
    }
  }

  /** Returns some keys of a range, the first ones. */
  List<byte[]> keys(byte[] from, byte @Nullable [] to) {
    List<byte[]> keys = new ArrayList<>();
    scan(from, to, false, REMOVED_AT_ONCE, (key, _) -> keys.add(key.toArray(JAVA_BYTE)));
    return keys;
  }

  /**
   * Visits entries from the least key to that before {@code to}, or the other way round.
   *
   * @param to the first key behind the range, {@code null} if it has no end
   */
  long scan(byte[] from, byte @Nullable [] to, boolean down, long limit, ByteVisitor visitor) {
    if (to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return 0;
    }
    MemorySegment least = MemorySegment.ofArray(from);
    MemorySegment behind = to == null ? null : MemorySegment.ofArray(to);
    return down
        ? session.scanDown(behind, least, limit, visitor)
        : session.scan(least, behind, limit, visitor);
  }

  private static int database(MemorySegment key) {
    return key.get(JAVA_BYTE, 0);
  }

  @Override
  public void close() {
    session.close();
  }
}
