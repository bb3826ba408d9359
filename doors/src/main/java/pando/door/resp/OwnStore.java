package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.Lock;

/**
 * One event loop's way to the keys of all databases of a door that has an index for itself. Keys
 * are counted, and have strings or sets.
 */
final class OwnStore extends Store {
  private final OwnKeyspace own;
  private final Sets sets = new Sets(this);

  OwnStore(OwnKeyspace keyspace) {
    super(keyspace);
    this.own = keyspace;
  }

  OwnKeyspace own() {
    return own;
  }

  @Override
  Sets sets() {
    return sets;
  }

  @Override
  void put(MemorySegment key, MemorySegment string) {
    if (session().put(key, string)) {
      removeMembers(key, value());
    } else {
      own.added(database(key));
    }
  }

  @Override
  boolean putIfAbsent(MemorySegment key, MemorySegment string) {
    boolean stored = session().putIfAbsent(key, string);
    if (stored) {
      own.added(database(key));
    }
    return stored;
  }

  @Override
  boolean update(MemorySegment key, MemorySegment string) {
    boolean found = session().update(key, string);
    if (found) {
      removeMembers(key, value());
    }
    return found;
  }

  /**
   * A set is to stay, so this compares as it stores, and begins again if the string has changed.
   */
  @Override
  boolean exchange(MemorySegment key, MemorySegment string, boolean create) {
    while (true) {
      boolean found = findString(key);
      boolean done = found ? replace(key, value(), string) : !create || putIfAbsent(key, string);
      if (done) {
        return found;
      }
    }
  }

  @Override
  boolean take(MemorySegment key) {
    boolean found = findString(key);
    while (found && !remove(key, value())) {
      found = findString(key);
    }
    return found;
  }

  /** Removes a value that is expected; returns whether it was there. */
  boolean remove(MemorySegment key, MemorySegment expected) {
    boolean removed = session().remove(key, expected);
    if (removed) {
      own.removed(database(key));
    }
    return removed;
  }

  @Override
  boolean remove(MemorySegment key) {
    boolean found = session().remove(key);
    if (found) {
      own.removed(database(key));
      removeMembers(key, value());
    }
    return found;
  }

  @Override
  long count(int database) {
    return own.count(database);
  }

  @Override
  void clear(int database) {
    removeAll(own.prefix(database), this::remove);
  }

  /** Removes the members of what a key had, if that was a set. */
  private void removeMembers(MemorySegment key, MemorySegment before) {
    if (own.isString(before)) {
      return;
    }
    byte[] members = Stored.membersOf(database(key), Stored.set(before));
    Lock lock = own.changeSet(database(key), key);
    try {
      removeAll(members, session()::discard);
    } finally {
      lock.unlock();
    }
  }

  private static int database(MemorySegment key) {
    return key.get(JAVA_BYTE, 0);
  }
}
