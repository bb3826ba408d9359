package pando.baselines.lock;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.session.Retry;

/** The locks that one session holds on nodes. Not thread-safe. */
public final class NodeLocks implements SessionLocks {
  /*
   * The hierarchical on-chip lock (Sherman section 4.3, figure 6). A session takes the local lock
   * first, in order of arrival, and then the global one by masked CAS from 0 to its compute
   * server's and its own number. To unlock, it WRITEs 0 after its last change, in the same doorbell
   * list, and releases the local lock when that is done. If another session waits locally, the
   * holder does not unlock the global lock and hands it over with the local one; the number of
   * hand-overs in a row is limited. If that waiter has timed out, the global lock would stay held,
   * so the holder unlocks it after all.
   *
   * With versions, the lock's word also counts the changes: a session locks by a READ of the word
   * and a CAS from the word that it READ, and unlocks by storing the next version. Bytes READ in
   * one list with the word are still valid if the CAS succeeds: the version shows that they were
   * not written since. Without versions, bytes READ in one list after the masked CAS are READ under
   * the lock.
   *
   * A node that only this compute server writes needs the local lock only.
   *
   * After a failure it is not known whether the list with the unlock took effect. As the local lock
   * is still held, a global lock that names this compute server belongs to this session. It is
   * unlocked by a masked CAS, which fails if a session of another compute server has locked it
   * meanwhile.
   */

  /** Bytes of local memory that are needed: an unlocked word, and the word that a verb found. */
  public static final int SCRATCH_BYTES = 2 * Long.BYTES;

  private static final int EAGER = 10_000;
  private static final int SPIN_PAUSE_MAX = 20;

  private final LockTables tables;
  private final Worker worker;
  private final MemorySegment memory;
  private final long unlocked;
  private final long found;
  private final boolean local;
  private final boolean versions;
  private final boolean combine;
  private final int handovers;
  private final long waitNanos;
  private final long owner;

  /**
   * Mask of the bits in which this compute server's locks may differ from {@link #owner}: the
   * session.
   */
  private final long others;

  private final VerbList single = new VerbList();
  private final VerbList nothing = new VerbList();

  private long[] held = new long[8];
  private boolean[] global = new boolean[8];
  private long[] words = new long[8];
  private int[] times = new int[8];
  private int count;

  /**
   * Creates the locks of a session that holds none.
   *
   * @param tables of the session's compute server, made with the same options
   * @param scratch local offset of {@link #SCRATCH_BYTES}, a multiple of 8
   */
  public NodeLocks(
      LockTables tables,
      LockOptions options,
      int computeServer,
      int session,
      Worker worker,
      long scratch) {
    this.tables = tables;
    this.worker = worker;
    this.memory = worker.memory();
    this.unlocked = scratch;
    this.found = scratch + Long.BYTES;
    this.local = options.local();
    this.versions = options.versions();
    this.combine = options.combine();
    this.handovers = options.handovers();
    this.waitNanos = options.waitNanos();
    this.owner = ((computeServer + 1L) << LockTables.SESSION_BITS) | session;
    this.others = local ? LockTables.SESSION_MASK : 0;
  }

  /**
   * Locks a node; waits if another session holds the lock.
   *
   * @param owned whether no other compute server writes the node
   * @throws StalledException if the lock stays held by another session
   */
  public void lock(long node, boolean owned) {
    take(node, owned, nothing);
  }

  /**
   * Locks a node that any compute server may write, and posts READs in the same list as the first
   * attempt.
   *
   * @param reads READs of the node's memory server; the list is not changed
   * @return {@code true} if the READs were done and are valid under the lock; {@code false} if the
   *     caller must post them, as the session held the lock already, it was handed over, or the
   *     first attempt failed
   * @throws StalledException if it stays locked
   */
  public boolean lockAndRead(long node, VerbList reads) {
    return take(node, false, reads);
  }

  private boolean take(long node, boolean owned, VerbList reads) {
    long lock = tables.lockOf(node);
    int place = placeOf(lock);
    if (place < 0) {
      makeRoom();
      takeLocal(lock, node);
      place = hold(lock);
    } else {
      times[place]++;
    }
    return !owned && !global[place] && takeGlobal(place, node, reads);
  }

  private void takeLocal(long lock, long node) {
    if (local && !tables.localOf(lock).lock(LockTables.numberOf(lock), worker, waitNanos)) {
      throw new StalledException(
          "a node stayed locked by this compute server's sessions: node=%s, lock=%s, waitedNanos=%s"
              .formatted(GlobalAddress.toString(node), GlobalAddress.toString(lock), waitNanos));
    }
  }

  /** Makes room for one more lock. Called before the lock is taken, as it may run out of memory. */
  private void makeRoom() {
    if (count == held.length) {
      global = Arrays.copyOf(global, 2 * count);
      words = Arrays.copyOf(words, 2 * count);
      times = Arrays.copyOf(times, 2 * count);
      held = Arrays.copyOf(held, 2 * count);
    }
  }

  private int hold(long lock) {
    held[count] = lock;
    times[count] = 1;
    boolean handed = local && tables.localOf(lock).isHanded(LockTables.numberOf(lock));
    global[count] = handed;
    words[count] = handed ? tables.localOf(lock).word(LockTables.numberOf(lock)) : 0;
    return count++;
  }

  /** Takes a global lock; returns whether the READs posted with it are valid. */
  private boolean takeGlobal(int place, long node, VerbList reads) {
    long start = worker.nanoTime();
    for (int attempt = 0; ; attempt++) {
      // The READs go with the first attempt only: a waiter would READ in vain.
      long other = takeOnce(place, attempt == 0 ? reads : nothing);
      if (other == 0) {
        return attempt == 0;
      }
      // Spins, as the paper does: each attempt is a round trip.
      worker.backoff().pause(Math.min(attempt >> 8, SPIN_PAUSE_MAX));
      if (attempt > EAGER && worker.nanoTime() - start > waitNanos) {
        release(place);
        throw stayedLocked(node, other, start);
      }
    }
  }

  /** Tries to take a global lock; returns 0 if it was free, else its holder. */
  private long takeOnce(int place, VerbList reads) {
    // Set before the verb: if the verb fails, this session may hold the lock anyway.
    global[place] = true;
    long other = versions ? takeWord(place, reads) : takeField(place, reads);
    global[place] = other == 0;
    return other;
  }

  private long takeField(int place, VerbList reads) {
    long lock = held[place];
    int shift = tables.shiftOf(lock);
    long mask = LockTables.LOCK_MASK << shift;
    single.clear().maskedCas(tables.wordOf(lock), 0, mask, owner << shift, mask, found);
    return (postWith(reads) >>> shift) & LockTables.LOCK_MASK;
  }

  private long takeWord(int place, VerbList reads) {
    long address = tables.wordOf(held[place]);
    single.clear().read(address, found, Long.BYTES);
    long word = postWith(reads);
    if ((word & LockTables.LOCK_MASK) != 0) {
      return word & LockTables.LOCK_MASK;
    }
    long before = worker.cas(address, word, word | owner);
    words[place] = word;
    return before == word ? 0 : Math.max(before & LockTables.LOCK_MASK, 1);
  }

  /** Posts the verb in {@code single} and READs after it; returns the word that the verb found. */
  private long postWith(VerbList reads) {
    for (int i = 0; i < reads.size(); i++) {
      assert reads.kind(i) == VerbList.Kind.READ;
      single.read(reads.remote(i), reads.local(i), reads.length(i));
    }
    worker.post(single);
    return Words.get(memory, found);
  }

  private StalledException stayedLocked(long node, long holder, long start) {
    return new StalledException(
        "a node stayed locked: node=%s, lock=%s, holder=computeServer %s session %s, waitedNanos=%s"
            .formatted(
                GlobalAddress.toString(node),
                GlobalAddress.toString(tables.lockOf(node)),
                (holder >>> LockTables.SESSION_BITS) - 1,
                holder & LockTables.SESSION_MASK,
                worker.nanoTime() - start));
  }

  /** Locks a node if the lock is free; returns whether it did. Does not wait. */
  public boolean tryLock(long node, boolean owned) {
    long lock = tables.lockOf(node);
    int place = placeOf(lock);
    makeRoom();
    if (place >= 0) {
      times[place]++;
    } else if (local && !tables.localOf(lock).tryLock(LockTables.numberOf(lock))) {
      return false;
    } else {
      place = hold(lock);
    }
    if (owned || global[place]) {
      return true;
    }
    if (takeOnce(place, nothing) == 0) {
      return true;
    }
    release(place);
    return false;
  }

  @Override
  public void writeAndUnlock(long node, VerbList changes) {
    int place = placeOf(tables.lockOf(node));
    if (times[place] > 1) {
      post(changes);
      times[place]--;
      return;
    }
    long lock = held[place];
    int number = LockTables.numberOf(lock);
    if (global[place] && local && tables.localOf(lock).mayHandOver(number, handovers)) {
      post(changes);
      if (tables.localOf(lock).handOver(number, words[place])) {
        forget(place);
        return;
      }
    }
    if (global[place]) {
      addUnlock(place, changes);
    }
    post(changes);
    forget(place);
    if (local) {
      tables.localOf(lock).release(number);
    }
  }

  private void addUnlock(int place, VerbList changes) {
    long lock = held[place];
    if (versions) {
      Words.set(memory, unlocked, LockTables.nextVersion(words[place]));
      changes.write(tables.wordOf(lock), unlocked, Long.BYTES);
    } else {
      Words.set(memory, unlocked, 0);
      int bytes = LockTables.LOCK_BITS / Byte.SIZE;
      changes.write(tables.wordOf(lock) + tables.shiftOf(lock) / Byte.SIZE, unlocked, bytes);
    }
  }

  private void post(VerbList changes) {
    if (combine || changes.size() < 2) {
      worker.post(changes);
    } else {
      for (int i = 0; i < changes.size(); i++) {
        worker.write(changes.remote(i), changes.local(i), changes.length(i));
      }
    }
    changes.clear();
  }

  @Override
  public void unlock(long node) {
    writeAndUnlock(node, single.clear());
  }

  /**
   * Unlocks all held locks in one round trip. If that fails, unlocks one after the other and
   * throws. Not with versions.
   */
  public void unlockAll() {
    assert !versions : "each lock has another word to write";
    try {
      unlockAllGlobal();
    } catch (RuntimeException | Error e) {
      abandon(e);
      throw e;
    }
    while (count > 0) {
      releaseLast();
    }
  }

  private void unlockAllGlobal() {
    single.clear();
    for (int place = 0; place < count; place++) {
      if (global[place]) {
        addUnlock(place, single);
      }
    }
    if (single.size() > 0) {
      worker.scatter(single);
    }
  }

  @Override
  public void abandon(Throwable failure) {
    while (count > 0) {
      try {
        if (global[count - 1]) {
          long lock = held[count - 1];
          Retry.untilDone(worker, () -> takeBack(lock));
        }
      } catch (RuntimeException | Error e) {
        failure.addSuppressed(e);
      }
      releaseLast();
    }
  }

  /** Releases the local lock of the lock taken last, however often the session has locked it. */
  private void releaseLast() {
    times[count - 1] = 1;
    release(count - 1);
  }

  @Override
  public void keep() {
    count = 0;
  }

  /**
   * Returns, after a failure, whether a node's lock that this session holds is still held in the
   * pool.
   */
  public boolean isStillOurs(long node) {
    int place = placeOf(tables.lockOf(node));
    if (place < 0 || !global[place]) {
      return place >= 0;
    }
    worker.read(tables.wordOf(held[place]), found, Long.BYTES);
    long holder = (Words.get(memory, found) >>> tables.shiftOf(held[place])) & LockTables.LOCK_MASK;
    return ((holder ^ owner) & ~others) == 0;
  }

  /** Unlocks a global lock if this compute server still holds it. */
  private void takeBack(long lock) {
    tables.unlock(lock, owner, LockTables.LOCK_MASK & ~others, worker, found);
  }

  private void release(int place) {
    if (--times[place] > 0) {
      return;
    }
    long lock = held[place];
    forget(place);
    if (local) {
      tables.localOf(lock).release(LockTables.numberOf(lock));
    }
  }

  private int placeOf(long lock) {
    for (int place = 0; place < count; place++) {
      if (held[place] == lock) {
        return place;
      }
    }
    return -1;
  }

  private void forget(int place) {
    count--;
    held[place] = held[count];
    global[place] = global[count];
    words[place] = words[count];
    times[place] = times[count];
  }
}
