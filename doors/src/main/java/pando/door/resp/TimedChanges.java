package pando.door.resp;

import java.lang.foreign.MemorySegment;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.memory.Closing;

/**
 * Changes of keys by a store's session, of values with deadlines or without. They keep {@link
 * Times} in step, and the counts of the keyspace. After a change {@link Store#value} is the value
 * before, as it is behind changes of the session.
 */
final class TimedChanges {
  private final Store store;
  private final Keyspace keyspace;
  private final Times times;

  TimedChanges(Store store, Times times) {
    this.store = store;
    this.keyspace = store.keyspace();
    this.times = times;
  }

  /** Stores a value in place of whatever a key has; returns whether the key was there. */
  boolean put(MemorySegment key, MemorySegment value) {
    long deadline = keyspace.deadline(value);
    begin(key, deadline);
    boolean found;
    try {
      found = store.session().put(key, value);
    } catch (Throwable e) {
      undo(key, deadline, e);
      throw e;
    }
    end(key, found ? keyspace.deadline(store.value()) : Keyspace.NEVER, deadline);
    return found;
  }

  /** Stores a value if a key is not there; returns whether it was stored. */
  boolean putIfAbsent(MemorySegment key, MemorySegment value) {
    long deadline = keyspace.deadline(value);
    begin(key, deadline);
    boolean done = false;
    try {
      done = store.session().putIfAbsent(key, value);
    } catch (Throwable e) {
      undo(key, deadline, e);
      throw e;
    }
    if (done) {
      end(key, Keyspace.NEVER, deadline);
    } else {
      discard(key, deadline);
    }
    return done;
  }

  /** Replaces a value that is expected; returns whether it was there. */
  boolean replace(MemorySegment key, MemorySegment expected, MemorySegment value) {
    long before = keyspace.deadline(expected);
    long deadline = keyspace.deadline(value);
    if (before == deadline) {
      return store.session().replace(key, expected, value);
    }
    begin(key, deadline);
    boolean done = false;
    try {
      done = store.session().replace(key, expected, value);
    } catch (Throwable e) {
      undo(key, deadline, e);
      throw e;
    }
    if (done) {
      end(key, before, deadline);
    } else {
      discard(key, deadline);
    }
    return done;
  }

  /** Removes a key; returns whether it was there. */
  boolean remove(MemorySegment key) {
    boolean found = store.session().remove(key);
    end(key, found ? keyspace.deadline(store.value()) : Keyspace.NEVER, Keyspace.NEVER);
    return found;
  }

  /** Removes a value that is expected; returns whether it was there. */
  boolean remove(MemorySegment key, MemorySegment expected) {
    long before = keyspace.deadline(expected);
    boolean done = store.session().remove(key, expected);
    end(key, done ? before : Keyspace.NEVER, Keyspace.NEVER);
    return done;
  }

  private void begin(MemorySegment key, long deadline) {
    if (deadline != Keyspace.NEVER) {
      times.add(deadline, key);
      store.ifUndone(() -> times.discard(deadline, key));
    }
  }

  /** Takes note of a value that was stored, or that none is there now. */
  private void end(MemorySegment key, long before, long deadline) {
    if ((before | deadline) == Keyspace.NEVER) {
      return;
    }
    boolean hasExpired = store.isDue(before);
    store.afterwards(() -> settle(key, before, deadline, hasExpired));
  }

  /** Takes note of a change that nothing undoes any more. */
  private void settle(MemorySegment key, long before, long deadline, boolean hasExpired) {
    keyspace.timed(key, before != Keyspace.NEVER, deadline != Keyspace.NEVER);
    if (hasExpired) {
      keyspace.expired();
    }
    try {
      if (deadline != Keyspace.NEVER) {
        times.keep(deadline, key);
      }
      if (before != deadline) {
        discard(key, before);
      }
    } catch (PandoException e) {
      // The change has been made. At worst an entry is left too many; or one is missing, so that a
      // key that has expired takes room until it is stored anew or the door opens again.
    }
  }

  /** Discards an entry, once it is certain which deadline the key has. */
  private void discard(MemorySegment key, long deadline) {
    if (deadline != Keyspace.NEVER) {
      store.afterwards(() -> times.discard(deadline, key));
    }
  }

  /** Discards an entry whose value was not stored; where that is not known it stays. */
  private void undo(MemorySegment key, long deadline, Throwable failure) {
    if (!UnknownOutcomeException.isSaidBy(failure)) {
      Closing.after(failure, () -> discard(key, deadline));
    }
  }
}
