package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/**
 * One event loop's way to sorted sets. All members of a set have one score, so they are in the
 * order of their bytes. Each operation sees a set as it is at one moment.
 */
final class Sets {
  static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final OwnStore store;

  Sets(OwnStore store) {
    this.store = store;
  }

  /** Does something with a set that is there; returns {@code otherwise} if it is not. */
  <T> T read(int database, MemorySegment key, T otherwise, Reading<T> reading) {
    Lock lock = store.locks().read(key);
    try {
      if (!find(key)) {
        return otherwise;
      }
      MemorySegment value = store.value();
      return reading.read(Stored.score(value), Stored.membersOf(database, Stored.set(value)));
    } finally {
      lock.unlock();
    }
  }

  /** What is done with a set. */
  @FunctionalInterface
  interface Reading<T> {
    /** Is given the score, and the bytes in front of each member. */
    T read(double score, byte[] members);
  }

  private boolean find(MemorySegment key) {
    if (!store.find(key)) {
      return false;
    }
    if (store.own().isString(store.value())) {
      throw Refusal.wrongType();
    }
    return true;
  }

  /** Returns whether a set has a member, which has room in front. */
  boolean has(byte[] members, byte[] member) {
    System.arraycopy(members, 0, member, 0, members.length);
    return store.session().get(MemorySegment.ofArray(member));
  }

  /**
   * Adds members, which have room in front; returns how many were not there.
   *
   * @param create whether a set is made where there is none
   * @throws Refusal if the set has another score
   */
  long add(int database, MemorySegment key, double score, List<byte[]> added, boolean create) {
    Lock lock = store.locks().change(key);
    try {
      long set = 0;
      while (set == 0) {
        if (find(key)) {
          set = withScore(store.value(), score);
        } else if (!create) {
          return 0;
        } else {
          set = make(key, score);
        }
      }
      return create ? add(database, key, set, added) : 0;
    } finally {
      lock.unlock();
    }
  }

  private static long withScore(MemorySegment value, double score) {
    double its = Stored.score(value);
    if (its != score) {
      throw new Refusal(
          "ERR all members of a set have one score here: score="
              + Scores.text(its)
              + ", given="
              + Scores.text(score));
    }
    return Stored.set(value);
  }

  /** Makes an empty set; returns its number, or 0 if the key is there meanwhile. */
  private long make(MemorySegment key, double score) {
    long set = store.own().newSet();
    return store.putIfAbsent(key, Stored.setValue(score, set)) ? set : 0;
  }

  private long add(int database, MemorySegment key, long set, List<byte[]> added) {
    long count = 0;
    boolean done = false;
    try {
      for (byte[] member : added) {
        Stored.fillMember(member, database, set);
        if (store.session().putIfAbsent(MemorySegment.ofArray(member), NOTHING)) {
          count++;
        }
      }
      done = true;
    } finally {
      if (!done) {
        removeIfEmpty(key, Stored.membersOf(database, set));
      }
    }
    return count;
  }

  /** Removes members, which are chosen once the set is locked; returns how many were there. */
  long remove(int database, MemorySegment key, Choice choice) {
    Lock lock = store.locks().change(key);
    try {
      if (!find(key)) {
        return 0;
      }
      byte[] members = Stored.membersOf(database, Stored.set(store.value()));
      try {
        return remove(() -> choice.choose(members));
      } finally {
        removeIfEmpty(key, members);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Which members are removed. */
  @FunctionalInterface
  interface Choice {
    /** Returns some of them, as keys of the index; none once all were returned and removed. */
    List<byte[]> choose(byte[] members);
  }

  private long remove(Supplier<List<byte[]>> next) {
    long count = 0;
    for (List<byte[]> some = next.get(); !some.isEmpty(); some = next.get()) {
      for (byte[] member : some) {
        if (store.session().remove(MemorySegment.ofArray(member))) {
          count++;
        }
      }
    }
    return count;
  }

  /** Returns the bytes of all members, with what is in front of them; 0 if there is no set. */
  long bytes(int database, MemorySegment key) {
    return read(
        database,
        key,
        0L,
        (_, members) -> {
          long[] bytes = {0};
          store.scan(
              members,
              Stored.behindAll(members),
              false,
              Long.MAX_VALUE,
              (member, _) -> {
                bytes[0] += member.byteSize();
                return true;
              });
          return bytes[0];
        });
  }

  /**
   * Removes the key of a set that is locked and has no members, however long the request has taken.
   */
  private void removeIfEmpty(MemorySegment key, byte[] members) {
    long set = Stored.big(MemorySegment.ofArray(members), 1);
    boolean mayBeThere = store.keys(members, Stored.behindAll(members), 1).isEmpty();
    while (mayBeThere) { // It may get another deadline meanwhile, for which nobody locks it.
      mayBeThere = hasSet(key, set) && !store.remove(key, store.value());
    }
  }

  private boolean hasSet(MemorySegment key, long set) {
    return store.find(key)
        && !store.own().isString(store.value())
        && Stored.set(store.value()) == set;
  }
}
