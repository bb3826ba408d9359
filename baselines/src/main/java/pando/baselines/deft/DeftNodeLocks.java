package pando.baselines.deft;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.baselines.lock.SessionLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.session.Gate;
import pando.index.session.Retry;

/**
 * The locks that one session holds on nodes, shared or exclusive. Not thread-safe.
 *
 * <p>A caller that takes a lock passes a list of READs of the node's memory server. They are posted
 * after the lock's own verb, in one doorbell list; the caller's list is not changed. A method that
 * takes a lock returns whether these READs were done under the lock. If not, the caller must post
 * them again, now that the lock is held.
 *
 * <p>No hold-and-wait: as nodes may share a word, a session that holds a lock must take further
 * ones by {@link #tryExclusive}, which does not wait. So two sessions never wait for each other.
 */
abstract sealed class DeftNodeLocks implements SessionLocks permits SxLocks, CasLocks {
  /*
   * Nodes share words, so a session may lock a word that it already holds: for a leaf, its sibling
   * or its parent. The session then holds the word once, in the stronger mode, and counts; the last
   * unlock releases it. A word that is held shared and locked exclusively is upgraded.
   *
   * To unlock takes one more verb after the last change, in the same doorbell list. If that list
   * fails, this object still counts the lock as held. In the pool it is held as well, unless the
   * outcome of the list is unknown: verbs take effect in posting order, a verb that fails ends its
   * list, and the unlock is the last one.
   */

  /** Bytes of local memory that are needed: the word that a verb found, and a free lock word. */
  static final int SCRATCH_BYTES = 2 * Long.BYTES;

  private static final int RELEASES_MAX = 100;

  final Worker worker;

  /** Local offset of the word that a READ or an atomic found. */
  final long found;

  private final LockWords words;
  private final long waitNanos;
  private final VerbList list = new VerbList();

  private long[] held = new long[8];
  private boolean[] exclusive = new boolean[8];

  /** The ticket of each word that is held exclusively. */
  private int[] tickets = new int[8];

  /** For each word, whether a verb that unlocks it may have taken effect. */
  private boolean[] unsure = new boolean[8];

  private int[] times = new int[8];
  private int count;
  private Gate.@Nullable Pass pass;

  DeftNodeLocks(LockWords words, long waitNanos, Worker worker, long scratch) {
    this.words = words;
    this.waitNanos = waitNanos;
    this.worker = worker;
    this.found = scratch;
  }

  /**
   * Returns the locks of a session.
   *
   * @param drains of the process
   * @param casLocks whether locks are taken by CAS and always exclusive; else they are SX locks
   * @param waitNanos longest wait for a lock, in nanoseconds
   * @param session number of the session at its compute server
   * @param scratch local offset of {@link #SCRATCH_BYTES}, a multiple of 8
   */
  static DeftNodeLocks of(
      LockWords words,
      Drains drains,
      boolean casLocks,
      long waitNanos,
      int computeServer,
      int session,
      Worker worker,
      long scratch) {
    return casLocks
        ? new CasLocks(words, waitNanos, computeServer, session, worker, scratch)
        : new SxLocks(words, drains, waitNanos, worker, scratch);
  }

  /**
   * Locks a node shared; waits if another session holds it exclusively or waits for that.
   *
   * @return whether what was read behind it holds
   * @throws StalledException if it stays locked
   */
  final boolean lockShared(long node, VerbList reads) {
    long word = words.wordOf(node);
    int place = placeOf(word);
    if (place < 0) {
      makeRoom();
      return take(node, word, false, reads);
    }
    times[place]++;
    worker.post(reads);
    return true;
  }

  /**
   * Locks a node exclusively; waits if another session holds the lock. If this session holds the
   * word shared for another node, that node may change meanwhile.
   *
   * @return whether what was read behind it holds
   * @throws StalledException if it stays locked
   */
  final boolean lockExclusive(long node, VerbList reads) {
    long word = words.wordOf(node);
    int place = placeOf(word);
    if (place < 0) {
      makeRoom();
      return take(node, word, true, reads);
    }
    times[place]++;
    return raise(place, node, reads);
  }

  /**
   * Exchanges a shared lock for an exclusive one; waits if other sessions hold it. Another session
   * may hold it exclusively in between, so what was read before is not valid any more.
   *
   * @return whether what was read behind it holds
   * @throws StalledException if other sessions keep the lock; then this session does not hold it
   *     any more
   */
  final boolean upgrade(long node, VerbList reads) {
    return raise(placeOf(words.wordOf(node)), node, reads);
  }

  private boolean raise(int place, long node, VerbList reads) {
    if (exclusive[place]) {
      worker.post(reads);
      return true;
    }
    return exchange(place, node, reads);
  }

  /**
   * Locks a node exclusively if no other session holds the lock or waits for it; returns whether it
   * did. Does not wait.
   */
  final boolean tryExclusive(long node) {
    long word = words.wordOf(node);
    int place = placeOf(word);
    if (place < 0) {
      makeRoom();
      return tryTake(word);
    }
    if (!exclusive[place] && !tryExchange(place)) {
      return false;
    }
    times[place]++;
    return true;
  }

  @Override
  public final void writeAndUnlock(long node, VerbList changes) {
    int place = placeOf(words.wordOf(node));
    if (times[place] > 1) {
      worker.post(changes);
      times[place]--;
    } else {
      addRelease(place, changes);
      try {
        worker.post(changes);
      } catch (RuntimeException | Error e) {
        unsure[place] |= isUnknown(e);
        throw e;
      }
      forget(place);
    }
    changes.clear();
  }

  @Override
  public final void unlock(long node) {
    writeAndUnlock(node, list.clear());
  }

  @Override
  public final void abandon(Throwable failure) {
    while (count > 0) {
      int place = count - 1;
      try {
        releaseSurely(held[place], exclusive[place], tickets[place], unsure[place]);
      } catch (RuntimeException | Error e) {
        failure.addSuppressed(e);
      }
      forget(place);
    }
  }

  /** Returns whether the session holds any lock. */
  final boolean areHeld() {
    return count > 0;
  }

  /**
   * Returns whether the session holds a node's lock exclusively in the pool, also after a failed
   * unlock.
   */
  final boolean isSurelyHeld(long node) {
    int place = placeOf(words.wordOf(node));
    return place >= 0 && exclusive[place] && (!unsure[place] || isInPool(place));
  }

  /** Returns whether a word that the session holds exclusively is still held in the pool. */
  abstract boolean isInPool(int place);

  @Override
  public void keep() {
    count = 0;
  }

  /** Sets the pass by which waiters rest while locks are reset. Without one they do not rest. */
  final void restBy(Gate.Pass own) {
    pass = own;
  }

  /** Returns whether locks are to be reset, so that waiters should rest. */
  final boolean isRestAsked() {
    return pass != null && pass.isRestAsked();
  }

  /** Returns whether a change of the whole index waits for the sessions inside. */
  final boolean isGateShut() {
    return pass != null && pass.isShut();
  }

  /** Rests until locks are reset. The session holds none. */
  final void rest() {
    Objects.requireNonNull(pass).rest();
  }

  /**
   * Called when it is unknown whether this session holds a word in the pool, or waits for it.
   * Default: the word itself names its holder.
   */
  void lose(long word) {}

  /** Releases abandoned tickets whose turn has come. Called by a session that closes. */
  void settle() {}

  /** Locks a word that this session does not hold. */
  abstract boolean take(long node, long word, boolean exclusively, VerbList reads);

  /** Upgrades a word that this session holds shared. */
  abstract boolean exchange(int place, long node, VerbList reads);

  /** Locks exclusively, if it is free, a word that this session does not hold. */
  abstract boolean tryTake(long word);

  /** Upgrades a word that this session holds shared, if no other session holds it. */
  abstract boolean tryExchange(int place);

  /** Adds the verb that releases a word. */
  abstract void addRelease(int place, VerbList changes);

  /**
   * Releases a word after a failure.
   *
   * @param maybeDone whether an earlier attempt may have released it
   */
  abstract void release(long word, boolean exclusively, int ticket, boolean maybeDone);

  /**
   * Releases a word after a failure, and retries if that fails; {@linkplain #lose loses} it if that
   * does not help. Does not use {@link pando.index.session.Retry}, as the retry depends on the
   * failure: a shared word that may be released already is not released again, as that would let
   * other sessions in too early.
   */
  final void releaseSurely(long word, boolean exclusively, int ticket, boolean maybeDone) {
    boolean maybe = maybeDone;
    long start = worker.nanoTime();
    for (int attempt = 0; exclusively || !maybe; attempt++) {
      try {
        release(word, exclusively, ticket, maybe);
        return;
      } catch (PandoException | Error e) {
        maybe |= isUnknown(e);
        if (Retry.isFenced(e) || isOver(attempt, RELEASES_MAX, start) || (maybe && !exclusively)) {
          lose(word);
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
    lose(word);
  }

  /** Returns whether the verbs that failed may have taken effect anyway. */
  static boolean isUnknown(Throwable failure) {
    return failure instanceof UnknownOutcomeException || failure instanceof Error;
  }

  /**
   * Returns whether to give up: after {@code attemptsMin} attempts, as clocks may jump, and the
   * longest wait.
   */
  final boolean isOver(int attempt, int attemptsMin, long start) {
    return attempt > attemptsMin && worker.nanoTime() - start > waitNanos;
  }

  /** Clears and returns the doorbell list, to which the caller adds the lock's verb. */
  final VerbList begin() {
    return list.clear();
  }

  /**
   * Adds READs to the list that {@link #begin} returned and posts it; returns the word that the
   * first verb found.
   */
  final long postWith(VerbList reads) {
    for (int i = 0; i < reads.size(); i++) {
      assert reads.kind(i) == VerbList.Kind.READ;
      list.read(reads.remote(i), reads.local(i), reads.length(i));
    }
    worker.post(list);
    return Words.get(worker.memory(), found);
  }

  /** READs and returns a word. */
  final long read(long word) {
    worker.read(word, found, Long.BYTES);
    return Words.get(worker.memory(), found);
  }

  /** Returns the address of the word at a place. */
  final long word(int place) {
    return held[place];
  }

  /** Returns the ticket of the word at a place, which is held exclusively. */
  final int ticket(int place) {
    return tickets[place];
  }

  final boolean isExclusive(int place) {
    return exclusive[place];
  }

  /**
   * Makes room for one more word. Called before the word is locked, as it may run out of memory.
   */
  private void makeRoom() {
    if (count == held.length) {
      exclusive = Arrays.copyOf(exclusive, 2 * count);
      tickets = Arrays.copyOf(tickets, 2 * count);
      unsure = Arrays.copyOf(unsure, 2 * count);
      times = Arrays.copyOf(times, 2 * count);
      held = Arrays.copyOf(held, 2 * count);
    }
  }

  /** Records that a word is held; returns its place. */
  final int hold(long word, boolean exclusively, int ticket) {
    held[count] = word;
    exclusive[count] = exclusively;
    tickets[count] = ticket;
    unsure[count] = false;
    times[count] = 1;
    return count++;
  }

  /** Records that a word that was held shared is held exclusively. */
  final void holdExclusively(int place, int ticket) {
    exclusive[place] = true;
    tickets[place] = ticket;
  }

  final void forget(int place) {
    count--;
    held[place] = held[count];
    exclusive[place] = exclusive[count];
    tickets[place] = tickets[count];
    unsure[place] = unsure[count];
    times[place] = times[count];
  }

  private int placeOf(long word) {
    for (int place = 0; place < count; place++) {
      if (held[place] == word) {
        return place;
      }
    }
    return -1;
  }

  /** Returns the exception for a wait that took too long. */
  final StalledException stayedLocked(long node, long word, String why, long start) {
    return new StalledException(
        "a node stayed locked: node=%s, lock=%s, %s, waitedNanos=%s"
            .formatted(
                GlobalAddress.toString(node),
                GlobalAddress.toString(word),
                why,
                worker.nanoTime() - start));
  }
}
