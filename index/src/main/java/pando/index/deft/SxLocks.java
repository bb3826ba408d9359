package pando.index.deft;

import org.jspecify.annotations.Nullable;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.deft.AbandonedTickets.Ticket;

/** DEFT's fair shared-exclusive locks, taken by one masked FAA each. */
final class SxLocks extends NodeLocks {
  /*
   * A ticket lock in one word, see SxWord. To take it is an FAA that adds a ticket, and what it finds
   * tells who goes before: a shared ticket enters when all exclusive tickets before it were
   * released, an exclusive one when all shared tickets before it were as well. So those that come in
   * a row shared are in together, none overtakes, and in the common case none waits: then the
   * READs behind the FAA, in the same doorbell list, were under the lock. To unlock is an FAA behind
   * the last change. An upgrade takes an exclusive ticket and releases the shared one in a single
   * FAA, so that two upgrades do not wait for each other; the first goes first, and the other
   * reads again.
   *
   * Once its turn has come, a ticket stays due until it is released: those behind wait for it. So a
   * wait polls, with READs, the less often the more exclusive tickets go before. The next waiter has
   * the READs that were asked for behind each poll, so that they are done when its turn has come.
   *
   * Fields count modulo 2^16. A session has no more than one ticket of a mode out on a word, and there
   * are no more than 511 sessions on each of 64 compute servers, so no more than 32,704 are out.
   *
   * A session that gives up waiting cannot take its ticket back: it is handed to the AbandonedTickets of the
   * compute server. The next of its sessions that wants the same lock in the same mode waits with that
   * ticket instead of one of its own, so that giving up again and again does not let tickets add up.
   * A waiter for the word releases those whose turn has come, and never before it: to count a
   * shared ticket early would let an exclusive one in while another shared one still holds. As others
   * may wait for a word that no session here wants again, each looks after another's word now and then.
   *
   * Where the outcome of a verb that takes a ticket is unknown, the ticket may
   * be out or not. To release one that is not would let others in too early, so it is left: then the
   * lock stays locked, and waiters report its counters. The same goes for the release of
   * a shared ticket. Of an exclusive one X_CUR tells, which nobody else can move past the ticket.
   */

  private static final int EAGER = 1_000;

  /** What a pause grows by where twice as many go before. */
  private static final int PAUSE_DOUBLING = 4;

  private static final int ATTEMPTS_TO_A_PAUSE = 16;

  /** How many locks are taken for each look at another's ticket. */
  private static final int LOOK_PERIOD = 64;

  private final AbandonedTickets abandoned;
  private int looks;

  SxLocks(
      LockWords words, AbandonedTickets abandoned, long waitNanos, Worker worker, long scratch) {
    super(words, waitNanos, worker, scratch);
    this.abandoned = abandoned;
  }

  @Override
  boolean take(long node, long word, boolean exclusively, VerbList reads) {
    Ticket other = abandoned.areThere() ? lookAfter(word, exclusively) : null;
    if (other != null) {
      boolean read = await(node, word, exclusively, other.xTicket(), other.sTicket(), reads);
      hold(word, exclusively, other.xTicket());
      return read;
    }
    long addend = exclusively ? SxWord.TAKE_EXCLUSIVE : SxWord.TAKE_SHARED;
    long before = add(word, addend, reads);
    boolean free = exclusively ? SxWord.isIdle(before) : SxWord.isFreeForShared(before);
    int xTicket = SxWord.xTicket(before);
    boolean read = free || await(node, word, exclusively, xTicket, SxWord.sTicket(before), reads);
    hold(word, exclusively, xTicket);
    return read;
  }

  /** Returns a ticket to take over. */
  private @Nullable Ticket lookAfter(long word, boolean exclusively) {
    if (++looks % LOOK_PERIOD == 0) {
      settleNext();
    }
    return abandoned.takeOver(word, exclusively);
  }

  private long add(long word, long addend, VerbList reads) {
    begin().maskedFaa(word, addend, SxWord.BOUNDARIES, found);
    return postWith(reads);
  }

  @Override
  boolean exchange(int place, long node, VerbList reads) {
    long word = word(place);
    try {
      long before = add(word, SxWord.UPGRADE, reads);
      boolean free = SxWord.isFreeForUpgrade(before);
      int xTicket = SxWord.xTicket(before);
      boolean read = free || await(node, word, true, xTicket, SxWord.sTicket(before), reads);
      holdExclusively(place, xTicket);
      return read;
    } catch (RuntimeException | Error e) {
      // The shared ticket is gone, or may be.
      forget(place);
      throw e;
    }
  }

  /** Waits for a ticket's turn; returns whether what was read holds. */
  private boolean await(
      long node, long word, boolean exclusively, int xTicket, int sTicket, VerbList reads) {
    try {
      return poll(node, word, exclusively, xTicket, sTicket, reads);
    } catch (RuntimeException | Error e) {
      abandoned.add(new Ticket(word, exclusively, xTicket, sTicket));
      throw e;
    }
  }

  private boolean poll(
      long node, long word, boolean exclusively, int xTicket, int sTicket, VerbList reads) {
    long start = worker.nanoTime();
    boolean isNext = true;
    for (int attempt = 0; ; attempt++) {
      long value = isNext ? readWith(word, reads) : read(word);
      if (exclusively
          ? SxWord.mayEnterExclusive(value, xTicket, sTicket)
          : SxWord.mayEnterShared(value, xTicket)) {
        return isNext;
      }
      settle(word, value);
      if (isOver(attempt, EAGER, start)) {
        String wanted = ", wanted=" + (exclusively ? "exclusive" : "shared");
        String ticket = ", xTicket=" + xTicket + ", sTicket=" + sTicket;
        throw stayedLocked(node, word, SxWord.toString(value) + wanted + ticket, start);
      }
      int ahead = SxWord.ahead(value, xTicket);
      isNext = ahead <= 1;
      int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(ahead);
      int pause = PAUSE_DOUBLING * doublings + attempt / ATTEMPTS_TO_A_PAUSE;
      worker.backoff().pauseBriefly(pause);
    }
  }

  private long readWith(long word, VerbList reads) {
    begin().read(word, found, Long.BYTES);
    return postWith(reads);
  }

  @Override
  boolean tryTake(long word) {
    long value = read(word);
    if (SxWord.isIdle(value) && addIfStill(word, value, SxWord.TAKE_EXCLUSIVE)) {
      hold(word, true, SxWord.xTicket(value));
      return true;
    }
    settle(word, value);
    return false;
  }

  @Override
  boolean tryExchange(int place) {
    long value = read(word(place));
    if (SxWord.isFreeForUpgrade(value) && addIfStill(word(place), value, SxWord.UPGRADE)) {
      holdExclusively(place, SxWord.xTicket(value));
      return true;
    }
    return false;
  }

  private boolean addIfStill(long word, long value, long addend) {
    return worker.cas(word, value, SxWord.add(value, addend)) == value;
  }

  @Override
  boolean isInPool(int place) {
    return SxWord.xCurrent(read(word(place))) == ticket(place);
  }

  @Override
  void addRelease(int place, VerbList changes) {
    changes.maskedFaa(word(place), addendOfRelease(isExclusive(place)), SxWord.BOUNDARIES, found);
  }

  @Override
  void release(long word, boolean exclusively, int ticket, boolean maybeDone) {
    if (!maybeDone || SxWord.xCurrent(read(word)) == ticket) {
      worker.maskedFaa(word, addendOfRelease(exclusively), SxWord.BOUNDARIES);
    }
  }

  private static long addendOfRelease(boolean exclusively) {
    return exclusively ? SxWord.LEAVE_EXCLUSIVE : SxWord.LEAVE_SHARED;
  }

  @Override
  void settle() {
    for (int left = abandoned.count(); left > 0; left--) {
      settleNext();
    }
  }

  private void settleNext() {
    long word = abandoned.nextWord();
    if (word != AbandonedTickets.NONE) {
      settle(word, read(word));
    }
  }

  /** Releases the abandoned tickets of a word whose turn has come. */
  private void settle(long word, long value) {
    if (!abandoned.areThere()) {
      return;
    }
    Ticket due = abandoned.takeDue(word, value);
    while (due != null) {
      releaseSurely(word, due.isExclusive(), due.xTicket(), false);
      // Others may be due now.
      due = abandoned.takeDue(word, read(word));
    }
  }
}
