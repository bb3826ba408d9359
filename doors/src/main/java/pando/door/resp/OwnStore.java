package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;

/**
 * One event loop's way to the keys of all databases of a door that has an index for itself. Keys
 * are counted, and have strings or sets.
 */
final class OwnStore extends Store {
  private static final long WAIT_MILLIS_MAX = 60_000;
  private static final long WAIT_MILLIS = 1;

  /** What the removal of a member counts. */
  private static final int REMOVAL_WORK = 4;

  private final OwnKeyspace own;
  private final Sets sets = new Sets(this);

  OwnStore(OwnKeyspace keyspace, Consumer<Consumer<Store>> later) {
    super(keyspace, later);
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

  @Override
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
  void replaced(MemorySegment key, MemorySegment before) {
    removeMembers(key, before);
  }

  /** No client may remove the members of a set as long as it has two names. */
  @Override
  boolean rename(MemorySegment key, MemorySegment name, boolean onlyNew) {
    return withSets(key, name, () -> super.rename(key, name, onlyNew));
  }

  @Override
  boolean copy(MemorySegment key, MemorySegment other, boolean replace) {
    return withSets(
        key,
        other,
        () -> {
          if (!find(key) || own.isString(value())) {
            return super.copy(key, other, replace);
          }
          MemorySegment value = copy(value());
          return (replace || !find(other)) && copySet(key, value, other, replace);
        });
  }

  private boolean copySet(
      MemorySegment key, MemorySegment value, MemorySegment other, boolean replace) {
    long set = own.newSet();
    byte[] members = Stored.membersOf(database(other), set);
    boolean done = false;
    try {
      copyMembers(Stored.membersOf(database(key), Stored.set(value)), members);
      done = put(other, Stored.setValue(Stored.score(value), set), replace);
    } finally {
      if (!done) {
        boolean _ = removeMembers(other, members);
      }
    }
    return done;
  }

  private void copyMembers(byte[] from, byte[] to) {
    byte[] behind = Stored.behindAll(from);
    byte @Nullable [] next = from;
    while (next != null) {
      List<byte[]> some = keys(next, behind);
      if (some.size() == REMOVED_AT_ONCE) {
        requireBackground();
      }
      for (byte[] member : some) {
        byte[] copy = member.clone();
        System.arraycopy(to, 0, copy, 0, to.length);
        session().store(MemorySegment.ofArray(copy), Sets.NOTHING);
      }
      next = some.isEmpty() ? null : behind(some.getLast());
    }
  }

  /** Does something while no other one uses the sets of two keys. */
  private boolean withSets(MemorySegment one, MemorySegment other, BooleanSupplier action) {
    boolean inOrder =
        own.lockOf(one) <= own.lockOf(other); // as all do, so that none waits for ever
    Lock first = changeSet(inOrder ? one : other);
    try {
      Lock second = changeSet(inOrder ? other : one);
      try {
        return action.getAsBoolean();
      } finally {
        second.unlock();
      }
    } finally {
      first.unlock();
    }
  }

  @Override
  long count(int database) {
    return own.count(database);
  }

  @Override
  void clear(int database) {
    clear(database, this::remove);
  }

  /** Removes the members of what a key had, if that was a set; those of large sets later. */
  private void removeMembers(MemorySegment key, MemorySegment before) {
    if (own.isString(before)) {
      return;
    }
    byte[] members = Stored.membersOf(database(key), Stored.set(before));
    boolean isDone = false;
    try {
      isDone = removeMembers(key, members);
    } catch (TooLong e) {
      // Another one holds the lock.
    }
    if (!isDone) {
      byte[] its = key.toArray(JAVA_BYTE);
      later(store -> {
        boolean _ = ((OwnStore) store).removeMembers(MemorySegment.ofArray(its), members);
      });
    }
  }

  /** Removes members of a set that no key has; returns whether there are none left. */
  private boolean removeMembers(MemorySegment key, byte[] members) {
    byte[] behind = Stored.behindAll(members);
    Lock lock = changeSet(key);
    try {
      List<byte[]> some = keys(members, behind);
      while (!some.isEmpty() && mayWork((long) REMOVAL_WORK * some.size())) {
        some.forEach(member -> session().discard(MemorySegment.ofArray(member)));
        some = keys(members, behind);
      }
      return some.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Locks the set of a key, for a reader. */
  Lock readSet(MemorySegment key) {
    return locked(own.lock(own.lockOf(key)).readLock());
  }

  /** Locks the set of a key, for one that changes it. */
  Lock changeSet(MemorySegment key) {
    return locked(own.lock(own.lockOf(key)).writeLock());
  }

  /** An event loop does not wait for a request in the background that has the lock. */
  private Lock locked(Lock lock) {
    long millis = isInBackground() ? WAIT_MILLIS_MAX : WAIT_MILLIS;
    try {
      if (lock.tryLock(millis, TimeUnit.MILLISECONDS)) {
        return lock;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the lock of a set", e);
    }
    requireBackground();
    throw new StalledException("a set stays locked: waitedMillis=" + millis);
  }

  private static int database(MemorySegment key) {
    return key.get(JAVA_BYTE, 0);
  }
}
