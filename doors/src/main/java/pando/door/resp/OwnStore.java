package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * One event loop's way to the keys of all databases of a door that has an index for itself. Keys
 * are counted, and have strings or sets.
 */
final class OwnStore extends Store {
  private static final Exchange GETSET = new Exchange(true, true, false);

  private final OwnKeyspace own;
  private final SetLocks locks;
  private final Sets sets = new Sets(this);
  private final KeyVersions.Changes changes;

  // While several keys are operated on at one moment: what follows, once others see the changes.
  private boolean isAtomic;
  private final long[] added = new long[OwnKeyspace.DATABASES];
  private final List<Runnable> following = new ArrayList<>();
  private final List<Runnable> undoing = new ArrayList<>();

  /** The hashes of keys that are changed, which are counted at the end. */
  private final BitSet changed = new BitSet();

  OwnStore(OwnKeyspace keyspace, Consumer<Consumer<Store>> later) {
    super(keyspace, later);
    this.own = keyspace;
    this.locks = new SetLocks(this, keyspace);
    this.changes = keyspace.versions().newChanges();
  }

  OwnKeyspace own() {
    return own;
  }

  /** Returns the way to the locks of sets. */
  SetLocks locks() {
    return locks;
  }

  @Override
  Sets sets() {
    return sets;
  }

  /** {@inheritDoc} The members of sets whose key goes are removed afterwards, in the background. */
  @Override
  void atomically(@Nullable Collection<MemorySegment> keys, Runnable action) {
    if (isAtomic) {
      action.run(); // within a transaction, which has the keys
      return;
    }
    isAtomic = true;
    try {
      runAtomically(keys, action);
      for (int database = 0; database < added.length; database++) {
        own.count(database, added[database]);
      }
      isAtomic = false;
      following.forEach(Runnable::run);
    } finally {
      isAtomic = false;
      Arrays.fill(added, 0);
      following.clear();
      undoing.clear();
      changed.clear();
    }
  }

  private void runAtomically(@Nullable Collection<MemorySegment> keys, Runnable action) {
    try {
      super.atomically(keys, () -> runAndCount(action));
    } catch (Throwable e) {
      Closing.after(e, undoing.toArray(Runnable[]::new));
      throw e;
    }
  }

  /** Counts the changes of an action, whatever becomes of it, unless it is run again. */
  private void runAndCount(Runnable action) {
    try {
      action.run();
    } catch (TooLong e) {
      changed.clear();
      throw e;
    } finally {
      changed.stream().forEach(changes::add);
    }
  }

  private void count(MemorySegment key, int more) {
    if (isAtomic) {
      added[OwnKeyspace.database(key)] += more;
    } else {
      own.count(OwnKeyspace.database(key), more);
    }
  }

  @Override
  void beginChange(RespCall call, CommandKeys keys) {
    keys.forEach(call.request, i -> beginChange(hash(call, i)));
  }

  @Override
  void endChange(RespCall call, CommandKeys keys) {
    keys.forEach(call.request, i -> endChange(hash(call, i)));
  }

  private void beginChange(int hash) {
    if (isAtomic) {
      changed.set(hash);
    } else {
      changes.begin(hash);
    }
  }

  private void endChange(int hash) {
    if (!isAtomic) {
      changes.end(hash);
    }
  }

  @Override
  void afterwards(Runnable task) {
    if (isAtomic) {
      following.add(task);
    } else {
      task.run();
    }
  }

  @Override
  void ifUndone(Runnable task) {
    if (isAtomic) {
      undoing.add(task);
    }
  }

  @Override
  boolean changing(MemorySegment key, BooleanSupplier change) {
    byte[] its = key.toArray(JAVA_BYTE);
    int hash = KeyVersions.hash(its[0], its, 1, its.length - 1);
    beginChange(hash);
    try {
      return change.getAsBoolean();
    } finally {
      endChange(hash);
    }
  }

  /** Returns the hash of an argument that is a key. */
  static int hash(RespCall call, int i) {
    RespRequest request = call.request;
    int database = call.client.database;
    return KeyVersions.hash(database, request.bytes(), request.start(i), request.length(i));
  }

  @Override
  void put(MemorySegment key, MemorySegment value) {
    if (changes().put(key, value)) {
      replaced(key, value());
    } else {
      added(key);
    }
  }

  /** A set is to stay, so this compares as it stores. */
  @Override
  boolean exchange(MemorySegment key, MemorySegment string) {
    return exchange(key, string, GETSET);
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
  void added(MemorySegment key) {
    count(key, 1);
  }

  @Override
  void removed(MemorySegment key) {
    count(key, -1);
  }

  /** Removes the members of a set; those of large sets later. */
  @Override
  void replaced(MemorySegment key, MemorySegment before) {
    if (own.isString(before)) {
      return;
    }
    byte[] members = Stored.membersOf(OwnKeyspace.database(key), Stored.set(before));
    boolean isDone = false;
    try {
      isDone = !isAtomic && removeMembers(key, members);
    } catch (TooLong e) {
      // Another one holds the lock.
    }
    if (!isDone) {
      byte[] its = key.toArray(JAVA_BYTE);
      afterwards(() ->
          later(store -> {
            boolean _ = ((OwnStore) store).removeMembers(MemorySegment.ofArray(its), members);
          }));
    }
  }

  /** No client may remove the members of a set as long as it has two names. */
  @Override
  boolean rename(MemorySegment key, MemorySegment name, boolean onlyNew) {
    return locks.withBoth(key, name, () -> super.rename(key, name, onlyNew));
  }

  @Override
  boolean copy(MemorySegment key, MemorySegment other, boolean replace) {
    return locks.withBoth(
        key, other, () -> changing(other, () -> copyWithLocks(key, other, replace)));
  }

  private boolean copyWithLocks(MemorySegment key, MemorySegment other, boolean replace) {
    if (!find(key) || own.isString(value())) {
      return super.copy(key, other, replace);
    }
    MemorySegment value = copy(value());
    return (replace || !find(other)) && copySet(key, value, other, replace);
  }

  private boolean copySet(
      MemorySegment key, MemorySegment value, MemorySegment other, boolean replace) {
    long set = own.newSet();
    byte[] members = Stored.membersOf(OwnKeyspace.database(other), set);
    boolean done = false;
    try {
      copyMembers(Stored.membersOf(OwnKeyspace.database(key), Stored.set(value)), members);
      MemorySegment untimed = Stored.setValue(Stored.score(value), set);
      done = put(other, own.withDeadline(untimed, own.deadline(value)), replace);
    } finally {
      if (!done) {
        boolean _ = removeMembers(other, members);
      }
    }
    return done;
  }

  /**
   * Copies the members of a set into another one.
   *
   * @param from what its members begin with
   * @param to what those of the other set begin with
   */
  void copyMembers(byte[] from, byte[] to) {
    byte[] behind = Stored.behindAll(from);
    byte @Nullable [] next = from;
    while (next != null) {
      List<byte[]> some = keys(next, behind);
      if (some.size() == REMOVED_AT_ONCE) {
        requireBackground();
      }
      next = some.isEmpty() ? null : behind(some.getLast());
      for (byte[] member : some) {
        System.arraycopy(to, 0, member, 0, to.length);
        session().store(MemorySegment.ofArray(member), Sets.NOTHING);
      }
    }
  }

  @Override
  long count(int database) {
    return own.count(database) + added[database];
  }

  /** Removes members of a set that no key has; returns whether there are none left. */
  private boolean removeMembers(MemorySegment key, byte[] members) {
    Lock lock = locks.change(key);
    try {
      return removeMembers(members);
    } finally {
      lock.unlock();
    }
  }

  /** Removes members that nobody else uses; returns whether there are none left. */
  boolean removeMembers(byte[] members) {
    byte[] behind = Stored.behindAll(members);
    List<byte[]> some = keys(members, behind);
    while (!some.isEmpty() && mayWork((long) REMOVAL_WORK * some.size())) {
      some.forEach(member -> session().discard(MemorySegment.ofArray(member)));
      some = keys(members, behind);
    }
    return some.isEmpty();
  }
}
