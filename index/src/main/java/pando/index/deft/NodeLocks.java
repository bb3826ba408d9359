package pando.index.deft;

import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.lock.SessionLocks;

/**
 * The locks that one session holds on nodes, shared or exclusively.
 *
 * <p>A caller that takes a lock passes the READs to be posted behind the lock's own verb, in one
 * doorbell list: READs alone, to the node's memory server. The list is left as it is. A method that
 * takes a lock returns whether what was read is what the node holds under the lock; else the caller
 * has to read it again, now that the lock is held.
 *
 * <p>As nodes may share a word, no session should wait for one lock while it holds another: with
 * {@link #tryExclusive}, two who do so cannot wait for each other.
 */
abstract sealed class NodeLocks implements SessionLocks permits SxLocks, CasLocks {
  /*
   * Nodes share words, so that a session may want a word that it holds: for a leaf, its sibling and
   * its parent. It holds the word once, in the stronger mode, and counts; the last unlock
   * releases it. A word that is held shared and wanted exclusively is upgraded.
   *
   * To unlock is one more verb behind the last change, in the same doorbell list. Where that list
   * fails the lock is still held here, and whether it is in the pool depends on why: verbs take effect
   * in posting order, and one that fails ends its list. So it is only where the outcome is unknown
   * that the last verb may have had its effect.
   */

  /** Local bytes that are needed: for what was found in a word, and for a free one. */
  static final int SCRATCH_BYTES = 2 * Long.BYTES;

  private static final int RELEASES_MAX = 100;

  final Worker worker;

  /** Where in local memory a word comes to that was read, or found by an atomic. */
  final long found;

  private final LockWords words;
  private final long waitNanos;
  private final VerbList list = new VerbList();

  private long[] held = new long[8];
  private boolean[] exclusive = new boolean[8];

  /** The ticket of each that is held exclusively. */
  private int[] tickets = new int[8];

  /** Whether a verb that unlocks may have taken effect. */
  private boolean[] unsure = new boolean[8];

  private int[] times = new int[8];
  private int count;

  NodeLocks(LockWords words, long waitNanos, Worker worker, long scratch) {
    this.words = words;
    this.waitNanos = waitNanos;
    this.worker = worker;
    this.found = scratch;
  }

  /**
   * Returns the locks of a session.
   *
   * @param abandoned of the compute server, the same for all its sessions
   * @param casLocks whether all locks are exclusive, and taken by CAS
   * @param waitNanos for how long to wait at most
   * @param session number among those of its compute server
   * @param scratch local offset of {@link #SCRATCH_BYTES}, a multiple of 8
   */
  static NodeLocks of(
      LockWords words,
      AbandonedTickets abandoned,
      boolean casLocks,
      long waitNanos,
      int computeServer,
      int session,
      Worker worker,
      long scratch) {
    return casLocks
        ? new CasLocks(words, waitNanos, computeServer, session, worker, scratch)
        : new SxLocks(words, abandoned, waitNanos, worker, scratch);
  }

  /**
   * Takes a node's lock together with others, and waits for it.
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
   * Takes a node's lock alone, and waits for it. Where its word is held shared for another node,
   * that one may change meanwhile.
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
   * Exchanges a lock that is held shared for an exclusive one, and waits for it. Others may have it
   * exclusively in between, so that what was read before does not hold.
   *
   * @return whether what was read behind it holds
   * @throws StalledException if it stays locked; then it is not held any more
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

  /** Takes a node's lock alone if no session has it nor waits for it. */
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
      } catch (UnknownOutcomeException e) {
        unsure[place] = true;
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

  /** Returns whether any lock is held. */
  final boolean areHeld() {
    return count > 0;
  }

  /** Returns whether a node's lock is held alone, after a failure to unlock it as well. */
  final boolean isSurelyHeld(long node) {
    int place = placeOf(words.wordOf(node));
    return place >= 0 && exclusive[place] && (!unsure[place] || isInPool(place));
  }

  /** Returns whether a word that was held exclusively is so in the pool. */
  abstract boolean isInPool(int place);

  @Override
  public final void keep() {
    count = 0;
  }

  /**
   * Lets go in the place of those who gave up, where their turn has come. For a closing session.
   */
  void settle() {}

  /** Takes a word that is not held. */
  abstract boolean take(long node, long word, boolean exclusively, VerbList reads);

  /** Exchanges a word that is held shared for an exclusive one. */
  abstract boolean exchange(int place, long node, VerbList reads);

  /** Takes a word that is not held, if it is free. */
  abstract boolean tryTake(long word);

  /** Exchanges a word that is held shared, if no other session has it. */
  abstract boolean tryExchange(int place);

  /** Adds the verb that releases a word. */
  abstract void addRelease(int place, VerbList changes);

  /**
   * Releases a word after a failure.
   *
   * @param maybeDone whether an attempt before this may have done so
   */
  abstract void release(long word, boolean exclusively, int ticket, boolean maybeDone);

  /**
   * Releases a word after a failure, again and again where that fails: not by {@link
   * pando.index.lock.Retry}, as what failed before says how to repeat it. A shared word that may be
   * released is left: to release it twice would let others in too early.
   */
  final void releaseSurely(long word, boolean exclusively, int ticket, boolean maybeDone) {
    boolean maybe = maybeDone;
    long start = worker.nanoTime();
    for (int attempt = 0; exclusively || !maybe; attempt++) {
      try {
        release(word, exclusively, ticket, maybe);
        return;
      } catch (PandoException e) {
        maybe |= e instanceof UnknownOutcomeException;
        if (isOver(attempt, RELEASES_MAX, start) || (maybe && !exclusively)) {
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
  }

  /** Returns whether to give up: so many attempts at least, as clocks may jump. */
  final boolean isOver(int attempt, int attemptsMin, long start) {
    return attempt > attemptsMin && worker.nanoTime() - start > waitNanos;
  }

  /** Begins a doorbell list with a lock's verb in front. */
  final VerbList begin() {
    return list.clear();
  }

  /** Posts a list that was begun, with READs behind it; returns the word that was found. */
  final long postWith(VerbList reads) {
    for (int i = 0; i < reads.size(); i++) {
      assert reads.kind(i) == VerbList.Kind.READ;
      list.read(reads.remote(i), reads.local(i), reads.length(i));
    }
    worker.post(list);
    return Words.get(worker.memory(), found);
  }

  /** Returns a word as it is. */
  final long read(long word) {
    worker.read(word, found, Long.BYTES);
    return Words.get(worker.memory(), found);
  }

  /** Returns the word of a place. */
  final long word(int place) {
    return held[place];
  }

  /** Returns the ticket of a place that is held exclusively. */
  final int ticket(int place) {
    return tickets[place];
  }

  final boolean isExclusive(int place) {
    return exclusive[place];
  }

  /** Makes room for one word more, before it is taken: there may be no memory for that. */
  private void makeRoom() {
    if (count == held.length) {
      exclusive = Arrays.copyOf(exclusive, 2 * count);
      tickets = Arrays.copyOf(tickets, 2 * count);
      unsure = Arrays.copyOf(unsure, 2 * count);
      times = Arrays.copyOf(times, 2 * count);
      held = Arrays.copyOf(held, 2 * count);
    }
  }

  /** Notes a word that is held from now on. */
  final int hold(long word, boolean exclusively, int ticket) {
    held[count] = word;
    exclusive[count] = exclusively;
    tickets[count] = ticket;
    unsure[count] = false;
    times[count] = 1;
    return count++;
  }

  /** Notes that a word that was held shared is held exclusively from now on. */
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

  /** Returns the failure of a wait. */
  final StalledException stayedLocked(long node, long word, String why, long start) {
    return new StalledException(
        "a node stayed locked: node="
            + GlobalAddress.toString(node)
            + ", lock="
            + GlobalAddress.toString(word)
            + ", "
            + why
            + ", waitedNanos="
            + (worker.nanoTime() - start));
  }
}
