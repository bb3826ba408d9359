package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import pando.journal.LogFullException;

/**
 * Finds what a crash or a failure has left of sets whose change had not ended, and mends it: the
 * members of a set that no key names go, and so does the key of a set without members. Where two
 * keys name one set, one of them gets a set of its own with the same members.
 *
 * <p>All entries are given in ascending order, so the keys come before the members.
 */
final class SetRepair {
  private static final System.Logger LOG = System.getLogger(SetRepair.class.getName());

  private final OwnKeyspace keyspace;

  /** The keys of sets that no member was found of. */
  private final Map<Long, byte[]> empty = new HashMap<>();

  /** Keys of sets that another key names, too. */
  private final List<byte[]> twins = new ArrayList<>();

  /** What the members begin with of each set that no key names. */
  private final List<byte[]> strays = new ArrayList<>();

  // The set of the member that was found last.
  private int area = -1;
  private long set;

  SetRepair(OwnKeyspace keyspace) {
    this.keyspace = keyspace;
  }

  /** Takes note of a key that has a set. */
  void key(MemorySegment key, long its) {
    byte[] copy = key.toArray(JAVA_BYTE);
    if (empty.putIfAbsent(its, copy) != null) {
      twins.add(copy);
    }
  }

  /** Takes note of a member of a set. */
  void member(int database, long its) {
    if (database == area && its == set) {
      return;
    }
    area = database;
    set = its;
    byte[] key = empty.get(its);
    if (key == null || key[0] != database) {
      strays.add(Stored.membersOf(database, its));
    } else {
      empty.remove(its);
    }
  }

  /** Mends what was found, while nobody else uses the index. */
  void run() {
    if (empty.isEmpty() && twins.isEmpty() && strays.isEmpty()) {
      return;
    }
    LOG.log(
        Level.INFO,
        "sets whose change had not ended are mended: without members={0}, without a key={1}, with"
            + " two keys={2}",
        empty.size(),
        strays.size(),
        twins.size());
    try (OwnStore store = keyspace.newStore(_ -> {})) {
      twins.forEach(key -> separate(store, key));
      remove(store);
    }
  }

  /** Gives a key a set of its own, unless its set is empty. */
  private void separate(OwnStore store, byte[] name) {
    MemorySegment key = MemorySegment.ofArray(name);
    if (!store.session().get(key)) {
      return;
    }
    double score = Stored.score(store.value());
    long shared = Stored.set(store.value());
    long deadline = keyspace.deadline(store.value());
    if (empty.containsKey(shared)) {
      boolean _ = store.remove(key);
      return;
    }
    long own = keyspace.newSet();
    store.copyMembers(Stored.membersOf(name[0], shared), Stored.membersOf(name[0], own));
    MemorySegment its = Stored.setValue(score, own);
    store.session().store(key, keyspace.withDeadline(its, deadline));
  }

  /** What is not removed does no harm, and is found again. */
  private void remove(OwnStore store) {
    try {
      for (byte[] key : empty.values()) {
        boolean _ = store.remove(MemorySegment.ofArray(key));
      }
      for (byte[] members : strays) {
        boolean _ = store.removeMembers(members);
      }
    } catch (LogFullException e) {
      LOG.log(Level.WARNING, "not all could be removed that is left of sets", e);
    }
  }
}
